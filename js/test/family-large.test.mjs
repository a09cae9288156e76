// Positions of families against plain definitions in BigInt, also in arrays of more than 2^32 bits, and the arithmetic
// that they share. Large arrays are zeros that nobody touches: they take addresses, not memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { internal } from './internal.mjs';

const { doubly, families, field, modulo, murmur3, murmur3Twice, murmur64aTwice, ones, Spec, wideField } = internal;
const mask = (1n << 64n) - 1n;

/** A generator with a fixed start: 64 bits. One of four numbers is at an edge. */
let seed = 88172645463325252n;
function random() {
  seed ^= (seed << 13n) & mask;
  seed ^= seed >> 7n;
  seed ^= (seed << 17n) & mask;
  const edges = [0n, 1n, mask, mask >> 1n, 1n << 63n, 0xffffffffn, 1n << 32n, mask << 32n & mask];
  return seed & 3n ? seed : edges[Number((seed >> 8n) & 7n)];
}
const low = (v) => Number(BigInt.asIntN(32, v)), high = (v) => low(v >> 32n);

/** A hash of four 64-bit words: Lo, Hi and the two between them that only bitsandblooms has. */
const hashOf = ([lo, hi, second = 0n, third = 0n]) =>
  Int32Array.of(low(lo), high(lo), low(hi), high(hi), low(second), high(second), low(third), high(third));

const mulhi = (x, m) => (x * m) >> 64n;
const folded = (a, b) => ((a * b) >> 64n) ^ ((a * b) & mask);

/** Opens a filter without checksums: sections by their number of 64-bit words. */
function open(name, text, words, fill = () => {}) {
  const sections = words.map((n) => new Uint32Array(2 * n));
  fill(sections);
  const spec = new Spec(text), header = { keys: 0n, spec };
  return { query: families.find((f) => f.name === name).open({ header, spec, sections }), sections };
}

/** Fails unless a query is true with all bits of a key set and false without any one of them. */
function checkBits(query, words, positions, h) {
  const at = [...new Set(positions)].map((p) => [Number(p >> 5n), 1 << Number(p & 31n)]);
  assert.equal(query.has(h), false);
  for (const [i, b] of at) words[i] |= b;
  assert.equal(query.has(h), true, `bits ${positions}`);
  for (const [i, b] of at) {
    words[i] &= ~b;
    assert.equal(query.has(h), false);
    words[i] |= b;
  }
  for (const [i] of at) words[i] = 0;
}

for (const [bits, groups, k, shards, width] of [[100, 3, 5, 1, 4], [5000, 7, 9, 3, 5], [4096, 1, 4, 2, 0],
  [2 ** 31, 2, 3, 3, 5], [2 ** 31 - 1, 1, 2, 3, 0], [4097, 2 ** 27, 9, 5, 5]]) {
  test(`partitioned of ${shards} shards of ${bits} bits, ${groups} groups of ${k} shifts of ${width} bits`, () => {
    const B = BigInt, side = B(k * width), all = B(shards * groups);
    const sizes = [Math.ceil((bits * shards) / 64) + 1, Number((all * side + 63n) / 64n) + 1, 2];
    const { query, sections: [words, shifts] } =
      open('partitioned', `partitioned(bits=${bits},groups=${groups},k=${k},shards=${shards},width=${width})`, sizes);
    for (let n = 0; n < 50; n++) {
      const lo = random(), hi = random(), group = mulhi(hi, all), positions = [];
      let x = lo;
      for (let l = 0n; l < k; l++) {
        // a random shift, in the place of the group
        let shift = 0n;
        for (let j = 0n; j < width; j++) {
          const at = group * side + l * B(width) + j, i = Number(at >> 5n), b = Number(at & 31n);
          const one = random() & 1n;
          shifts[i] = (shifts[i] & ~(1 << b)) | (Number(one) << b);
          shift |= one << j;
        }
        positions.push(mulhi(hi, B(shards)) * B(bits) + mulhi(x, B(bits - 2 ** width + 1)) + shift);
        x = folded(x, hi | 1n);
      }
      checkBits(query, words, positions, hashOf([lo, hi]));
    }
  });
}

