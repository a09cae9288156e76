// Polls when the connection comes back and when a page is shown again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closing, following } from './following.mjs';
import { golden } from './damage.mjs';
import { Publisher } from './publisher.mjs';

const page = new EventTarget(), document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
Object.assign(globalThis, {
  document,
  addEventListener: page.addEventListener.bind(page),
  removeEventListener: page.removeEventListener.bind(page),
});

/** Returns a follower that is not polling, and how often release.json has been asked for. */
async function idle(interval) {
  const p = await new Publisher({}).listen();
  closing.push(p);
  p.publish(golden['v1-blocked-0.bloom']);
  let asked = 0, wake;
  const hook = p.hook;
  p.hook = (request, ...rest) => {
    if (request.url.includes('release.json')) {
      asked++;
      wake?.();
    }
    return hook?.(request, ...rest);
  };
  const f = await following(p, { interval });
  await f.poll();
  return { f, asked: () => asked, next: () => new Promise((resolve) => (wake = resolve)) };
}

test('online', async () => {
  const { f, asked, next } = await idle(3_600_000), before = asked(), poll = next();
  page.dispatchEvent(new Event('online'));
  await poll;
  assert.equal(asked(), before + 1);
  await f.poll();
  f.close();
  const closed = asked();
  page.dispatchEvent(new Event('online'));
  assert.equal(asked(), closed);
});

test('a page that is shown', async (t) => {
  const { f, asked, next } = await idle(3_600_000), before = asked();
  document.dispatchEvent(new Event('visibilitychange'));
  await new Promise(setImmediate);
  assert.equal(asked(), before, 'the last poll was a moment ago');
  const now = Date.now() + 3_600_001;
  t.mock.method(Date, 'now', () => now);
  document.visibilityState = 'hidden';
  document.dispatchEvent(new Event('visibilitychange'));
  await new Promise(setImmediate);
  assert.equal(asked(), before, 'the page is hidden');
  document.visibilityState = 'visible';
  const poll = next();
  document.dispatchEvent(new Event('visibilitychange'));
  await poll;
  assert.equal(asked(), before + 1);
  f.close();
});
