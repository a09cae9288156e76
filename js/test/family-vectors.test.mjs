// The test vectors: hashes and answers of every key, for the families of which this folder has a file.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { open } from '../dist/plain.js';
import { internal } from './internal.mjs';

const folder = new URL('../../container/testdata/vectors/', import.meta.url);
const vectors = readdirSync(folder).filter((name) => name.endsWith('.json'))
  .map((name) => [name, JSON.parse(readFileSync(new URL(name, folder)))]);

const keyOf = (k) => ('text' in k ? k.text : 'bytes' in k ? Buffer.from(k.bytes, 'hex') : BigInt(k.integer));

/** Whether the family of a filter, or this one, counts; and whether it has values. */
const counts = (spec) => /^(counting|rankindexed|dleft)\b/.test(spec);
const hasValues = (spec) => /\bvalue_bits=/.test(spec);

const seen = new Set();
for (const [name, v] of vectors) {
  const spec = v.spec.split('(')[0], bytes = readFileSync(new URL(v.file, folder));
  seen.add(spec);
  test(name, async () => {
    const filter = await open(bytes, { secret: v.secret });
    assert.equal(filter.info().spec, v.spec);
    assert.equal(filter.info().hash, v.hash);
    assert.ok(v.keys.length > 0);
    for (const k of v.keys) {
      const key = keyOf(k), what = JSON.stringify(k);
      assert.equal(filter.has(key), k.has, what);
      if (counts(v.spec)) assert.equal(filter.count(key), Number(k.count), what);
      else assert.throws(() => filter.count(key), TypeError);
      if (hasValues(v.spec)) assert.equal(filter.get(key), k.value === undefined ? undefined : BigInt(k.value), what);
      else assert.throws(() => filter.get(key), TypeError);
    }
  });
}

test('every family has vectors', () => {
  for (const { name } of internal.families) assert.ok(seen.has(name), name);
});

const sums = {
  'murmur3-x64-128': internal.murmur3,
  'murmur3-x64-128-twice': internal.murmur3Twice,
  'murmur64a-twice': internal.murmur64aTwice,
};
for (const [hash, sum] of Object.entries(sums)) {
  test(hash, () => {
    let n = 0;
    const buffer = new internal.OwnBuffer(), out = new Int32Array(8);
    for (const k of vectors.filter(([, v]) => v.hash === hash).flatMap(([, v]) => v.keys)) {
      const length = internal.putKey(buffer, keyOf(k));
      sum(buffer.view, length, out);
      const hex = (i) => (out[i] >>> 0).toString(16).padStart(8, '0');
      assert.deepEqual([hex(3) + hex(2), hex(1) + hex(0)], [k.hi, k.lo], JSON.stringify(k));
      n++;
    }
    assert.ok(n > 50, `${n} keys`);
  });
}
