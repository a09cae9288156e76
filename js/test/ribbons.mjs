// A plain definition of ribbons in BigInt, as docs/format/ribbon.md has them, over random solutions.

import assert from 'node:assert/strict';

const mask = (1n << 64n) - 1n, golden = 0x9e3779b97f4a7c15n;

let state = 88172645463325252n;

/** Returns 64 bits of a generator with a fixed start. */
export function random() {
  state ^= (state << 13n) & mask;
  state ^= state >> 7n;
  state ^= (state << 17n) & mask;
  return state;
}

/** The high half of a product XOR the low one. */
export const fold = (a, b) => ((a * b) >> 64n) ^ ((a * b) & mask);
const rotl = (v, s) => ((v << s) | (v >> (64n - s))) & mask;
const parity = (v) => [...v.toString(2)].filter((c) => c === '1').length % 2;

/** The lower and the upper word, signed. */
export const halves = (v) => [Number(BigInt.asIntN(32, v)), Number(BigInt.asIntN(32, v >> 32n))];

function factor(j) {
  if (j === 0n) return 1n;
  let z = (j * golden) & mask;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
  return z ^ (z >> 31n) | 1n;
}

function layersOf({ w, wide, starts }) {
  return starts.map((T) => {
    const width = T < 2048 ? 64 : w;
    const [B, ...thresholds] = T < 2048 ? [32, 0, 6, 13, 32] : w === 64 ? [128, 0, 17, 38, 128]
      : T < 49152 ? [256, 0, 20, 51, 256] : [512, 0, 41, 102, 512];
    const slots = T + width * Math.ceil(T / 2 ** 18), wider = Math.ceil((slots / 64) * wide / 1024);
    return { T, width, B, thresholds, wider, blocks: slots / 64, buckets: Math.ceil(T / B) };
  });
}

/** What docs/format/ribbon.md says about a key: its value, or -1 if it is absent. */
export function answer(shape, sections, hi, lo) {
  const { r, value_bits: values, seed, tail, tail_seed } = shape, columns = values + r;
  if (values) lo &= ~0xffffffffn;
  const word = (i, at) => BigInt(sections[i][2 * at]) | BigInt(sections[i][2 * at + 1]) << 32n;
  const bit = (i, at) => Number(word(i, Math.floor(at / 64)) >> BigInt(at % 64) & 1n);
  const x = hi ^ lo, c = fold(x, 0x71bf41d65460b8e9n), d = fold(x, 0x04666d532545ae33n);
  const print = fold(x, 0x50a89a3be7770cbfn);
  const decide = (fingerprints, of) => {
    for (let k = 0; k < fingerprints; k++) if (of(values + k) !== Number(print >> BigInt(k) & 1n)) return -1;
    return Array.from({ length: values }, (_, k) => of(k) * 2 ** k).reduce((a, b) => a + b, 0);
  };
  let first = 0, bucket = 0;
  for (const [i, { T, width, B, thresholds, wider, blocks, buckets }] of layersOf(shape).entries()) {
    const j = BigInt(i + 16 * seed), t = Number(((hi * factor(j)) & mask) * BigInt(T) >> 64n);
    const at = 2 * (bucket + Math.floor(t / B));
    if (t % B >= thresholds[bit(1, at) + 2 * bit(1, at + 1)]) {
      const turn = 11n * j % 64n, s = t + width * Math.floor(t / 2 ** 18), b = Math.floor(s / 64);
      const row = (rotl(c, turn) | 1n | (width > 64 ? rotl(d, turn) << 64n : 0n)) << BigInt(s % 64);
      assert.ok(b + width / 64 < blocks, 'the window is in the layer');
      return decide(r + (b + width / 64 < wider), (k) => {
        let sum = 0;
        for (let n = 0; n <= width / 64; n++) {
          const at = first + (b + n) * columns + Math.min(b + n, wider) + k;
          sum ^= parity(word(0, at) & (row >> BigInt(64 * n)) & mask);
        }
        return sum;
      });
    }
    first += blocks * columns + wider;
    bucket += buckets;
  }
  return decide(columns - values + (shape.wide > 0), (k) => {
    let sum = 0;
    for (let at = 0; at < tail; at++) {
      const salt = (BigInt(4 * tail_seed + (at >> 6) + 1) * golden) & mask;
      const word = fold(fold(x ^ salt, 0x7ea8b4433010cd85n) ^ hi, 0x80b5ac432cbdf5c9n);
      sum ^= bit(2, k * tail + at) & Number(word >> BigInt(at % 64) & 1n);
    }
    return sum;
  });
}

/** Returns the numbers of bits of the sections. */
export function bitsOf(shape) {
  const columns = shape.value_bits + shape.r, layers = layersOf(shape);
  const sum = (f) => layers.reduce((n, layer) => n + f(layer), 0);
  return [
    64 * sum((l) => l.blocks * columns + l.wider), 2 * sum((l) => l.buckets), shape.tail * (columns + (shape.wide > 0)),
  ];
}

/** Returns sections of random bits. */
export function randomSections(shape) {
  return bitsOf(shape).map((bits) => {
    const words = Uint32Array.from({ length: 2 * Math.ceil(bits / 64) }, () => Number(random() >> 32n));
    for (let at = bits; at < 32 * words.length; at++) words[at >> 5] &= ~(1 << (at & 31));
    return words;
  });
}

/** A shape without slots. */
export const small = { r: 2, value_bits: 0, w: 64, wide: 0, seed: 0, starts: [], tail: 0, tail_seed: 0 };
