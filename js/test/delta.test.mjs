// Deltas: those that the Go library wrote for this test, and damaged ones.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { patch } from '../dist/delta.js';
import { FormatError, TooLargeError } from '../dist/plain.js';
import { hashOf } from './publisher.mjs';

const folder = new URL('../../delta/testdata/', import.meta.url);
const read = (name) => new Uint8Array(readFileSync(new URL(name, folder)));
const vectors = JSON.parse(readFileSync(new URL('vectors.json', folder), 'utf8')).map((v) => {
  const [base, delta, target] = ['base', 'delta', 'target'].map((part) => read(`${v.name}.${part}`));
  return { ...v, base, delta, target };
});

test('there are vectors of methods 0 to 3', () => {
  assert.deepEqual([...new Set(vectors.map((v) => v.method))].sort(), ['bits', 'cells', 'replay', 'whole']);
  assert.ok(vectors.length >= 20);
});

for (const { name, what, base, delta, target, sha256 } of vectors) {
  test(`${name}: ${what}`, async () => {
    const before = hashOf(base), got = await patch(base, delta);
    assert.equal(Buffer.compare(got, target), 0, 'it is not the target');
    assert.equal(hashOf(got), sha256);
    const buffer = Buffer.from(base); // its slice shares the memory
    assert.equal(Buffer.compare(await patch(buffer, Buffer.from(delta)), target), 0, 'with a Buffer');
    for (const old of [base, buffer]) assert.equal(hashOf(old), before, 'the base has changed');
    assert.equal(Buffer.compare(await patch(base, delta, { maxBytes: target.length }), target), 0);
    await assert.rejects(patch(base, delta, { maxBytes: target.length - 1 }), TooLargeError);
    if (name !== 'same') await assert.rejects(patch(target, delta), FormatError);
  });
}

test('a delta for another file, and what is none', async () => {
  const [a] = vectors, b = vectors.find((v) => hashOf(v.base) !== hashOf(a.base));
  for (const [base, delta] of [
    [a.base, b.delta], [a.base, new Uint8Array(0)], [a.base, a.base], [new Uint8Array(0), a.delta],
    [a.base, a.delta.subarray(0, 20)],
  ]) {
    await assert.rejects(patch(base, delta), FormatError);
  }
});

/** Random numbers of a fixed seed, below n. */
function random(seed) {
  return (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
}

test('2,000 damaged deltas are refused, or have no effect', async () => {
  const below = random(18);
  let refused = 0;
  for (let i = 0; i < 2000; i++) {
    const { name, base, delta, target } = vectors[i % vectors.length];
    let d = delta.slice();
    const kind = below(5), at = below(d.length), behind = 24 + below(Math.max(1, d.length - 24));
    if (kind === 0) d[behind] ^= 1 << below(8);
    if (kind === 1) d = d.subarray(0, at);
    if (kind === 2) for (let j = 0; j < 8 && behind + j < d.length; j++) d[behind + j] = [0, 255, below(256)][below(3)];
    if (kind === 3) d[at] = below(256);
    if (kind === 4) d = Uint8Array.of(...d.subarray(0, behind), below(256), ...d.subarray(behind));
    try {
      assert.equal(Buffer.compare(await patch(base, d, { maxBytes: 2 ** 24 }), target), 0, `${name}, ${i}`);
    } catch (e) {
      if (!(e instanceof FormatError)) throw e;
      refused++;
    }
  }
  assert.ok(refused > 1800, `${refused} are refused`);
});
