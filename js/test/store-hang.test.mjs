// Stores that never answer, or late: the network goes first after 1.5 s, and what comes late changes nothing.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { StoreError } from '../dist/follow.js';
import { openExact } from '../dist/exact.js';
import { cacheStore } from '../dist/store/cache.js';
import { indexedDBStore } from '../dist/store/indexeddb.js';
import { forge, golden } from './damage.mjs';
import { closing, following, followingExact, is } from './following.mjs';
import { Publisher } from './publisher.mjs';

const base = golden['blocked-0.bloom'];
const version = (i) => forge(base, (_, bytes) => (bytes[bytes.length - 1 - i] ^= 0x5a));
const never = new Promise(() => {});
const realTimeout = setTimeout; // some tests mock it
const settled = () => new Promise((resolve) => realTimeout(resolve, 20));

async function publisher(file = version(0), more) {
  const p = await new Publisher().listen();
  closing.push(p);
  p.publish(file, more);
  return p;
}

/** A store whose calls wait until answer is called: the first of them, or all. calls has their names. */
class Waiting {
  files = new Map();
  calls = [];
  #waiting = [];

  #later(name, answer) {
    this.calls.push(name);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve: () => resolve(answer()), reject }));
  }

  get(name) {
    return this.#later(`get ${name}`, () => this.files.get(name));
  }

  put(name, bytes) {
    return this.#later(`put ${name}`, () => void this.files.set(name, Uint8Array.from(bytes)));
  }

  /** Settles when a poll has ended, and answers what it asks until then. */
  async through(polling) {
    let ended = false;
    const end = polling.finally(() => (ended = true));
    end.catch(() => {});
    while (!ended) await this.answer();
    return end;
  }

  async answer(error) {
    for (const { resolve, reject } of this.#waiting.splice(0)) error ? reject(error) : resolve();
    await settled();
  }
}

/** Returns what a call returns and how long it takes in milliseconds. */
async function timed(call) {
  const start = performance.now(), result = await call();
  return [result, performance.now() - start];
}

for (const [kind, follow, file, more] of [
  ['filter', following, version(0)],
  ['exact set', followingExact, readFileSync(new URL('days.exact', import.meta.url)), { kind: 'exact' }],
]) {
  test(`${kind}: a store that never answers costs 1.5 s, not two timeouts`, async () => {
    const p = await publisher(file, more), errors = [], store = new Waiting();
    const [f, took] = await timed(() => follow(p, { store, onError: (e) => errors.push(e) }));
    assert.ok(took > 1400 && took < 10_000, `${took} ms`);
    assert.deepEqual(Uint8Array.from(f.bytes), Uint8Array.from(file));
    assert.ok(is(StoreError)(f.error) && /no answer for 1500 ms/.test(f.error.message), String(f.error));
    const { calls } = store, before = calls.length;
    const [, polled] = await timed(() => f.poll());
    assert.ok(polled < 1400, `a poll of ${polled} ms waits for a store that is known to hang`);
    assert.equal(calls.length, before, 'calls pile up in a store that hangs');
    assert.ok(is(StoreError)(f.error), 'the error is forgotten');
    assert.equal(errors.length, 1, 'it is told once');
  });
}

test('a put that never ends', async () => {
  const p = await publisher(), store = new Waiting();
  store.get = async (name) => store.files.get(name);
  const [f, took] = await timed(() => following(p, { store }));
  assert.ok(took < 10_000, `${took} ms`);
  assert.ok(is(StoreError)(f.error));
  for (const i of [1, 2]) {
    p.publish(version(i));
    const [updated, polled] = await timed(() => f.poll());
    assert.ok(updated && polled < 1400, `${polled} ms`);
    assert.deepEqual(f.bytes, version(i));
  }
  assert.deepEqual(store.calls, ['put filter'], 'one put at a time: an older one must not end last');
  await store.answer();
  assert.equal(await store.through(f.poll()), false);
  assert.equal(f.error, undefined);
  p.hook = (_, response) => response.writeHead(503).end();
  assert.deepEqual(Uint8Array.from((await following(p, { store })).bytes), version(2), 'the newest is stored');
});

test('a put that ends late, or fails late', async () => {
  for (const error of [undefined, new Error('full')]) {
    const p = await publisher(), store = new Waiting();
    store.get = async (name) => store.files.get(name);
    const f = await following(p, { store });
    await store.answer(error);
    assert.equal(store.files.size, error ? 0 : 1);
    await store.through(f.poll());
    assert.equal(f.error, undefined);
    assert.deepEqual(store.calls, error ? ['put filter', 'put filter'] : ['put filter']);
  }
});