for (const [bits, choices, k, shards] of [[2, 2, 5, 1], [77, 2, 5, 1], [128, 5, 9, 1], [4099, 16, 3, 7],
  [2 ** 28, 3, 4, 18], [2 ** 28 - 1, 2, 64, 18]]) {
  test(`twochoice of ${shards} shards of ${bits} bits, ${choices} groups of ${k}`, () => {
    const text = `twochoice(bits=${bits},choices=${choices},k=${k},shards=${shards})`;
    const { query, sections: [words] } = open('twochoice', text, [Math.ceil((bits * shards) / 64) + 1, 2]);
    for (let n = 0; n < 50; n++) {
      const lo = random(), hi = random(), start = mulhi(hi, BigInt(shards)) * BigInt(bits) + BigInt(n % choices);
      const by = (hi * BigInt(shards)) & mask, positions = [];
      let x = lo;
      for (let i = 0; i < k; i++) {
        const sum = (9n * x) & mask;
        positions.push(start + mulhi(x, BigInt(bits - choices + 1)));
        x = (((sum << 25n) | (sum >> 39n)) + by) & mask;
      }
      checkBits(query, words, positions, hashOf([lo, hi]));
    }
  });
}

const guavas = [[1, 3, 64], [150, 7, 64], [999, 9, 32], [2 ** 26 + 5, 5, 64], [2 ** 26 + 5, 5, 32]];
for (const [words64, k, strategy] of guavas) {
  test(`guava of ${words64} words, strategy ${strategy}`, () => {
    const text = `guava(k=${k},strategy=${strategy},words=${words64})`;
    const { query, sections: [words] } = open('guava', text, [words64]);
    for (let n = 0; n < 100; n++) {
      const lo = random(), hi = random(), positions = [];
      for (let i = 0n; i < k; i++) {
        const c = BigInt.asIntN(32, lo + (i + 1n) * (lo >> 32n));
        positions.push((strategy === 64 ? (lo + i * hi) & (mask >> 1n) : c < 0n ? ~c : c) % BigInt(64 * words64));
      }
      checkBits(query, words, positions, hashOf([lo, hi]));
    }
  });
}

for (const [words64, k, version] of [[1, 3, 1], [150, 7, 2], [999, 9, 1], [2 ** 26 + 5, 5, 1], [2 ** 26 + 5, 255, 2]]) {
  test(`spark of ${words64} words, version ${version}`, () => {
    const text = `spark(k=${k},version=${version},words=${words64})`;
    const { query, sections: [words] } = open('spark', text, [words64]);
    for (let n = 0; n < 100; n++) {
      // Every fifth start is near 0, so that sums change their sign.
      const lo = n % 5 ? random() : (random() & ~0xffffffffn) | BigInt.asUintN(32, BigInt(n - 50)), positions = [];
      const a = BigInt.asIntN(32, lo), b = BigInt.asIntN(32, lo >> 32n);
      for (let i = 1n; i <= k; i++) {
        const c = version === 1 ? BigInt.asIntN(32, a + i * b) : (2n ** 31n - 1n) * a + i * b;
        positions.push((c < 0n ? ~c : c) % BigInt(64 * words64));
      }
      checkBits(query, words, positions, hashOf([lo, random()]));
    }
  });
}

for (const [m, k] of [[1, 1], [400, 7], [9587, 13], [2 ** 32 + 12345, 5], [2 ** 32 + 1, 255]]) {
  test(`bitsandblooms of ${m} bits`, () => {
    const { query, sections: [words] } = open('bitsandblooms', `bitsandblooms(k=${k},m=${m})`, [Math.ceil(m / 64)]);
    for (let n = 0; n < 100; n++) {
      const h = [random(), random(), random(), random()], [a, d, b, c] = h, positions = [];
      for (let i = 0; i < k; i++) {
        const step = [c, d, d, c][i % 4];
        positions.push((((i % 2 ? b : a) + BigInt(i) * step) & mask) % BigInt(m));
      }
      checkBits(query, words, positions, hashOf(h));
    }
  });
}

