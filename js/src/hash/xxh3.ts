// XXH3-128 with a seed (Y. Collet), on words of 32 bits. The secret is combined with the seed once.

import type { HashFunction } from '../types.js';
import { add, carry, fold, int, mul, mulHigh, mulLow, product } from '../wide.js';

const { imul } = Math;

/** The default secret of 192 bytes. */
const secret = /* @__PURE__ */ (() =>
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
  mulLow(l ^ (h >>> 5), h, 0x9e3779f9, 0x16566791);
  out[at] = product[0] ^ product[1];
  out[at + 1] = product[1];
}

/** XXH64's last mix. */
export function avalanche64(l: number, h: number, out: Int32Array, at: number): void {
  times(l ^ (h >>> 1), h, 2);
  const x = product[0], y = product[1];
  times(x ^ ((x >>> 29) | (y << 3)), y ^ (y >>> 29), 3);
  out[at] = product[0] ^ product[1];
  out[at + 1] = product[1];
}

/** Adds 16 bytes of v from i on and 16 from j on to acc, each mixed with 16 bytes of s and the other unmixed. */
function mix(v: DataView, i: number, j: number, s: DataView, k: number): void {
  for (let half = 0; half < 4; half += 2) {
    const x = int(v, j), y = int(v, j + 4), l = (x + int(v, j + 8)) | 0;
    const h = y + int(v, j + 12) + carry(l, x);
    fold(
      int(v, i) ^ int(s, k), int(v, i + 4) ^ int(s, k + 4),
      int(v, i + 8) ^ int(s, k + 8), int(v, i + 12) ^ int(s, k + 12),
    );
    const a = acc[half], sum = (a + product[0]) | 0;
    acc[half + 1] = (acc[half + 1] + product[1] + carry(sum, a)) ^ h;
    acc[half] = sum ^ l;
    const t = i;
    i = j;
    j = t;
    k += 16;
  }
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

/** Reverses the bytes of a word. */
function swap(x: number): number {
  return (x << 24) | ((x & 0xff00) << 8) | ((x >>> 8) & 0xff00) | (x >>> 24);
}

/** Returns XXH3-128 with a seed of 0 to 2^64-1. */
export function xxh3(seed: bigint): HashFunction {
  // Of 129 to 240 bytes: the secret from bytes 3 and 103 on, the latter with the negated seed.
  const s = premix(0, 24, seed), s3 = premix(3, 12, seed), s103 = premix(103, 4, -seed);
  const seeds = pack([seed, -seed]), u32 = (n: number) => BigInt(n >>> 0);
  const fold32 = (i: number) => u32(int(secret, i) ^ int(secret, i + 4));
  // Of at most 16 bytes: words of the secret combined with each other, then with the seed.
  const flip = pack([
    fold32(0) + seed, fold32(8) - seed, // 1 to 3 bytes
    (word(16) ^ word(24)) + (seed ^ (u32(swap(int(seeds, 0))) << 32n)), // 4 to 8
    (word(32) ^ word(40)) - seed, (word(48) ^ word(56)) + seed, // 9 to 16
    word(64) ^ word(72) ^ seed, word(80) ^ word(88) ^ seed, // none
  ]);

  const upTo16 = (v: DataView, n: number, out: Int32Array): void => {
    if (n > 8) {
      const h0 = int(v, n - 8), h1 = int(v, n - 4);
      mul(int(v, 0) ^ h0 ^ int(flip, 24), int(v, 4) ^ h1 ^ int(flip, 28), primes[2], primes[3]);
      const l = h0 ^ int(flip, 32);
      acc.set(product);
      acc[1] += (n - 1) << 22;
      // the upper half + (l, h) + l·(prime - 1), where h is the upper word with flip
      add(acc, 2, imul(l, primes[10]), mulHigh(l, primes[10]) + (h1 ^ int(flip, 36)));
      mul(acc[0] ^ swap(acc[3]), acc[1] ^ swap(acc[2]), primes[4], primes[5]);
      const x = product[0], y = product[1], z = product[2], w = product[3];
      times(acc[2], acc[3], 2);
      add(product, 0, z, w);
      avalanche2(x, y, product[0], product[1], out);
    } else if (n > 3) {
      mul(int(v, 0) ^ int(flip, 16), int(v, n - 4) ^ int(flip, 20), primes[2] + (n << 2), primes[3]);
      let l = product[0], h = product[1];
      add(product, 2, l << 1, (h << 1) | (l >>> 31));
      const z = product[2], w = product[3];
      l ^= (z >>> 3) | (w << 29);
      h ^= w >>> 3;
      mulLow(l ^ (h >>> 3), h, 0x1e98df25, 0x9fb21c65);
      l = product[0];
      h = product[1];
      avalanche(z, w, out, 2);
      out[0] = l ^ ((l >>> 28) | (h << 4));
      out[1] = h ^ (h >>> 28);
    } else {
      const c = n && (v.getUint8(0) << 16) | (v.getUint8(n >> 1) << 24) | v.getUint8(n - 1) | (n << 8), r = swap(c);
      const k = n ? 0 : 40;
      avalanche64(c ^ int(flip, k), int(flip, k + 4), out, 0);
      avalanche64(((r << 13) | (r >>> 19)) ^ int(flip, k + 8), int(flip, k + 12), out, 2);
    }
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
    if (n < 17) return upTo16(v, n, out);
    if (n > 240) return long(v, n, out);
    times(n, 0, 1);
    acc[0] = product[0];
    acc[1] = product[1];
    acc[2] = acc[3] = 0;
    if (n > 128) {
      for (let i = 0; i < 128; i += 32) mix(v, i, i + 16, s, i);
      avalanche2(acc[0], acc[1], acc[2], acc[3], acc);
      for (let i = 128; i + 32 <= n; i += 32) mix(v, i, i + 16, s3, i - 128);
      mix(v, n - 16, n - 32, s103, 0);
    } else {
      for (let i = (n - 1) >> 5; i >= 0; i--) mix(v, 16 * i, n - 16 - 16 * i, s, 32 * i);
    }
    const l = acc[0], h = acc[1], x = acc[2], y = acc[3], t = (n + int(seeds, 8)) | 0, sum = (l + x) | 0;
    times(l, h, 1);
    const p = product[0], q = product[1];
    times(x, y, 4);
    const p2 = (p + product[0]) | 0, q2 = (q + product[1] + carry(p2, p)) | 0;
    times(t, int(seeds, 12) + carry(t, n), 2);
    const p3 = (p2 + product[0]) | 0;
    avalanche2(sum, h + y + carry(sum, x), p3, q2 + product[1] + carry(p3, p2), out);
    out[3] = ~out[3] + (out[2] ? 0 : 1);
    out[2] = -out[2];
  };
}

function avalanche2(l: number, h: number, x: number, y: number, out: Int32Array): void {
  avalanche(l, h, out, 0);
  avalanche(x, y, out, 2);
}
