// XXH3-128 with a seed (Y. Collet), on words of 32 bits. The secret is combined with the seed once.

import type { HashFunction } from '../types.js';
import { add, carry, fold, mul, mulHigh, mulLow, product } from '../wide.js';

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

/** Sets product to the lower half of (l, h) times 64-bit prime number i, 1 to 5. */
export function times(l: number, h: number, i: number): void {
  if (i === 5) i = 6;
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
    const x = v.getInt32(j, true), y = v.getInt32(j + 4, true), l = (x + v.getInt32(j + 8, true)) | 0;
    const h = y + v.getInt32(j + 12, true) + carry(l, x);
    fold(
      v.getInt32(i, true) ^ s.getInt32(k, true), v.getInt32(i + 4, true) ^ s.getInt32(k + 4, true),
      v.getInt32(i + 8, true) ^ s.getInt32(k + 8, true), v.getInt32(i + 12, true) ^ s.getInt32(k + 12, true),
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

/** Returns n bytes of the secret from byte at on, with (l, h) added to and subtracted from 64-bit words in turn. */
function premix(at: number, n: number, l: number, h: number): DataView {
  const out = new DataView(new ArrayBuffer(n)), w = new Int32Array(2);
  for (let i = 0; i < n; i += 8) {
    w[0] = secret.getInt32(at + i, true);
    w[1] = secret.getInt32(at + i + 4, true);
    if (i & 8) add(w, 0, -l | 0, ~h + (l ? 0 : 1));
    else add(w, 0, l, h);
    out.setInt32(i, w[0], true);
    out.setInt32(i + 4, w[1], true);
  }
  return out;
}

/** Reverses the bytes of a word. */
function swap(x: number): number {
  return (x << 24) | ((x & 0xff00) << 8) | ((x >>> 8) & 0xff00) | (x >>> 24);
}

/** Returns XXH3-128 with a seed of 0 to 2^64-1. */
export function xxh3(seed: bigint): HashFunction {
  const sl = Number(BigInt.asIntN(32, seed)), sh = Number(BigInt.asIntN(32, seed >> 32n));
  const nl = -sl | 0, nh = (~sh + (sl ? 0 : 1)) | 0; // -seed
  // Of 129 to 240 bytes: the secret from bytes 3 and 103 on, the latter with the negated seed.
  const s = premix(0, 192, sl, sh), s3 = premix(3, 96, sl, sh), s103 = premix(103, 32, nl, nh);
  /** Of at most 16 bytes: words of the secret combined with each other, then with the seed. */
  const flip = new Int32Array(14);
  const combine = (at: number, i: number, j: number, l: number, h: number) => {
    flip[at] = secret.getInt32(i, true) ^ secret.getInt32(i + j, true);
    if (j > 4) flip[at + 1] = secret.getInt32(i + 4, true) ^ secret.getInt32(i + j + 4, true);
    add(flip, at, l, h);
  };
  combine(0, 0, 4, sl, sh); // 1 to 3 bytes
  combine(2, 8, 4, nl, nh);
  combine(4, 16, 8, sl, sh ^ swap(sl)); // 4 to 8
  combine(6, 32, 8, nl, nh); // 9 to 16
  combine(8, 48, 8, sl, sh);
  for (const at of [10, 12]) { // none
    combine(at, 8 * at - 16, 8, 0, 0);
    flip[at] ^= sl;
    flip[at + 1] ^= sh;
  }

  const upTo16 = (v: DataView, n: number, out: Int32Array): void => {
    if (n > 8) {
      const h0 = v.getInt32(n - 8, true), h1 = v.getInt32(n - 4, true);
      mul(v.getInt32(0, true) ^ h0 ^ flip[6], v.getInt32(4, true) ^ h1 ^ flip[7], primes[2], primes[3]);
      const l = h0 ^ flip[8];
      acc.set(product);
      acc[1] += (n - 1) << 22;
      // the upper half + (l, h) + l·(prime - 1), where h is the upper word with flip
      add(acc, 2, imul(l, primes[10]), mulHigh(l, primes[10]) + (h1 ^ flip[9]));
      mul(acc[0] ^ swap(acc[3]), acc[1] ^ swap(acc[2]), primes[4], primes[5]);
      const x = product[0], y = product[1], z = product[2], w = product[3];
      times(acc[2], acc[3], 2);
      add(product, 0, z, w);
      avalanche2(x, y, product[0], product[1], out);
    } else if (n > 3) {
      mul(v.getInt32(0, true) ^ flip[4], v.getInt32(n - 4, true) ^ flip[5], primes[2] + (n << 2), primes[3]);
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
      const k = n ? 0 : 10;
      avalanche64(c ^ flip[k], flip[k + 1], out, 0);
      avalanche64(((r << 13) | (r >>> 19)) ^ flip[k + 2], flip[k + 3], out, 2);
    }
  };

  /** Adds a stripe of 64 bytes, combined with the secret from byte k on. */
  const stripe = (v: DataView, at: number, k: number): void => {
    for (let i = 0; i < 16; i += 2, at += 8, k += 8) {
      const l = v.getInt32(at, true), h = v.getInt32(at + 4, true);
      const x = l ^ s.getInt32(k, true), y = h ^ s.getInt32(k + 4, true);
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
        stripes[i] ^ s.getInt32(k, true), stripes[i + 1] ^ s.getInt32(k + 4, true),
        stripes[i + 2] ^ s.getInt32(k + 8, true), stripes[i + 3] ^ s.getInt32(k + 12, true),
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
        mulLow(l ^ (h >>> 15) ^ s.getInt32(128 + 4 * i, true), h ^ s.getInt32(132 + 4 * i, true), primes[14], 0);
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
    const l = acc[0], h = acc[1], x = acc[2], y = acc[3], t = (n + nl) | 0, sum = (l + x) | 0;
    mulLow(l, h, primes[2], primes[3]);
    const p = product[0], q = product[1];
    mulLow(x, y, primes[8], primes[9]);
    const p2 = (p + product[0]) | 0, q2 = (q + product[1] + carry(p2, p)) | 0;
    mulLow(t, nh + carry(t, n), primes[4], primes[5]);
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