test('redisbloom of two links, one of more than 2^32 bits', () => {
  const sizes = [2 ** 20 + 64, 2 ** 32 + 192], k = 3, header = new DataView(new ArrayBuffer(128));
  header.setUint32(8, 2, true);
  header.setUint32(12, 5, true);
  header.setUint32(16, 2, true);
  sizes.forEach((m, i) => {
    const at = 20 + 53 * i;
    header.setBigUint64(at, BigInt(m / 8), true);
    header.setBigUint64(at + 8, BigInt(m), true);
    header.setFloat64(at + 24, 0.01, true);
    header.setFloat64(at + 32, 4, true); // ⌈4 ln 2⌉ probes
    header.setUint32(at + 40, k, true);
    header.setBigUint64(at + 44, 1n, true);
  });
  const total = (sizes[0] + sizes[1]) / 64;
  const text = `redisbloom(links=2,words=${total})`;
  const { query, sections: [, words] } = open('redisbloom', text, [16, total], ([first]) => {
    for (let i = 0; i < 32; i++) first[i] = header.getUint32(4 * i, true);
  });
  for (let n = 0; n < 100; n++) {
    const lo = random(), hi = random(), link = n % 2, positions = [];
    const start = BigInt(link && sizes[0]), m = BigInt(sizes[link]);
    for (let i = 0n; i < k; i++) positions.push(start + (((lo + i * hi) & mask) % m));
    checkBits(query, words, positions, hashOf([lo, hi]));
  }
});

test('modulo', () => {
  for (let n = 0; n < 20000; n++) {
    const x = random(), m = (random() >> BigInt(27 + (n % 37))) || 1n, least = m > 2n ** 37n ? 2n ** 37n : m;
    // x, and what lies next to a multiple of m
    for (const v of [x, x - (x % least), x - (x % least) + least - 1n].filter((v) => v <= mask)) {
      assert.equal(BigInt(modulo(low(v), high(v), Number(least))), v % least, `${v} mod ${least}`);
    }
  }
});

test('double hashing', () => {
  for (let n = 0; n < 300; n++) {
    const m = Number(random() % 5000n) + 1, k = 1 + (n % 40), wrap = n % 2 ? mask : mask >> 1n;
    const x = random() & wrap, by = random() & wrap, words = new Uint32Array(2 + Math.ceil(m / 32));
    const covers = doubly(words, 2, m, k, Number((wrap + 1n) >> 32n));
    const positions = Array.from({ length: k }, (_, i) => 64n + (((x + BigInt(i) * by) & wrap) % BigInt(m)));
    checkBits({ has: () => covers(low(x), high(x), low(by), high(by)) }, words, positions);
  }
});

test('fields and counts', () => {
  const words = Uint32Array.from({ length: 40 }, () => Number(random() & 0xffffffffn));
  const bits = words.reduceRight((v, w) => (v << 32n) | BigInt(w), 0n);
  for (let at = 0; at < 200; at++) {
    for (let n = 1; n < 500; n += n < 70 ? 1 : 37) {
      const want = (bits >> BigInt(at + 64)) & ((1n << BigInt(n)) - 1n);
      if (n <= 32) assert.equal(BigInt(field(words, 2, at, n)), want);
      if (n <= 53) assert.equal(BigInt(wideField(words, 2, at, n)), want);
      assert.equal(ones(words, 2, at, n), [...want.toString(2)].filter((c) => c === '1').length);
    }
  }
});

const rotated = (x, n) => ((x << n) | (x >> (64n - n))) & mask;