/** A store with a record of a publisher's release. */
async function kept(p) {
  const store = new Waiting(), files = new Map();
  const f = await following(p, { store: { get: async () => undefined, put: async (name, b) => files.set(name, b) } });
  f.close();
  store.files = files;
  return store;
}

test('a late answer with an older release changes nothing, and is replaced', async () => {
  const p = await publisher(), store = await kept(p), updates = [];
  p.publish(version(1));
  const f = await following(p, { store, onUpdate: (u) => updates.push(u.release.release) }), { filter } = f;
  assert.deepEqual(f.bytes, version(1));
  await store.answer();
  assert.equal(f.filter, filter, 'the old filter came back');
  assert.deepEqual(updates, [2]);
  const record = store.files.get('filter');
  store.get = async (name) => store.files.get(name);
  await store.through(f.poll());
  assert.equal(f.filter, filter);
  assert.notEqual(store.files.get('filter'), record, 'the newer release is not stored');
  assert.equal(f.error, undefined);
});

test('a late answer with a newer release is not overwritten by an older one', async () => {
  const p = await publisher(), first = p.release;
  p.publish(version(1));
  const store = await kept(p), record = store.files.get('filter');
  p.release = first; // a mirror that serves an old release
  const f = await following(p, { store });
  assert.deepEqual(f.bytes, version(0));
  await store.answer();
  store.get = async (name) => store.files.get(name);
  await assert.rejects(f.poll(), { reason: 'older' });
  assert.equal(store.files.get('filter'), record, 'the newer record is gone');
  f.close();
  p.hook = (_, response) => response.writeHead(503).end();
  assert.deepEqual(Uint8Array.from((await following(p, { store })).bytes), version(1));
});

test('a late rejection, and a call that throws', async (t) => {
  const p = await publisher(), store = new Waiting();
  const f = await following(p, { store });
  await store.answer(new Error('locked')); // an unhandled rejection would end the test
  assert.deepEqual(f.bytes, version(0));
  const get = t.mock.fn(() => { throw new Error('no store'); }), put = async () => assert.fail('it was not read');
  const [g, took] = await timed(() => following(p, { store: { get, put } }));
  assert.ok(is(StoreError)(g.error) && took < 1400, String(g.error));
  assert.equal(get.mock.callCount(), 1, 'the first poll asks again');
  await g.poll();
  assert.equal(get.mock.callCount(), 2, 'the second poll does not');
});

/** Browsers whose stores never answer. Each puts into opens what makes a call fail. */
const silent = {
  indexedDB: [indexedDBStore, (opens) => ({
    open() {
      const request = { error: new Error('lost') };
      opens.push(() => request.onerror());
      return request;
    },
  })],
  caches: [cacheStore, (opens) => ({
    open: () => new Promise((_, reject) => opens.push(() => reject(new Error('lost')))),
  })],
};
for (const [member, [storeOf, fake]] of Object.entries(silent)) {
  test(`${member} that never answers costs a follower 1.5 s, once`, async () => {
    const p = await publisher(), opens = [], errors = [];
    globalThis[member] = fake(opens);
    try {
      const [f, took] = await timed(() => following(p, { store: storeOf('list'), onError: (e) => errors.push(e) }));
      assert.ok(took > 1400 && took < 2900, `${took} ms`);
      for (const i of [1, 2]) {
        p.publish(version(i));
        const [, polled] = await timed(() => f.poll());
        assert.ok(polled < 1400, `a poll of ${polled} ms waits for a store that is known to hang`);
        assert.deepEqual(f.bytes, version(i));
      }
      assert.equal(opens.length, 1, 'calls pile up'); // start reads one record
      assert.deepEqual(errors.map((e) => e.message), ['the store cannot be read: no answer for 1500 ms']);

      opens.forEach((fail) => fail());
      await settled();
      globalThis[member].open = () => { throw new Error('asked again'); };
      await f.poll();
      assert.match(f.error.message, /asked again/);
    } finally {
      delete globalThis[member];
    }
  });
}

test('close while the store hangs', async () => {
  const p = await publisher(), controller = new AbortController(), reason = new Error('enough');
  setTimeout(() => controller.abort(reason), 50);
  const store = { get: () => never, put: () => never };
  const [, took] = await timed(() => assert.rejects(following(p, { store, signal: controller.signal }), reason));
  assert.ok(took < 1400, `${took} ms`);
});

