// Polls of a page that is online again or shown again. The events come from a page that this file makes up.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { golden } from './damage.mjs';
import { closing, following } from './following.mjs';
import { Publisher } from './publisher.mjs';

/** The events of a page: what listens to them is counted. */
class Events extends EventTarget {
  listeners = 0;

  addEventListener(...all) {
    this.listeners++;
    super.addEventListener(...all);
  }

  removeEventListener(...all) {
    this.listeners--;
    super.removeEventListener(...all);
  }

  fire(name) {
    this.dispatchEvent(new Event(name));
  }
}

const page = Object.assign(new Events(), { visibilityState: 'visible' }), all = new Events();
globalThis.document = page;
globalThis.addEventListener = (...args) => all.addEventListener(...args);
globalThis.removeEventListener = (...args) => all.removeEventListener(...args);

async function publisher() {
  const p = await new Publisher().listen();
  closing.push(p);
  p.publish(golden['blocked-0.bloom']);
  return p;
}

const polls = (p) => p.log.filter((path) => path === 'release.json').length;

/** Waits until a condition holds. */
async function until(condition) {
  while (!condition()) await sleep(5);
}

test('a poll at once, and others at most every 5 s', async () => {
  const p = await publisher(), f = await following(p);
  await f.poll();
  const before = polls(p), began = Date.now();
  all.fire('online');
  await until(() => polls(p) === before + 1);
  for (let i = 0; i < 100; i++) {
    all.fire('online');
    await sleep(10);
  }
  const more = polls(p) - before - 1, periods = Math.floor((Date.now() - began) / 4500); // 5 s less a tenth
  assert.ok(more <= periods, `${more} more polls for 100 events`);
  await until(() => polls(p) > before + 1);
  f.close();
});

test('an event during a poll that hangs: another one follows', async () => {
  const p = await publisher(), f = await following(p, { timeout: 100 }), before = polls(p);
  p.hook = () => true; // no answer
  const hangs = f.poll();
  all.fire('online');
  await assert.rejects(hangs, { name: 'FetchError' });
  p.hook = () => false;
  await until(() => polls(p) > before + 1 && !f.error);
  f.close();
});

test('a page that is shown polls if the last poll failed or is an interval ago', async (t) => {
  const p = await publisher(), f = await following(p, { interval: 3_600_000 });
  await f.poll();
  const timers = t.mock.method(globalThis, 'setTimeout');
  const schedules = (what, wanted) => {
    timers.mock.resetCalls();
    page.fire('visibilitychange');
    assert.equal(timers.mock.callCount(), wanted, what);
  };
  schedules('a poll a moment ago', 0);
  p.hook = (_, response) => response.writeHead(503).end();
  await assert.rejects(f.poll());
  page.visibilityState = 'hidden';
  schedules('hidden', 0);
  page.visibilityState = 'visible';
  schedules('a poll that failed', 1);
  p.hook = () => false;
  await until(() => !f.error);
  await f.poll();
  schedules('and then one that did not', 0);
  const later = Date.now() + 3_600_001;
  t.mock.method(Date, 'now', () => later);
  schedules('an interval later', 1);
  f.close();
});

test('close removes what listens', async () => {
  const p = await publisher(), listeners = () => all.listeners + page.listeners, before = listeners();
  const f = await following(p);
  assert.equal(listeners(), before + 2);
  f.close();
  assert.equal(listeners(), before);
  const timers = test.mock.method(globalThis, 'setTimeout');
  all.fire('online');
  assert.equal(timers.mock.callCount(), 0);
  timers.mock.restore();
  const end = new AbortController();
  await following(p, { signal: end.signal });
  end.abort();
  assert.equal(listeners(), before);
  await assert.rejects(following(p, { signal: AbortSignal.abort() }));
  assert.equal(listeners(), before, 'closed before it began');
});
