// The fast arithmetic, hash functions and probes against the same in BigInts: over random keys of all lengths, and over
// numbers whose products lie at the edges of words, where the rounding of doubles would show.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { internal } from './internal.mjs';
import * as spec from './spec-hashes.mjs';

const { families, moduloOf, mul, mulHigh, above, fold, position32, product, Spec } = internal;
const mask = (1n << 64n) - 1n, low = (v) => Number(BigInt.asIntN(32, v)), high = (v) => low(v >> 32n);
const words = (a, ...at) => at.reduceRight((v, i) => (v << 32n) | BigInt(a[i] >>> 0), 0n);

/** Returns a function that returns numbers of 64 bits, always the same. */
function generator(state) {
  return () => {
    state = (state + 0x9e3779b97f4a7c15n) & mask;
    let z = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
    return z ^ (z >> 31n);
  };
}

/** The number whose product with odd b is 1 modulo 2^64. */
function inverse(b) {
  let x = b;
  for (let i = 0; i < 6; i++) x = (x * (2n - b * x)) & mask;
  return x;
}

/** Distances from a multiple of 2^32, and of more. */
const edges = [0n, 1n, 2n, 511n, 1023n, 1024n, 1025n, 4095n, 8191n, 8192n, 8193n, 20000n];
const around = edges.flatMap((d) => [d, -d]);

/** Returns pairs of numbers with one of the lower three words of their product at an edge, and random pairs. */
function* factors(turns) {
  const random = generator(1n);
  for (let i = 0; i < turns; i++) {
    const b = random() | 1n;
    for (const d of around) {
      const word0 = ((random() << 32n) + (d & 0xffffffffn)) & mask, word1 = ((d << 32n) + (random() >> 32n)) & mask;
      const both = ((d << 32n) + (d & 0xffffffffn)) & mask;
      for (const lower of [word0, word1, both]) yield [(lower * inverse(b)) & mask, b];
      // the word above: a just above or below a multiple of 2^96, divided by b
      const a = (((random() >> 34n) << 96n) + (d << 64n)) / b;
      if (a > 0n) yield [a & mask, b];
    }
    yield [random(), random()];
    yield [random() >> (random() & 63n), random() >> (random() & 63n)];
  }
}

test('products at the edges of words', () => {
  let n = 0;
  for (const [a, b] of factors(1000)) {
    n++;
    mul(low(a), high(a), low(b), high(b));
    assert.equal(words(product, 0, 1, 2, 3), a * b, `${a}·${b}`);
    fold(low(a), high(a), low(b), high(b));
    assert.equal(words(product, 0, 1), spec.fold(a, b), `${a}·${b}`);
    const x = a & 0xffffffffn, y = b & 0xffffffffn;
    assert.equal(BigInt(mulHigh(low(a), low(b)) >>> 0), (x * y) >> 32n);
    assert.equal(BigInt(above(Number(x) * Number(y), low(x * y)) >>> 0), (x * y) >> 32n);
  }
  assert.ok(n > 90_000, `${n} pairs`);
  const random = generator(8n);
  for (let i = 0; i < 2000; i++) { // products just above a power of two, below which doubles are finer
    const a = (random() >> 32n) | (1n << 31n), b = (1n << 63n) / a + 1n;
    assert.equal(BigInt(above(Number(a) * Number(b), low(a * b)) >>> 0), (a * b) >> 32n, `${a}·${b}`);
  }
});

test('positions at the edges of integers', () => {
  const random = generator(2n);
  for (let i = 0; i < 20_000; i++) {
    const m = (random() >> 32n) >> (random() & 31n) || 1n, to = random() % m;
    for (const d of [-1n, 0n, 1n]) {
      const x = ((to << 64n) / m + d) & mask;
      assert.equal(BigInt(position32(low(x), high(x), Number(m))), (x * m) >> 64n, `${x}·${m}`);
    }
    const x = random();
    assert.equal(BigInt(position32(low(x), high(x), Number(m))), (x * m) >> 64n, `${x}·${m}`);
  }
});

test('remainders at the edges of multiples', () => {
  const random = generator(3n);
  for (let i = 0; i < 20_000; i++) {
    const m = 1n + ((random() >> 27n) >> (random() & 31n)), modulo = moduloOf(Number(m));
    const exact = mask / m, near = (random() % (exact + 1n)) * m;
    for (const x of [random(), near, near + m - 1n, near - 1n, exact * m, exact * m - 1n, mask, 0n]) {
      const v = x & mask;
      assert.equal(BigInt(modulo(low(v), high(v), Number(m))), v % m, `${v} modulo ${m}`);
    }
  }
  assert.equal(moduloOf(2 ** 13), moduloOf(2 ** 30));
  assert.notEqual(moduloOf(2 ** 13), moduloOf(2 ** 13 - 1));
  assert.notEqual(moduloOf(2 ** 30), moduloOf(2 ** 30 + 1));
});

