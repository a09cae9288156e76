// Builds in WebAssembly give the bytes of those in JavaScript, and are replaced by these where there is no WebAssembly.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { build as bundle } from 'esbuild';
import { build } from '../dist/build.js';
import { open } from '../dist/plain.js';
import { families } from './builds.mjs';
import { internal } from './internal.mjs';
import { replaced } from './replaced.mjs';

/** The keys from which on builds are in WebAssembly by default. */
const many = 16_384;

/** Builds keys in both ways and returns the file. */
async function both(keys, options, what) {
  const file = await build(keys, { ...options, wasm: true });
  assert.deepEqual(file, await build(keys, { ...options, wasm: false }), what);
  return file;
}

test('keys of all lengths, and where batches end', async () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz'.repeat(30);
  const key = (n, i) => `${i}`.slice(0, n).padEnd(n, letters.slice(i));
  const options = { spec: 'standard', fpr: 1e-6 };
  const lists = {
    'all lengths': Array.from({ length: 600 }, (_, n) => key(n, n % 26)),
    'all lengths, from the longest on': Array.from({ length: 600 }, (_, n) => key(600 - n, n % 26)),
    'all lengths of bytes': Array.from({ length: 300 }, (_, n) => Uint8Array.from({ length: n }, (_, i) => i * n)),
    'texts that are empty': Array(1000).fill(''),
    'short keys after long ones': ['ö'.repeat(9000), 7, 'x'.repeat(30_000), Uint8Array.of(1), 'é'.repeat(200), 'ä', 8n],
    'batches that end by their bytes': Array.from({ length: 1000 }, (_, i) => key(128 - (i % 3), i)),
  };
  for (const n of [511, 512, 513, 1024, 4095, 4096, 4097, 8192, 12_289]) {
    lists[`${n} texts`] = Array.from({ length: n }, (_, i) => `text ${i}`);
    // A text that is not ASCII before, at and after the end of a batch; then bytes, integers and long texts.
    const others = ['ä', '\u{1F600}', 'é'.repeat(120), 'ö'.repeat(9000), 'x'.repeat(129), Uint8Array.of(1), 7, -1n];
    for (const other of others) {
      for (const at of [0, 510, 511, 512, n - 1]) {
        lists[`${n} texts, ${other} at ${at}`] = lists[`${n} texts`].toSpliced(at, 1, other);
      }
    }
  }
  for (const [what, keys] of Object.entries(lists)) {
    const filter = await open(await both(keys, options, what));
    assert.ok(filter.hasMany(keys.map((k) => (typeof k === 'number' ? BigInt(k) : k))).every(Boolean), what);
  }
});

test('lone surrogates are not text, wherever batches put them', async () => {
  for (const keys of [['\ud800'], ['a\ud83d', '\ude00b'], [...Array(511).fill('x'), '\udfff'], ['x', 'ä\ud800']]) {
    for (const wasm of [true, false]) {
      await assert.rejects(build(keys, { spec: 'blocked', wasm }), TypeError, JSON.stringify(keys.at(-1)));
    }
  }
});

for (const family of families) {
  test(`${family}: large lists, duplicates and secrets`, async () => {
    const text = (i) => `host-${i}.example`, list = (n, f) => Array.from({ length: n }, (_, i) => f(i));
    const options = { family, fpr: 0.01, seed: 5n };
    await both([], options, 'no key');
    await both(list(100_000, text), options, 'texts');
    await both(list(70_000, (i) => i * i), options, 'integers');
    await both(list(60_000, (i) => text(i % 20_000)), options, 'each three times');
    await both(list(60_000, () => 'one'), options, 'one key');
    await both(list(60_000, (i) => text(i & 1)), options, 'two keys');
    await both(list(30_000, text), { family, secret: '00112233445566778899aabbccddeeff' }, 'a secret');
    if (family === 'ribbon') await both(list(560_000, text), { family, fpr: 0.1 }, 'three segments, width 128');
    if (family === 'ribbon') await both(list(300_000, text), { family, fpr: 0.45 }, 'some wide blocks');
  });

  test(`${family}: many keys are built in WebAssembly, few are not`, async () => {
    const { Instance } = WebAssembly;
    let instances = 0;
    const counted = function (...args) {
      instances++;
      return new Instance(...args);
    };
    await replaced(WebAssembly, 'Instance', counted, async () => {
      await build(Array.from({ length: many - 1 }, (_, i) => `${i}`), { family });
      assert.equal(instances, 0);
      const later = async function* () {
        for (let i = 0; i < many; i++) yield `${i}`;
      };
      await build(later(), { family });
      assert.equal(instances, 2);
    });
  });
}