/** Lets the minute pass after which calls of a store reject, but not before: a follower must lose patience first. */
async function rejectLate(t, calls, error) {
  const settles = t.mock.fn();
  for (const call of calls) call.then(settles, settles);
  await settled();
  t.mock.timers.tick(59_000);
  await settled();
  assert.equal(settles.mock.callCount(), 0, 'a call ends by itself before the follower gives up');
  t.mock.timers.tick(1000);
  for (const call of calls) await assert.rejects(call, error);
}

/** An IndexedDB whose requests call back when they are told to. */
function fakeIndexedDB() {
  const fake = { requests: [], log: [], abort: (transaction) => transaction.onabort?.({}) };
  const { requests, log } = fake, files = new Map();
  const ask = (what, result) => {
    const request = { result: undefined, error: null };
    requests.push({ what, fire: (handler = 'onsuccess') => ((request.result = result()), request[handler]?.({})) });
    return request;
  };
  fake.open = () => ask('open', () => ({
    createObjectStore() {},
    close: () => log.push('close'),
    transaction(_, mode) {
      const transaction = {
        error: null,
        abort: () => (log.push('abort'), fake.abort(transaction)),
        objectStore: () => ({
          get: (key) => ask('get', () => files.get(key)),
          put: (bytes, key) => (log.push('write'), ask('put', () => void files.set(key, bytes))),
        }),
      };
      log.push(mode);
      requests.push({ what: 'transaction', fire: () => transaction.oncomplete?.({}) });
      return transaction;
    },
  }));
  return fake;
}

test('IndexedDB that never calls back: the call rejects, and a late connection is closed and not used', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fake = fakeIndexedDB();
  globalThis.indexedDB = fake;
  try {
    const store = indexedDBStore('list'), bytes = Uint8Array.of(1);
    await rejectLate(t, [store.get('filter'), store.put('filter', bytes)], /IndexedDB does not answer/);
    fake.requests.forEach(({ fire }) => fire());
    await settled();
    assert.deepEqual(fake.log, ['close', 'close'], 'a late connection is left open, or writes old bytes');
    // A transaction that never ends is aborted, and its connection closed.
    for (const [call, ...began] of [[() => store.get('filter'), 'readonly'],
      [() => store.put('filter', bytes), 'readwrite', 'write']]) {
      fake.requests.length = fake.log.length = 0;
      const calling = call();
      fake.requests[0].fire();
      await rejectLate(t, [calling], /IndexedDB does not answer/);
      assert.deepEqual(fake.log, [...began, 'abort', 'close']);
    }
  } finally {
    delete globalThis.indexedDB;
  }
});

test('IndexedDB that never ends what it commits: the call rejects, and nothing else is thrown', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fake = fakeIndexedDB();
  globalThis.indexedDB = fake;
  try {
    fake.abort = () => { throw new DOMException('committing', 'InvalidStateError'); };
    for (const call of ['get', 'put']) {
      fake.requests.length = fake.log.length = 0;
      const calling = indexedDBStore('list')[call]('filter', Uint8Array.of(1));
      fake.requests[0].fire();
      await settled();
      fake.requests.find(({ what }) => what === call).fire();
      await rejectLate(t, [calling], /IndexedDB does not answer/);
      assert.equal(fake.log.at(-1), 'close');
    }
  } finally {
    delete globalThis.indexedDB;
  }
});

test('IndexedDB that writes slowly is not stopped', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fake = fakeIndexedDB();
  globalThis.indexedDB = fake;
  try {
    const writing = indexedDBStore('list').put('filter', Uint8Array.of(1));
    fake.requests[0].fire();
    await settled();
    t.mock.timers.tick(59_000);
    fake.requests.slice(1).forEach(({ fire }) => fire());
    await writing;
    assert.deepEqual(fake.log, ['readwrite', 'write', 'close']);
  } finally {
    delete globalThis.indexedDB;
  }
});

test('caches that never answer, or late', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const log = [];
  let answer;
  const cache = { put: async () => log.push('put'), delete: async () => log.push('delete'), keys: async () => [] };
  globalThis.caches = { open: () => new Promise((resolve) => (answer = () => resolve(cache))) };
  try {
    const store = cacheStore('list'), silence = /the Cache API does not answer/;
    await rejectLate(t, [store.put('filter', Uint8Array.of(1))], silence);
    answer();
    await settled();
    assert.deepEqual(log, [], 'old bytes are written late');
    await rejectLate(t, [store.get('filter')], silence);
    cache.keys = () => never;
    globalThis.caches.open = async () => cache;
    await rejectLate(t, [store.put('filter', Uint8Array.of(1))], silence);
    assert.deepEqual(log, []);
  } finally {
    delete globalThis.caches;
  }
});
