// XXH3-128 with a seed (Y. Collet), on words of 32 bits. The secret is combined with the seed once.

import type { HashFunction } from '../types.js';
import { above, add, carry, fold, int, mul, mulHigh, mulLow, mulUpper, product } from '../wide.js';

const { imul } = Math;

/** V8 treats an array of the same module as a constant, but not an imported one. */
const p = product;

/** The default secret of 192 bytes. Tests use it. */
export const secret = /* @__PURE__ */ (() =>
  new DataView(Uint8Array.from(atob(
    'uP5sOSOkS758AYEs9yGtHN7UbemDkJfbckCkpLezZx/LeeZOzMDleIJa0H3M/3IhuAhGdPdDJI7gNZDmgTomTDwoUruRwwDLiNBlixtTLqNxZEiX' +
    'og35TjgZ70ap3qzYqPp2P+OcND/53LvHxwtPHYpR4EvNtFkxyJ9+ydl4c2TqxayDNNPrw8WBoP/6E2PrFw3dUbfw2knTFlUmKdRonisWvlh9R6H8' +
    'j/i40XrQMc5FyzqPlRYEKK/X+8q7S0B+',
  ), (c) => c.charCodeAt(0)).buffer))();

/** Primes by low and high word, in the order of the start of long keys: 32-bit prime 3, 64-bit 1 to 4, 2, 5 and 1. */
const primes = /* @__PURE__ */ Int32Array.of(
  0xc2b2ae3d, 0, 0x85ebca87, 0x9e3779b1, 0x27d4eb4f, 0xc2b2ae3d, 0x9e3779f9, 0x165667b1,
  0xc2b2ae63, 0x85ebca77, 0x85ebca77, 0, 0x165667c5, 0x27d4eb2f, 0x9e3779b1, 0,
);

/** Sets product to the lower half of (l, h) times a 64-bit prime: number i of 1 to 4, or for i = 6 the fifth. */
export function times(l: number, h: number, i: number): void {
  mulLow(l, h, primes[2 * i], primes[2 * i + 1]);
}

/** The sum of 17 to 240 bytes, or of stripes: the low and high word of its lower and of its upper half. */
const acc = new Int32Array(4);
const stripes = new Int32Array(16);

/** XXH3's last mix of 64 bits, into words at and at+1 of out. */
function avalanche(l: number, h: number, out: Int32Array, at: number): void {
  // times 0x165667919e3779f9: mulUpper, with less to inline
  const x = l ^ (h >>> 5), a = x & 0xffff, b = x >>> 16, t = b * 0x79f9 + ((a * 0x79f9) >>> 16);
  const u = b * 0x9e37 + (t >>> 16) + ((a * 0x9e37 + (t & 0xffff)) >>> 16) + imul(x, 0x16566791) + imul(h, 0x9e3779f9);
  out[at] = imul(x, 0x9e3779f9) ^ u;
  out[at + 1] = u;
}

/** XXH64's last mix. */
export function avalanche64(l: number, h: number, out: Int32Array, at: number): void {
  times(l ^ (h >>> 1), h, 2);
  const x = product[0], y = product[1];
  times(x ^ ((x >>> 29) | (y << 3)), y ^ (y >>> 29), 3);
  out[at] = product[0] ^ product[1];
  out[at + 1] = product[1];
}

/** Adds 16 bytes of v from i on and 16 from j on to acc, each mixed with 4 words of s and the other unmixed. */
function mix(v: DataView, i: number, j: number, s: Int32Array, k: number): void {
  // Long enough not to be inlined: fold is inlined here.
  const al = int(v, i), ah = int(v, i + 4), bl = int(v, i + 8), bh = int(v, i + 12);
  const cl = int(v, j), ch = int(v, j + 4), dl = int(v, j + 8), dh = int(v, j + 12);
  fold(al ^ s[k], ah ^ s[k + 1], bl ^ s[k + 2], bh ^ s[k + 3]);
  const cd = (cl + dl) | 0, x = p[0], sum = (acc[0] + x) | 0;
  acc[1] = (acc[1] + p[1] + carry(sum, x)) ^ (ch + dh + carry(cd, cl));
  acc[0] = sum ^ cd;
  fold(cl ^ s[k + 4], ch ^ s[k + 5], dl ^ s[k + 6], dh ^ s[k + 7]);
  const ab = (al + bl) | 0, y = p[0], sum2 = (acc[2] + y) | 0;
  acc[3] = (acc[3] + p[1] + carry(sum2, y)) ^ (ah + bh + carry(ab, al));
  acc[2] = sum2 ^ ab;
}

