// Stores of followers: they fail, are cut off at any moment, and have what somebody else has put there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openExact } from '../dist/exact.js';
import { followExact, StoreError } from '../dist/follow.js';
import { open } from '../dist/plain.js';
import { forge, golden } from './damage.mjs';
import { because, closing, following, is, refuses } from './following.mjs';
import { newKey, Publisher } from './publisher.mjs';

const base = golden['blocked-0.bloom'];
const version = (i) => forge(base, (_, bytes) => (bytes[bytes.length - 1 - i] ^= 0x5a));

async function publisher(options) {
  const p = await new Publisher(options).listen();
  closing.push(p);
  p.publish(version(0));
  return p;
}

/** A store in memory. fail makes get or put fail. */
class Store {
  files = new Map();
  fail = {};
  puts = 0;

  async get(name) {
    if (this.fail.get) throw this.fail.get;
    return this.files.get(name);
  }

  async put(name, bytes) {
    this.puts++;
    if (this.fail.put === 'hang') await new Promise(() => {});
    if (this.fail.put) throw this.fail.put;
    this.files.set(name, Uint8Array.from(bytes));
  }
}

const full = new DOMException('the quota has been exceeded', 'QuotaExceededError');
const down = (_, response) => response.writeHead(503).end();

test('a store that is full: updates go on, onError hears of it, and the next poll stores', async () => {
  const p = await publisher(), store = new Store(), errors = [];
  store.fail.put = full;
  const f = await following(p, { store, onError: (e) => errors.push(e) });
  assert.deepEqual(f.bytes, version(0));
  assert.ok(f.error instanceof StoreError && f.error.cause === full, String(f.error));
  assert.match(f.error.message, /quota/);
  p.publish(version(1));
  assert.equal(await f.poll(), true);
  assert.deepEqual(f.bytes, version(1));
  assert.equal(errors.length, 2);
  assert.ok(errors.every(is(StoreError)));
  store.fail = {};
  assert.equal(await f.poll(), false, 'nothing new');
  assert.equal(f.error, undefined);
  f.close();
  p.hook = down;
  assert.deepEqual((await following(p, { store })).bytes, version(1));
  // While the server fails, too.
  const other = new Store();
  p.hook = () => false;
  other.fail.put = full;
  const g = await following(p, { store: other });
  p.hook = down;
  other.fail = {};
  await assert.rejects(g.poll(), { name: 'FetchError' });
  assert.equal(other.files.size, 1);
});

test('a store that does not answer', async () => {
  const p = await publisher(), store = new Store();
  store.fail.put = 'hang';
  const f = await following(p, { store, timeout: 100 });
  assert.ok(is(StoreError)(f.error));
  p.publish(version(1));
  assert.equal(await f.poll(), true);
  const silent = { get: () => new Promise(() => {}), put: async () => assert.fail('what it has is not known') };
  const g = await following(p, { store: silent, timeout: 100 });
  assert.deepEqual(g.bytes, version(1));
  assert.ok(is(StoreError)(g.error));
});

test('a store that cannot be read is not overwritten with a lower number', async () => {
  const p = await publisher(), store = new Store(), first = p.release;
  p.publish(version(1));
  (await following(p, { store })).close();
  const record = store.files.get('filter');
  store.fail.get = new Error('locked');
  p.release = first;
  const f = await following(p, { store });
  assert.ok(is(StoreError)(f.error));
  assert.equal(store.files.get('filter'), record);
  store.fail = {};
  await refuses(f, because('older'), 'the number of the store counts as soon as it can be read');
});

test('killed at any moment: the next start has one release, whole', async () => {
  const p = await publisher(), store = new Store();
  (await following(p, { store })).close();
  const before = new Map(store.files);
  p.publish(version(1));
  const f = await following(p, { store });
  await f.poll();
  f.close();
  assert.equal(store.files.size, 1, 'one record');
  p.hook = down;
  for (const [i, files] of [before, store.files].entries()) {
    const again = new Store();
    again.files = files;
    const g = await following(p, { store: again });
    assert.deepEqual([g.release.release, Uint8Array.from(g.bytes)], [i + 1, version(i)]);
  }
});

test('records that are damaged, or of others', async () => {
  const p = await publisher(), store = new Store(), first = p.release;
  p.publish(version(1));
  (await following(p, { store })).close();
  const record = store.files.get('filter'), end = record.indexOf(10) + 1;
  assert.equal(end % 64, 0, 'the content is aligned');
  const newer = p.release;
  /** Starts with a record, and returns what the follower has reported. */
  const start = async (bytes, options) => {
    const other = new Store(), errors = [];
    other.files.set('filter', bytes);
    const f = await following(p, { store: other, onError: (e) => errors.push(e), ...options });
    assert.deepEqual(Uint8Array.from(f.bytes), version(1));
    assert.equal(f.release.release, 2);
    return errors;
  };
  assert.deepEqual(await start(record), []);
  for (let i = 0; i < 60; i++) {
    const at = Math.floor((i * record.length) / 60), flipped = record.with(at, record[at] ^ 1);
    await start(flipped);
    await start(record.subarray(0, at));
  }
  // The filter is damaged: it is not used, and the number counts.
  p.release = first;
  const damaged = new Store();
  damaged.files.set('filter', record.with(record.length - 1, 0));
  await assert.rejects(following(p, { store: damaged }), because('older'));
  p.release = newer;
  // Another publisher, with the same key and with another.
  const stranger = await publisher({ keys: p.keys, name: 'other' });
  stranger.publish(version(2));
  const its = new Store();
  (await following(stranger, { store: its })).close();
  await refuses(await following(p, { store: its }), because('name'), 'the store follows another list');
  assert.ok((await start(its.files.get('filter'), { name: 'list' })).every(is(StoreError)));
  stranger.keys = [newKey()];
  stranger.publish(version(3), { name: 'list' });
  const forged = new Store();
  (await following(stranger, { store: forged })).close();
  assert.deepEqual((await start(forged.files.get('filter'))).map((e) => e.cause.reason), ['other key']);
});

test('a name that is wanted', async () => {
  const p = await publisher();
  await assert.rejects(following(p, { name: 'other' }), because('name'));
  assert.equal((await following(p, { name: 'list' })).release.name, 'list');
});

test('the content of a record is not copied', async () => {
  const p = await publisher(), store = new Store();
  (await following(p, { store })).close();
  p.hook = down;
  const opened = [];
  await following(p, { store, open: (file) => (opened.push(file), open(file)) });
  assert.equal(opened[0].buffer.byteLength, store.files.get('filter').length);
  assert.equal(opened[0].byteOffset % 64, 0);
});

test('an expired release in the store', async () => {
  const p = await publisher(), store = new Store(), errors = [];
  p.publish(version(1), { published: '2001-01-01T00:00:00Z', expires: '2001-01-08T00:00:00Z' });
  (await following(p, { store })).close();
  p.hook = down;
  const f = await following(p, { store, onError: (e) => errors.push(e) });
  assert.ok(because('expired')(f.error), 'at once');
  assert.ok(because('expired')(errors[0]));
});

test('followExact with a store that has a filter', async () => {
  const p = await publisher(), store = new Store();
  (await following(p, { store })).close();
  const options = { keys: p.keys.map((k) => k.text), open: openExact, store };
  await assert.rejects(followExact(p.url, options), TypeError);
});
