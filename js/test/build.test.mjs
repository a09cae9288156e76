// Builds: their files have the bytes of those of the Go package, whose sums are in builds.txt. build-wasm.test.mjs has
// more about WebAssembly.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { build } from '../dist/build.js';
import { open } from '../dist/plain.js';
import { builds, families, lineOf } from './builds.mjs';
import { internal } from './internal.mjs';

const recorded = readFileSync(new URL('builds.txt', import.meta.url), 'utf8').trim().split('\n');

test('the records', () => assert.equal(recorded.length, families.flatMap(builds).length));

const cases = families.flatMap((family) => [true, false].map((wasm) => [family, wasm]));
for (const [family, wasm] of cases) {
  const name = `${family} in ${wasm ? 'WebAssembly' : 'JavaScript'}`;

  test(`${name}: files as of Go`, async () => {
    const lines = recorded.filter((line) => line.startsWith(family));
    for (const [j, one] of builds(family).entries()) {
      const file = await build(one.list(), { family, fpr: one.fpr, seed: one.seed, wasm });
      assert.equal(lineOf(one, file), lines[j]);
    }
  });

  test(`${name}: beyond its rates`, async () => {
    const lowest = {
      standard: [], blocked: [[5e-324, 3], [1e-310, 0], [1e-300, 1000], [1e-100, 1], [1e-30, 1000]],
      fuse: [[2 ** -32 * (1 - 1e-9), 0], [2 ** -33, 3], [1e-16, 1], [5e-324, 1000]],
      ribbon: [[2 ** -32 * (1 - 2 ** -53), 0], [2 ** -33, 3], [1e-16, 1], [5e-324, 1000]],
    };
    for (const [fpr, keys] of lowest[family]) {
      const message = `fpr=${fpr}: ${family === 'blocked' ? 'a blocked filter needs more than 4096 bits per key for ' +
        'this rate; take standard or fuse' : `the lowest rate of ${family} is 2.3e-10`}`;
      const list = Array.from({ length: keys }, (_, j) => j);
      await assert.rejects(build(list, { family, fpr, wasm }), { name: 'RangeError', message });
    }
    for (const fpr of [0, -0, 1, 1.5, -1, NaN, Infinity]) {
      await assert.rejects(build([], { family, fpr, wasm }), /^TypeError: fpr: want a rate above 0 and below 1/);
    }
  });

  test(`${name}: all forms of keys, from all kinds of iterables`, async () => {
    const keys = ['text', 'ä', Uint8Array.of(1, 2, 3), 12n, -1n, [5, 6]], options = { family, fpr: 0.001, wasm };
    const file = await build([...keys, 7, -8], options), filter = await open(file);
    for (const key of [...keys, 7n, -8n]) assert.ok(filter.has(key), String(key));
    assert.deepEqual([filter.info().keys, filter.info().fprPlanned], [8, 0.001]);
    assert.deepEqual(await build(new Set([-8n, 7n, ...keys]), options), file, 'the order counts');
    const later = async function* () {
      yield* [...keys, 7, -8];
    };
    assert.deepEqual(await build(later(), options), file);
  });

  test(`${name}: with a secret`, async () => {
    const secret = '00112233445566778899aabbccddeeff';
    const file = await build(['a', 'b'], { family, secret, wasm }), filter = await open(file, { secret });
    assert.deepEqual([filter.has('a'), filter.has('b'), filter.info().hash], [true, true, 'siphash-128']);
    await assert.rejects(open(file), { name: 'NoSecretError' });
  });

  test(`${name}: progress, and an abort while it builds`, async (t) => {
    let now = 0;
    t.mock.method(Date, 'now', () => (now += 100)); // each turn is a long one
    const keys = Array.from({ length: 5000 }, (_, j) => j), states = [];
    await build(keys, { family, wasm, progress: (state) => states.push(state) });
    assert.deepEqual(states.at(-1), { keys: keys.length, done: 1 });
    assert.ok(states.some(({ done }) => !done) && states.filter(({ done }) => done).length > 1, 'no states');
    for (const [i, { keys, done }] of states.entries()) {
      assert.ok(done >= 0 && done <= 1 && (!i || keys >= states[i - 1].keys), JSON.stringify(states[i]));
    }
    const stop = new AbortController(), why = new Error('enough');
    const progress = ({ done }) => done > 0 && stop.abort(why);
    await assert.rejects(build(keys, { family, wasm, progress, signal: stop.signal }), why);
  });
}

