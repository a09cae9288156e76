// Followers of a publisher of publisher.mjs, which are closed at the end of the tests.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { openExact } from '../dist/exact.js';
import { follow, followExact, followSharded, ReleaseError } from '../dist/follow.js';
import { open, openSharded } from '../dist/plain.js';

/** What is closed at the end. */
export const closing = [];
after(() => closing.forEach((c) => c.close()));

/** Follows a publisher with a function of bloomery/follow, with polls only by hand. */
async function start(follow, p, options) {
  const f = await follow(p.url, { keys: p.keys.map((k) => k.text), interval: 1e9, retries: 0, ...options });
  closing.push(f);
  return f;
}

/** Follows a filter. */
export const following = (p, options = {}) => start(follow, p, { open, ...options });
/** Follows an exact set. */
export const followingExact = (p, options = {}) => start(followExact, p, { open: openExact, ...options });

/** Follows a sharded set. */
export const followingSharded = (p, options = {}) => start(followSharded, p, { open: openSharded, ...options });

/** Polls with an error that check accepts, after which the follower still has the filter of before. */
export async function refuses(f, check, what) {
  const { filter, bytes, release } = f;
  await assert.rejects(f.poll(), (e) => {
    assert.ok(check(e), `${what}: ${e.stack}`);
    return true;
  }, what);
  assert.ok(check(f.error), what);
  assert.equal(f.filter, filter, what);
  assert.equal(f.bytes, bytes, what);
  assert.equal(f.release, release, what);
}

/** Whether an error is a ReleaseError of a reason. */
export const because = (reason) => (e) => e instanceof ReleaseError && e.reason === reason;
/** Whether an error is of a class. */
export const is = (error) => (e) => e instanceof error;