/** Calls f with three random keys of each length from 0 to 300, some of long runs of one byte, and of longer keys. */
function keys(f) {
  const random = generator(4n), lengths = Array.from({ length: 301 }, (_, n) => n);
  for (const n of [...lengths, 1023, 1024, 1025, 1088, 2048, 5000]) {
    for (const fill of [undefined, undefined, 0, 255]) {
      f(Uint8Array.from({ length: n }, () => fill ?? Number(random() & 255n)), random());
    }
  }
}

/** Returns the hash of a key as the package computes it. */
function hashed(sum, bytes) {
  const out = new Int32Array(8), copy = new Uint8Array(bytes.length + 32).fill(0x5a);
  copy.set(bytes);
  sum(new DataView(copy.buffer), bytes.length, out);
  return out;
}

test('XXH3', () => {
  keys((bytes, random) => {
    for (const seed of [0n, random, mask]) {
      const h = hashed(internal.xxh3(seed), bytes), want = spec.xxh3(bytes, seed);
      assert.deepEqual([words(h, 0, 1), words(h, 2, 3)], want, `${bytes.length} bytes, seed ${seed}`);
    }
  });
});

test('XXH3 of many keys of 9 to 32 bytes', () => {
  const random = generator(5n), sum = internal.xxh3(0n);
  for (let i = 0; i < 30_000; i++) {
    const bytes = new Uint8Array(BigUint64Array.from({ length: 4 }, random).buffer, 0, 9 + (i % 24));
    const h = hashed(sum, bytes);
    assert.deepEqual([words(h, 0, 1), words(h, 2, 3)], spec.xxh3(bytes, 0n));
  }
});

test('MurmurHash3 and MurmurHash64A', () => {
  keys((bytes) => {
    const [a, b] = spec.murmur3(bytes), [c, d] = spec.murmur3(Uint8Array.of(...bytes, 1));
    const once = hashed(internal.murmur3, bytes), twice = hashed(internal.murmur3Twice, bytes);
    assert.deepEqual([words(once, 0, 1), words(once, 2, 3)], [a, b], `${bytes.length} bytes`);
    assert.deepEqual([0, 4, 6, 2].map((i) => words(twice, i, i + 1)), [a, b, c, d], `${bytes.length} bytes`);
    const lo = spec.murmur64a(bytes, 0xc6a4a7935bd1e995n), h = hashed(internal.murmur64aTwice, bytes);
    assert.deepEqual([words(h, 0, 1), words(h, 2, 3)], [lo, spec.murmur64a(bytes, lo)], `${bytes.length} bytes`);
  });
});

/** Returns the queries of a family over a section in which 15 of 16 bits are set. */
function open(name, params, bits) {
  const words = new Uint32Array(2 * Math.ceil(bits / 64));
  for (let i = 0, x = 1; i < words.length; i++) {
    for (let j = 0; j < 4; j++) words[i] |= (x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d) + 0x12345679) ^ (x >>> 13);
  }
  words[bits >>> 5] &= ~(-1 << (bits & 31));
  words.fill(0, (bits >>> 5) + 1);
  const query = families.find((f) => f.name === name).open({ spec: new Spec(`${name}(${params})`), sections: [words] });
  return { query, bit: (at) => (words[Number(at / 32n)] >>> Number(at % 32n)) & 1 };
}

test('probes of standard', () => {
  for (const m of [1n, 4096n, 99_991n, (1n << 26n) + 7n]) {
    const { query, bit } = open('standard', `k=8,m=${m}`, Number(m));
    let yes = 0, n = 0;
    for (const [x, b] of factors(40)) {
      let at = x, want = true;
      for (let i = 0; i < 8 && want; i++, at = spec.next(at, b)) want = bit((at * m) >> 64n) === 1;
      assert.equal(query.has(Int32Array.of(low(x), high(x), low(b), high(b), 0, 0, 0, 0)), want, `${x}, ${b} of ${m}`);
      yes += want ? 1 : 0;
      n++;
    }
    assert.ok(m === 1n || (yes > n / 4 && yes < n), `${yes} of ${n}`);
  }
});

test('probes of bitsandblooms', () => {
  const random = generator(7n);
  for (const m of [64n, 8191n, 8192n, 100_003n, (1n << 21n) + 7n]) {
    const { query, bit } = open('bitsandblooms', `k=8,m=${m}`, Number(m));
    for (let i = 0; i < 3000; i++) {
      const h = [random(), random(), random(), i % 3 ? random() : mask];
      const bits = Array.from({ length: 8 }, (_, j) => {
        const i = BigInt(j), step = h[2 + (((j + (j % 2)) % 4) >> 1)];
        return bit(((h[j % 2] + i * step) & mask) % m);
      });
      const out = Int32Array.from([h[0], h[3], h[1], h[2]].flatMap((v) => [low(v), high(v)]));
      assert.equal(query.has(out), bits.every((b) => b === 1));
    }
  }
});
