// What a follower believes: numbers of releases for each key, rollback, recovery from a stolen key, expiry.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { because, closing, following, refuses } from './following.mjs';
import { forge, golden } from './damage.mjs';
import { newKey, Publisher } from './publisher.mjs';

const base = golden['blocked-0.bloom'];
const version = (i) => forge(base, (_, bytes) => (bytes[bytes.length - 1 - i] ^= 0x5a));

async function publisher(keys = [newKey()]) {
  const p = await new Publisher({ keys }).listen();
  closing.push(p);
  p.publish(version(0));
  return p;
}

/** A store in memory. */
function memory() {
  const files = new Map();
  return { get: async (name) => files.get(name), put: async (name, bytes) => void files.set(name, bytes) };
}

/** Follows with pinned keys, once, and returns the number of the release; or what the follower refuses. */
async function once(p, store, ...keys) {
  const f = await following(p, { store, keys: keys.map((k) => k.text) });
  try {
    await f.poll();
    return f.release.release;
  } finally {
    f.close();
  }
}

const last = Number.MAX_SAFE_INTEGER;

test('a rollback says that the server is behind', async () => {
  const p = await publisher(), first = p.release;
  p.publish(version(1));
  const f = await following(p);
  p.release = first;
  await refuses(f, because('older'), 'rollback');
  assert.match(f.error.message, /the server has an older release, 1: release 2 was seen before/);
  p.publish(version(2), { release: 2 });
  await refuses(f, because('older'), 'two of one number');
  assert.match(f.error.message, /release 2 was seen before with other content/);
});

test('fast-forward: unpinning the stolen key recovers, and keeps the numbers of the others', async () => {
  const [stolen, next] = [newKey(), newKey()], store = memory(), p = await publisher([stolen, next]);
  p.publish(version(1));
  const old = p.release;
  p.publish(version(2));
  assert.equal(await once(p, store, stolen, next), 3);
  p.keys = [stolen];
  p.publish(version(3), { release: last });
  assert.equal(await once(p, store, stolen, next), last);
  // The honest publisher goes on with the other key.
  p.keys = [next];
  p.publish(version(4), { release: 4 });
  await assert.rejects(once(p, store, stolen, next), because('older'), 'the stolen key is pinned');
  const honest = p.release;
  p.release = old;
  await assert.rejects(once(p, store, next), because('older'), 'a rollback during the recovery');
  p.release = honest;
  assert.equal(await once(p, store, next), 4);
  // Without the server: what only the stolen key has signed is not used.
  assert.equal(await once(p, store, next), 4);
  p.keys = [stolen];
  p.publish(version(5), { release: last - 1 });
  await assert.rejects(once(p, store, next), because('other key'));
});

test('what only the stolen key has signed is not served from the store', async () => {
  const [stolen, next] = [newKey(), newKey()], store = memory(), p = await publisher([stolen]);
  p.publish(version(1), { release: last });
  assert.equal(await once(p, store, stolen), last);
  p.keys = [next];
  p.publish(version(2), { release: 2 });
  const errors = [], f = await following(p, { store, keys: [next.text], onError: (e) => errors.push(e) });
  assert.deepEqual(f.bytes, version(2));
  assert.match(errors[0].message, /other key/);
});

test('a key that is not pinned counts for nothing', async () => {
  const [own, other] = [newKey(), newKey()], store = memory(), p = await publisher([own]);
  // It signs beside the pinned key, under its own id.
  p.keys = [own, other];
  p.publish(version(1), { release: 7 });
  assert.equal(await once(p, store, own), 7);
  p.keys = [own];
  p.publish(version(1), { release: 8 });
  assert.equal(await once(p, store, own), 8);
  p.keys = [other];
  p.publish(version(2), { release: 2 });
  assert.equal(await once(p, store, other), 2, 'release 7 was not verified with this key');
  p.keys = [own];
  p.publish(version(3), { release: 7 });
  await assert.rejects(once(p, store, own, other), because('older'), 'the number of the first key is remembered');
  // A wrong signature of a pinned key beside a good one counts for nothing.
  const third = newKey(), fresh = memory();
  p.keys = [own, { ...newKey(), id: third.id }];
  p.publish(version(4), { release: 100 });
  assert.equal(await once(p, fresh, own, third), 100);
  p.keys = [third];
  p.publish(version(5), { release: 5 });
  assert.equal(await once(p, fresh, third), 5);
});

test('double signing: a release counts for each key that signed it', async () => {
  const [a, b] = [newKey(), newKey()], store = memory(), p = await publisher([a, b]);
  p.publish(version(1), { release: 5 });
  assert.equal(await once(p, store, a, b), 5);
  for (const key of [a, b]) {
    p.keys = [key];
    p.publish(version(2), { release: 4 });
    await assert.rejects(once(p, store, key), because('older'));
    p.publish(version(2), { release: 5 });
    await assert.rejects(once(p, store, key), because('older'), 'the same number');
  }
});

test('releases that were not verified count for no key', async () => {
  const key = newKey(), store = memory(), p = await publisher([key]);
  p.keys = [newKey()];
  p.publish(version(1), { release: last });
  const f = await following(p, { store, keys: undefined, insecure: true });
  f.close();
  p.keys = [key];
  p.publish(version(2), { release: 3 });
  assert.equal(await once(p, store, key), 3);
});

test('expiry is noticed while a poll hangs', async () => {
  const p = await publisher(), now = Date.now();
  const at = (seconds) => `${new Date(now + 1000 * seconds).toISOString().slice(0, 19)}Z`;
  p.publish(version(1), { published: at(-9), expires: at(3) });
  let heard;
  const expired = new Promise((resolve) => (heard = resolve));
  const f = await following(p, { onError: heard });
  assert.equal(f.error, undefined);
  p.hook = () => true; // silence
  const hanging = f.poll();
  hanging.catch(() => {});
  assert.ok(because('expired')(await expired));
  assert.ok(because('expired')(f.error));
  f.close();
  await assert.rejects(hanging, { name: 'AbortError' });
});

test('a poll that fails after the expiry says both', async () => {
  const p = await publisher();
  p.publish(version(1), { published: '2001-01-01T00:00:00Z', expires: '2001-01-08T00:00:00Z' });
  const f = await following(p);
  p.hook = (_, response) => response.writeHead(500).end();
  await assert.rejects(f.poll(), because('expired'));
  assert.equal(f.error.cause.name, 'FetchError');
});