test('without WebAssembly, or without memory for it, JavaScript builds', async () => {
  const { Memory } = WebAssembly, keys = Array.from({ length: 30_000 }, (_, i) => `key ${i}`);
  const forbidden = () => Promise.reject(new WebAssembly.CompileError('forbidden by the Content-Security-Policy'));
  const full = function () {
    throw new RangeError('could not allocate memory');
  };
  /** Has memory for the first instances only. */
  const scarce = (left) =>
    function (options) {
      if (left-- <= 0) throw new RangeError('could not allocate memory');
      return new Memory(options);
    };
  const cases = [
    [globalThis, 'WebAssembly', undefined],
    [globalThis, 'DecompressionStream', undefined],
    [WebAssembly, 'compile', forbidden],
    [WebAssembly, 'Instance', full],
    [WebAssembly, 'Memory', full],
    [WebAssembly, 'Memory', scarce(1)],
  ];
  const entry = { entryPoints: [fileURLToPath(new URL('../dist/build.js', import.meta.url))], bundle: true };
  const { outputFiles } = await bundle({ ...entry, write: false, format: 'esm' });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  for (const family of families) {
    const file = await build(keys, { family, wasm: false });
    for (const [i, [object, name, value]] of cases.entries()) {
      await replaced(object, name, value, async () => {
        const fresh = await import(`data:text/javascript;base64,${code}#${family}${i}`); // nothing is compiled yet
        for (const wasm of [true, undefined]) assert.deepEqual(await fresh.build(keys, { family, wasm }), file, name);
      });
    }
  }
});

test('memory of more than 4 GiB is refused', async () => {
  const start = await internal.wasmStart();
  assert.equal(start(2 ** 32), undefined);
  assert.equal(start(2 ** 60), undefined);
  assert.equal(start(Infinity), undefined);
  assert.ok(start(2 ** 20));
});

/** Runs steps to their end and returns their result and their number. */
function run(steps) {
  for (let n = 0; ; n++) {
    const { done, value } = steps.next();
    if (done) return { value, n };
  }
}

test('keys that are not random are sorted', async () => {
  const start = await internal.wasmStart();
  const lists = {
    random: [20_000, (i) => Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(i, i)],
    'equal first words': [40_000, (i) => (i % 4 === 3 ? 5 : (i * 7919) % 301 - 150)],
    'one word': [30_000, (i) => (i % 4 ? -1 : Math.imul(i, 0x85ebca6b))],
    'low bits': [30_000, (i) => (i % 4 ? 0 : (i >> 2) % 300)],
    'in opposite order': [30_000, (i) => -i],
    equal: [50_000, () => 7],
    'two keys': [50_000, (i) => (i >> 2) & 1],
    few: [25, (i) => 100 - i],
    one: [1, (i) => i],
    none: [0, (i) => i],
  };
  for (const [what, [n, word]] of Object.entries(lists)) {
    const all = Int32Array.from({ length: 4 * n }, (_, i) => word(i)), parts = [];
    for (let i = 0; i < all.length; i += 4 * 4096) parts.push(all.slice(i, i + 4 * 4096));
    const solver = internal.wasmSolver({ parts, length: n }, start);
    run(solver.sort([1, 0], true));
    assert.deepEqual(solver.keys(), run(internal.sort(parts)).value.slice(), what);
  }
});

test('a build takes many steps, so that a page does not stand still', async () => {
  const start = await internal.wasmStart(), n = 200_000, parts = [];
  for (let i = 0; i < n; i += 4096) {
    parts.push(Int32Array.from({ length: 4 * Math.min(4096, n - i) }, (_, j) => Math.imul(4 * i + j, 0x9e3779b1) ^ j));
  }
  for (const family of families) {
    const { n: steps } = run(internal[family].make({ parts, length: n }, 0.01, start));
    assert.ok(steps >= n / 4096, `${family}: ${steps} steps`);
  }
});
