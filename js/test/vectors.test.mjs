// Test vectors: hashes and answers for each family (internal/container/testdata/vectors) and for sharded sets
// (shard/testdata/sets), in the plain form and with WebAssembly.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import * as index from '../dist/index.js';
import * as plain from '../dist/plain.js';
import { internal } from './internal.mjs';
import { keysOf } from './vectors.mjs';

const { accept, families, hashes, OwnBuffer, parseHeader, plainEngine, putKey, route } = internal;
const filters = new URL('../../internal/container/testdata/vectors/', import.meta.url);
const sets = new URL('../../shard/testdata/sets/', import.meta.url);
const jsonOf = (folder) => readdirSync(folder).filter((f) => f.endsWith('.json')).map((f) => new URL(f, folder));

/** Fails unless an answer is that of the vector. */
async function check(filter, vector, counts, values) {
  for (const key of keysOf(vector)) {
    assert.equal(await filter.has(key), vector.has, `has(${key})`);
    if (counts) assert.equal(await filter.count(key), Number(vector.count ?? 0), `count(${key})`);
    if (values) {
      const want = vector.value === undefined ? undefined : BigInt(vector.value);
      assert.equal(await filter.get(key), want, `get(${key})`);
    }
  }
}

/** Fails unless the hash of a key is that of the vector. It returns the hash. */
function checkHash(sum, vector) {
  const buffer = new OwnBuffer(), h = new Int32Array(8), hex = (i) => (h[i] >>> 0).toString(16).padStart(8, '0');
  for (const key of keysOf(vector)) {
    const n = putKey(buffer, key);
    sum(buffer.view, n, h);
    assert.equal(hex(3) + hex(2), vector.hi, `Hi of ${key}`);
    assert.equal(hex(1) + hex(0), vector.lo, `Lo of ${key}`);
  }
  return h;
}

let vectors = 0;
for (const url of jsonOf(filters)) {
  const v = JSON.parse(readFileSync(url, 'utf8'));
  vectors += v.keys.length;
  test(url.pathname.split('/').pop(), async () => {
    const file = readFileSync(new URL(v.file, filters)), header = parseHeader(file), options = { secret: v.secret };
    assert.equal(header.spec.text, v.spec);
    const { hash } = accept(header, { families, hashes, engine: plainEngine, ...options });
    for (const key of v.keys) checkHash(hash.sum, key);
    for (const { open } of [plain, index]) {
      const filter = await open(file, options), { counts, values } = filter.info();
      assert.equal(filter.info().keyForm, v.form ?? 'bytes');
      assert.equal(counts, v.keys.some((k) => k.count !== undefined), 'counts');
      assert.ok(values || v.keys.every((k) => !Number(k.value ?? 0)), 'values'); // ribbons without values: 0
      for (const key of v.keys) await check(filter, key, counts, values);
      assert.deepEqual(filter.hasMany(v.keys.map((k) => keysOf(k)[0])), v.keys.map((k) => k.has));
    }
  });
}
test('there are vectors', () => assert.ok(vectors > 300, `${vectors} keys`));

/** A sharded set with the names of a filter's methods. */
const asFilter = (set) => ({ has: (key) => set.lookup(key), count: (key) => set.lookupCount(key) });

for (const url of jsonOf(sets)) {
  const v = JSON.parse(readFileSync(url, 'utf8')), folder = new URL(`${v.set}/`, sets);
  test(`set ${v.set}`, async () => {
    const manifest = readFileSync(new URL('manifest.json', folder)), loads = new Map();
    const load = (file) => {
      loads.set(file, (loads.get(file) ?? 0) + 1);
      return readFile(new URL(file, folder));
    };
    for (const { openSharded } of [plain, index]) {
      loads.clear();
      const set = await openSharded(manifest, load, { secret: v.secret });
      assert.equal(loads.size, 0, 'shards are loaded before they are needed');
      assert.deepEqual(await set.lookupMany(v.keys.map((k) => keysOf(k)[0])), v.keys.map((k) => k.has));
      const counts = v.keys.some((k) => k.count !== undefined);
      for (const key of v.keys) await check(asFilter(set), key, counts, false);
      const used = new Set(v.keys.map((k) => k.shard));
      assert.equal(loads.size, used.size);
      assert.equal(set.info().loaded, used.size);
      assert.ok([...loads.values()].every((n) => n === 1), 'a shard is loaded twice');
      await set.check();
      assert.equal(loads.size, v.shards);
    }
    const { spec, hash, seed } = await internal.parseManifest(manifest);
    const family = families.find((f) => f.name === spec.family);
    const { sum } = internal.hashOf({ spec, hash, seed }, family, { hashes, secret: v.secret });
    for (const key of v.keys) assert.equal(route(checkHash(sum, key), v.shards), key.shard);
  });
}

test('routing', () => {
  const routing = JSON.parse(readFileSync(new URL('../../shard/testdata/routing.json', import.meta.url), 'utf8'));
  const vectors = [...routing.hashes, ...routing.keys];
  assert.ok(vectors.length > 15);
  for (const { hi, lo, shards } of vectors) {
    const word = (text, at) => Number(`0x${text.slice(at, at + 8)}`);
    const h = Int32Array.of(word(lo, 8), word(lo, 0), word(hi, 8), word(hi, 0));
    for (const [n, want] of Object.entries(shards)) assert.equal(route(h, Number(n)), want, `${hi} ${lo} of ${n}`);
  }
});
