// Deltas: those that the Go library wrote for this test, and damaged ones.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { patch } from '../dist/delta.js';
import { FormatError, TooLargeError } from '../dist/plain.js';
import { hashOf } from './publisher.mjs';

const folder = new URL('../../internal/patch/testdata/', import.meta.url);
const read = (name) => new Uint8Array(readFileSync(new URL(name, folder)));
const vectorsOf = (dir) => JSON.parse(readFileSync(new URL(`${dir}vectors.json`, folder), 'utf8')).map((v) => {
  const [base, delta, target] = ['base', 'delta', 'target'].map((part) => read(`${dir}${v.name}.${part}`));
  return { ...v, name: dir + v.name, base, delta, target };
});
const filters = vectorsOf(''), exact = vectorsOf('exact/');
const vectors = [...filters, ...exact];

test('there are vectors of methods 0 to 3, and of exact sets', () => {
  const methods = (list) => [...new Set(list.map((v) => v.method))].sort();
  assert.deepEqual(methods(filters), ['bits', 'cells', 'replay', 'whole']);
  assert.deepEqual(methods(exact), ['append', 'whole']);
  assert.ok(filters.length >= 20);
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
    if (hashOf(base) !== sha256) await assert.rejects(patch(target, delta), FormatError);
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

/** A copy of a delta with damage of one of five kinds. */
function damaged(delta, below) {
  let d = delta.slice();
  const kind = below(5), at = below(d.length), behind = 24 + below(Math.max(1, d.length - 24));
  if (kind === 0) d[behind] ^= 1 << below(8);
  if (kind === 1) d = d.subarray(0, at);
  if (kind === 2) for (let j = 0; j < 8 && behind + j < d.length; j++) d[behind + j] = [0, 255, below(256)][below(3)];
  if (kind === 3) d[at] = below(256);
  if (kind === 4) d = Uint8Array.of(...d.subarray(0, behind), below(256), ...d.subarray(behind));
  return d;
}

test('2,000 damaged deltas are refused, or have no effect', async () => {
  const below = random(18);
  let refused = 0;
  for (let i = 0; i < 2000; i++) {
    const { name, base, delta, target } = filters[i % filters.length], d = damaged(delta, below);
    try {
      assert.equal(Buffer.compare(await patch(base, d, { maxBytes: 2 ** 24 }), target), 0, `${name}, ${i}`);
    } catch (e) {
      if (!(e instanceof FormatError)) throw e;
      refused++;
    }
  }
  assert.ok(refused > 1800, `${refused} are refused`);
});

test('damaged deltas of exact sets are refused', async () => {
  const below = random(19);
  for (const { name, base, delta } of exact) {
    const refused = (d, what) => assert.rejects(patch(base, d), FormatError, `${name}, ${what}`);
    for (let n = 0; n < delta.length; n++) await refused(delta.subarray(0, n), `cut at ${n}`);
    for (let at = 0; at < delta.length; at++) {
      const d = delta.slice();
      for (let bit = 1; bit < 256; bit *= 2) {
        d[at] ^= bit;
        await refused(d, `byte ${at} ^ ${bit}`);
        d[at] ^= bit;
      }
    }
    for (let i = 0; i < 500; i++) {
      const d = damaged(delta, below);
      if (Buffer.compare(d, delta)) await refused(d, `damage ${i}`);
    }
  }
});

test('a method of the other kind of file', async () => {
  const [append] = exact, filter = filters[0];
  /** A delta from base to target that no publisher writes: with another first byte, or for another file. */
  const forged = ({ base, delta, target }, what, start = delta.subarray(4, 8), body = delta.subarray(24)) => {
    const sum = Buffer.from(hashOf(target), 'hex').subarray(0, 16);
    return [base, Uint8Array.of(0x89, 0x42, 0x44, what, ...start, ...sum, ...body)];
  };
  await patch(...forged(append, 5));
  await patch(...forged(append, 0, undefined, append.target));
  const more = append.target.subarray(append.base.length), grown = Buffer.concat([filter.base, more]);
  for (const [what, args] of Object.entries({
    'flags of append': forged(append, 5 + 16), 'flags of a whole file': forged(append, 32, undefined, append.target),
    'a whole file for another base': forged(append, 0, [1, 2, 3, 4], append.target),
    'append to another base': forged(append, 5, [1, 2, 3, 4]),
    'the CRC of a header': forged(append, 5, append.base.subarray(60, 64)),
    'flags of a whole filter': forged(filter, 16, undefined, filter.target),
    'append to a filter': forged({ ...filter, target: grown }, 5, filter.base.subarray(60, 64), more),
    ...Object.fromEntries([1, 2, 3, 4, 6, 15].map((method) => [`method ${method}`, forged(append, method)])),
  })) {
    await assert.rejects(patch(...args), FormatError, what);
  }
});