test('keys that are longer than all before', async () => {
  // A text that is not ASCII gets room for three bytes a character, more than it takes.
  for (let n = 1000; n < 40_000; n = Math.ceil(1.3 * n)) {
    for (const long of ['a'.repeat(n), 'ä' + 'a'.repeat(n), new Uint8Array(4 * n).fill(n)]) {
      for (const wasm of [true, false]) {
        const keys = ['short', long, 'again'], options = { spec: 'standard', fpr: 1e-9, wasm };
        const found = (await open(await build(keys, options))).hasMany(keys);
        assert.deepEqual(found, [true, true, true], `${typeof long} of ${long.length}`);
      }
    }
  }
});

test('an abort while keys come', async () => {
  const stop = new AbortController(), signal = stop.signal;
  let returned = false;
  const endless = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => setTimeout(() => stop.abort(), 5)),
      return: async () => (returned = true),
    }),
  };
  await assert.rejects(build(endless, { spec: 'fuse', signal }), { name: 'AbortError' });
  assert.ok(returned, 'the source is still open');
  await assert.rejects(build([], { spec: 'fuse', signal }), { name: 'AbortError' });
  let many = 0;
  const numbers = function* () {
    for (;; many++) yield many;
  };
  const other = new AbortController();
  setTimeout(() => other.abort(), 5);
  await assert.rejects(build(numbers(), { spec: 'fuse', signal: other.signal }), { name: 'AbortError' });
});

test('an error of the keys', async () => {
  const broken = async function* () {
    yield 'a';
    throw new RangeError('broken');
  };
  await assert.rejects(build(broken(), { spec: 'ribbon' }), /broken/);
  for (const wasm of [true, false]) {
    for (const key of [1.5, NaN, 2 ** 60, null, {}, '\ud800', undefined]) {
      await assert.rejects(build(['a', key], { spec: 'fuse', wasm }), TypeError, String(key));
    }
    await assert.rejects(build([2n ** 64n], { spec: 'fuse', wasm }), RangeError);
  }
});

test('options', async () => {
  const wrong = [
    ['keys', 'text', {}], ['keys', 5, {}], ['keys', null, {}], ['spec', [], { spec: 'bloom' }],
    ['spec', [], { spec: 'toString' }], ['spec', [], { spec: undefined }], ['family', [], { family: 'bloom' }],
    ['family', [], { family: 'ribbon' }], ['fpr', [], { fpr: 0 }], ['fpr', [], { fpr: 1 }], ['fpr', [], { fpr: '1%' }],
    ['seed', [], { seed: -1 }], ['seed', [], { seed: 2 ** 60 }],
    ['seed', [], { seed: 2n ** 64n }], ['seed', [], { seed: 1, secret: '00'.repeat(16) }],
    ['secret', [], { secret: 'x' }], ['wasm', [], { wasm: 1 }], ['progress', [], { progress: 1 }],
    ['signal', [], { signal: true }],
  ];
  for (const [name, keys, options] of wrong) {
    await assert.rejects(build(keys, { spec: 'fuse', ...options }), (e) => {
      assert.ok(e instanceof TypeError && e.message.startsWith(`${name}: want `), e.stack);
      return true;
    });
  }
  await assert.rejects(build([], undefined), TypeError);
  assert.deepEqual(await build(['a'], { family: 'ribbon' }), await build(['a'], { spec: 'ribbon' }));
  for (const family of ['fuse', 'ribbon', 'blocked']) {
    const keys = Array.from({ length: 1000 }, (_, j) => j);
    await assert.rejects(build(keys, { family, fpr: 1e-30 }), RangeError, family);
  }
});

test('a filter without room', async () => {
  const keys = Array.from({ length: 100_000 }, (_, j) => j);
  for (const wasm of [true, false]) {
    const building = build(keys, { spec: 'standard', fpr: 1e-300, wasm });
    await assert.rejects(building, /^RangeError: fpr=1e-300: no memory for \d+ bytes$/);
  }
});

test('keys that are not random are sorted', () => {
  const keys = Int32Array.from({ length: 4 * 1000 }, (_, i) => (i % 4 === 3 ? 5 : (i * 7919) % 301 - 150));
  const big = (words) => words.reduceRight((sum, w) => (sum << 32n) | BigInt(w >>> 0), 0n);
  const list = (words) => Array.from({ length: words.length / 4 }, (_, i) => big(words.subarray(4 * i, 4 * i + 4)));
  const wanted = [...new Set(list(keys))].sort((a, b) => (a < b ? -1 : 1));
  const sorted = (...parts) => {
    const steps = internal.sort(parts);
    for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
  };
  assert.deepEqual(list(sorted(keys.subarray(0, 400), keys.subarray(400))), wanted);
  assert.equal(sorted().length, 0);
  const many = Int32Array.from({ length: 4 * 200_000 }, (_, i) => Math.imul(i, 0x9e3779b1));
  assert.ok([...internal.sort([many])].length >= 30, 'few steps: a page would stand still');
});