/** Word i of the secret, of 64 bits from any byte on. */
const word = (i: number) => secret.getBigUint64(i, true);

/** Returns numbers, modulo 2^64, one after the other. */
function pack(numbers: bigint[]): DataView {
  const v = new DataView(new ArrayBuffer(8 * numbers.length));
  numbers.forEach((n, i) => v.setBigUint64(8 * i, n, true));
  return v;
}

/** Returns n words of the secret from byte at on, with the seed added to and subtracted from them in turn. */
const premix = (at: number, n: number, seed: bigint) =>
  pack(Array.from({ length: n }, (_, i) => word(at + 8 * i) + (i & 1 ? -seed : seed)));

/** Returns the words of a view. */
const wordsOf = (v: DataView) => Int32Array.from({ length: v.byteLength / 4 }, (_, i) => int(v, 4 * i));

/** Reverses the bytes of a word. */
function swap(x: number): number {
  return (x << 24) | ((x & 0xff00) << 8) | ((x >>> 8) & 0xff00) | (x >>> 24);
}

/** Returns XXH3-128 with a seed of 0 to 2^64-1. */
export function xxh3(seed: bigint): HashFunction {
  // Of 129 to 240 bytes: the secret from bytes 3 and 103 on, the latter with the negated seed.
  const s = premix(0, 24, seed), sw = wordsOf(s);
  const s3 = wordsOf(premix(3, 12, seed)), s103 = wordsOf(premix(103, 4, -seed));
  const seeds = wordsOf(pack([seed, -seed])), u32 = (n: number) => BigInt(n >>> 0);
  const fold32 = (i: number) => u32(int(secret, i) ^ int(secret, i + 4));
  // Of at most 16 bytes: words of the secret combined with each other, then with the seed.
  const flip = wordsOf(pack([
    fold32(0) + seed, fold32(8) - seed, // 1 to 3 bytes
    (word(16) ^ word(24)) + (seed ^ (u32(swap(seeds[0])) << 32n)), // 4 to 8
    (word(32) ^ word(40)) - seed, (word(48) ^ word(56)) + seed, // 9 to 16
    word(64) ^ word(72) ^ seed, word(80) ^ word(88) ^ seed, // none
  ]));

  const upTo8 = (v: DataView, n: number, out: Int32Array): void => {
    if (n > 3) {
      mul(int(v, 0) ^ flip[4], int(v, n - 4) ^ flip[5], 0x85ebca87 + (n << 2), 0x9e3779b1);
      const l = p[0], h = p[1], x = l << 1, z = (p[2] + x) | 0;
      const w = (p[3] + ((h << 1) | (l >>> 31)) + carry(z, x)) | 0;
      const b = h ^ (w >>> 3), a = l ^ ((z >>> 3) | (w << 29)) ^ (b >>> 3);
      const c = imul(a, 0x1e98df25), u = mulUpper(a, b, 0x1e98df25, 0x9fb21c65);
      avalanche(z, w, out, 2);
      out[0] = c ^ ((c >>> 28) | (u << 4));
      out[1] = u ^ (u >>> 28);
    } else {
      const c = n && (v.getUint8(0) << 16) | (v.getUint8(n >> 1) << 24) | v.getUint8(n - 1) | (n << 8), r = swap(c);
      const k = n ? 0 : 10;
      avalanche64(c ^ flip[k], flip[k + 1], out, 0);
      avalanche64(((r << 13) | (r >>> 19)) ^ flip[k + 2], flip[k + 3], out, 2);
    }
  };

  const upTo16 = (v: DataView, n: number, out: Int32Array): void => {
    const l = int(v, n - 8), h = int(v, n - 4), a = l ^ flip[8], b = imul(a, 0x85ebca77);
    mul(int(v, 0) ^ l ^ flip[6], int(v, 4) ^ h ^ flip[7], 0x85ebca87, 0x9e3779b1);
    // the upper half + (a, h) + a·(prime - 1), where h is combined with flip
    const z = (p[2] + b) | 0, w = (p[3] + above((a >>> 0) * 0x85ebca77, b) + (h ^ flip[9]) + carry(z, b)) | 0;
    mul(p[0] ^ swap(w), (p[1] + ((n - 1) << 22)) ^ swap(z), 0x27d4eb4f, 0xc2b2ae3d);
    const c = imul(z, 0x27d4eb4f), x = (p[2] + c) | 0;
    const y = p[3] + above((z >>> 0) * 0x27d4eb4f, c) + imul(z, 0xc2b2ae3d) + imul(w, 0x27d4eb4f) + carry(x, c);
    avalanche(x, y, out, 2);
    avalanche(p[0], p[1], out, 0);
  };

  /** Adds a stripe of 64 bytes, combined with the secret from byte k on. */
  const stripe = (v: DataView, at: number, k: number): void => {
    for (let i = 0; i < 16; i += 2, at += 8, k += 8) {
      const l = int(v, at), h = int(v, at + 4);
      const x = l ^ int(s, k), y = h ^ int(s, k + 4);
      add(stripes, i ^ 2, l, h);
      add(stripes, i, imul(x, y), mulHigh(x, y));
    }
  };

  /** Sums the stripes into one half of the result, from the sum's start in product, or its complement. */
  const merge = (k: number, flips: number, out: Int32Array, at: number): void => {
    acc[0] = product[0] ^ flips;
    acc[1] = product[1] ^ flips;
    for (let i = 0; i < 16; i += 4, k += 16) {
      fold(
        stripes[i] ^ int(s, k), stripes[i + 1] ^ int(s, k + 4),
        stripes[i + 2] ^ int(s, k + 8), stripes[i + 3] ^ int(s, k + 12),
      );
      add(acc, 0, product[0], product[1]);
    }
    avalanche(acc[0], acc[1], out, at);
  };

  const long = (v: DataView, n: number, out: Int32Array): void => {
    stripes.set(primes);
    for (let at = 0, k = 0; at + 64 < n; at += 64) {
      stripe(v, at, k);
      if ((k += 8) < 128) continue;
      k = 0; // 16 stripes are a block
      for (let i = 0; i < 16; i += 2) {
        const l = stripes[i], h = stripes[i + 1];
        mulLow(l ^ (h >>> 15) ^ int(s, 128 + 4 * i), h ^ int(s, 132 + 4 * i), primes[14], 0);
        stripes[i] = product[0];
        stripes[i + 1] = product[1];
      }
    }
    stripe(v, n - 64, 121);
    times(n | 0, (n / 2 ** 32) | 0, 1);
    merge(11, 0, out, 0);
    times(n | 0, (n / 2 ** 32) | 0, 2);
    merge(117, -1, out, 2);
  };

  return (v, n, out) => {
    if (n < 9) return upTo8(v, n, out);
    if (n < 17) return upTo16(v, n, out);
    if (n > 240) return long(v, n, out);
    acc[0] = imul(n, 0x85ebca87);
    acc[1] = imul(n, 0x9e3779b1) + Math.floor((n * 0x85ebca87) / 2 ** 32);
    acc[2] = acc[3] = 0;
    if (n > 128) {
      for (let i = 0; i < 128; i += 32) mix(v, i, i + 16, sw, i / 4);
      avalanche2(acc[0], acc[1], acc[2], acc[3], acc);
      for (let i = 128; i + 32 <= n; i += 32) mix(v, i, i + 16, s3, (i - 128) / 4);
      mix(v, n - 16, n - 32, s103, 0);
    } else {
      for (let i = (n - 1) >> 5; i >= 0; i--) mix(v, 16 * i, n - 16 - 16 * i, sw, 8 * i);
    }
    const l = acc[0], h = acc[1], x = acc[2], y = acc[3], t = (n + seeds[2]) | 0, sum = (l + x) | 0;
    // the lower half · prime 1 + the upper half · prime 4 + (n - seed) · prime 2
    const a = imul(l, 0x85ebca87), b = imul(x, 0xc2b2ae63), c = imul(t, 0x27d4eb4f);
    const ab = (a + b) | 0, low = (ab + c) | 0;
    const upper = mulUpper(l, h, 0x85ebca87, 0x9e3779b1) + mulUpper(x, y, 0xc2b2ae63, 0x85ebca77) +
      mulUpper(t, seeds[3] + carry(t, n), 0x27d4eb4f, 0xc2b2ae3d) + carry(ab, a) + carry(low, c);
    avalanche2(sum, h + y + carry(sum, x), low, upper, out);
    out[3] = ~out[3] + (out[2] ? 0 : 1);
    out[2] = -out[2];
  };
}

function avalanche2(l: number, h: number, x: number, y: number, out: Int32Array): void {
  avalanche(l, h, out, 0);
  avalanche(x, y, out, 2);
}