/** MurmurHash3 x64 128 of bytes, as its two words. */
function plainMurmur3(b) {
  const c1 = 0x87c37b91114253d5n, c2 = 0x4cf5ad432745937fn, n = BigInt(b.length);
  const word = (from, to) => b.slice(from, Math.min(to, b.length)).reduceRight((v, c) => (v << 8n) | BigInt(c), 0n);
  const k1 = (x) => (rotated((x * c1) & mask, 31n) * c2) & mask;
  const k2 = (x) => (rotated((x * c2) & mask, 33n) * c1) & mask;
  let h1 = 0n, h2 = 0n, i = 0;
  for (; i + 16 <= b.length; i += 16) {
    h1 = ((rotated(h1 ^ k1(word(i, i + 8)), 27n) + h2) * 5n + 0x52dce729n) & mask;
    h2 = ((rotated(h2 ^ k2(word(i + 8, i + 16)), 31n) + h1) * 5n + 0x38495ab5n) & mask;
  }
  h1 ^= k1(word(i, i + 8)) ^ n;
  h2 ^= k2(word(i + 8, i + 16)) ^ n;
  const mix = (x) => {
    for (const c of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n]) x = ((x ^ (x >> 33n)) * c) & mask;
    return x ^ (x >> 33n);
  };
  h1 = (h1 + h2) & mask;
  h2 = mix((h2 + h1) & mask);
  h1 = (mix(h1) + h2) & mask;
  return [h1, (h2 + h1) & mask];
}

/** MurmurHash64A of bytes. */
function plainMurmur64a(b, start) {
  const m = 0xc6a4a7935bd1e995n, n = b.length - (b.length % 8);
  const word = (from, to) => b.slice(from, to).reduceRight((v, c) => (v << 8n) | BigInt(c), 0n);
  const shift = (x) => x ^ (x >> 47n);
  let h = start ^ ((BigInt(b.length) * m) & mask);
  for (let i = 0; i < n; i += 8) h = ((h ^ ((shift((word(i, i + 8) * m) & mask) * m) & mask)) * m) & mask;
  if (n < b.length) h = ((h ^ word(n, b.length)) * m) & mask;
  return shift((shift(h) * m) & mask);
}

test('murmur hashes of every length', () => {
  for (let n = 0; n < 100; n++) {
    const b = Array.from({ length: n }, () => Number(random() & 255n));
    const view = new DataView(Uint8Array.from([...b, 77]).buffer);
    const h = new Int32Array(8);
    const word = (i) => (BigInt(h[i + 1] >>> 0) << 32n) | BigInt(h[i] >>> 0);
    murmur3(view, n, h);
    assert.deepEqual([word(0), word(2)], plainMurmur3(b), `${n} bytes`);
    murmur3Twice(view, n, h);
    const four = [...plainMurmur3(b), ...plainMurmur3([...b, 1])];
    assert.deepEqual([word(0), word(4), word(6), word(2)], four, `${n} bytes`);
    murmur64aTwice(view, n, h);
    const lo = plainMurmur64a(b, 0xc6a4a7935bd1e995n);
    assert.deepEqual([word(0), word(2)], [lo, plainMurmur64a(b, lo)], `${n} bytes`);
  }
});

test('rankindexed: two buckets with an extension each, and with the same', () => {
  const spec = new Spec('rankindexed(buckets=2,capacity=4,cells=1,cells2=2,chains=4,pool2=2,remainder=4)');
  const family = families.find((f) => f.name === 'rankindexed');
  // Chains 0 and 1 have a cell: that of chain 0 in the bucket, the other one in the extension.
  const bucket = (pointer) => 0b11 | (pointer << 5) | (3 << 7), extension = 5 << 2;
  const openTable = (second, free) =>
    family.open({ header: { keys: 4n, spec }, spec, sections: [
      Uint32Array.of(bucket(1), 0, bucket(second), 0), Uint32Array.of(extension, 0, free, 0), new Uint32Array(0),
    ] });
  openTable(2, extension);
  assert.throws(() => openTable(1, 0), { name: 'CorruptError' });
  assert.throws(() => openTable(3, extension), { name: 'CorruptError' });
});
