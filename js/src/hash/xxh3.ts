// XXH3-128 with a seed (Y. Collet), on words of 32 bits. The secret is combined with the seed once.

import type { HashFunction } from '../types.js';
import { add, carry, fold, mul, mulHigh, mulLow, product } from '../wide.js';

const { imul } = Math;

// The default secret, and primes by their low and high word.
const secret =
  'uP5sOSOkS758AYEs9yGtHN7UbemDkJfbckCkpLezZx/LeeZOzMDleIJa0H3M/3IhuAhGdPdDJI7gNZDmgTomTDwoUruRwwDLiNBlixtTLqNxZEiX' +
  'og35TjgZ70ap3qzYqPp2P+OcND/53LvHxwtPHYpR4EvNtFkxyJ9+ydl4c2TqxayDNNPrw8WBoP/6E2PrFw3dUbfw2knTFlUmKdRonisWvlh9R6H8' +
  'j/i40XrQMc5FyzqPlRYEKK/X+8q7S0B+';
export const a1 = 0x85ebca87 | 0, b1 = 0x9e3779b1 | 0; // 64-bit prime 1
export const a2 = 0x27d4eb4f | 0, b2 = 0xc2b2ae3d | 0;
export const a3 = 0x9e3779f9 | 0, b3 = 0x165667b1 | 0;
export const a4 = 0xc2b2ae63 | 0, b4 = 0x85ebca77 | 0;
export const a5 = 0x165667c5 | 0, b5 = 0x27d4eb2f | 0;
const c1 = 0x9e3779b1 | 0, c2 = 0x85ebca77 | 0, c3 = 0xc2b2ae3d | 0; // 32-bit primes

/** The sum of 17 to 240 bytes, or the stripes' merged: the low and high word of its lower and of its upper half. */
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
  mulLow(l ^ (h >>> 1), h, a2, b2);
  const x = product[0], y = product[1];
  mulLow(x ^ ((x >>> 29) | (y << 3)), y ^ (y >>> 29), a3, b3);
  out[at] = product[0] ^ product[1];
  out[at + 1] = product[1];
}

/** Adds 16 bytes of v, mixed with four words of the secret s, to one half of acc, and then 16 others unmixed. */
function mix(half: number, v: DataView, i: number, j: number, s: Int32Array, k: number): void {
  fold(
    v.getInt32(i, true) ^ s[k], v.getInt32(i + 4, true) ^ s[k + 1],
    v.getInt32(i + 8, true) ^ s[k + 2], v.getInt32(i + 12, true) ^ s[k + 3],
  );
  add(acc, half, product[0], product[1]);
  const p = v.getInt32(j, true), l = (p + v.getInt32(j + 8, true)) | 0;
  acc[half] ^= l;
  acc[half + 1] ^= v.getInt32(j + 4, true) + v.getInt32(j + 12, true) + carry(l, p);
}

function mix32(v: DataView, i: number, j: number, s: Int32Array, k: number): void {
  mix(0, v, i, j, s, k);
  mix(2, v, j, i, s, k + 4);
}

/** Returns n words of 64 bits of the secret from byte at on, with the seed (l, h) added to and subtracted in turn. */
function premix(at: number, n: number, l: number, h: number): Int32Array {
  const s = new Int32Array(2 * n);
  for (let i = 0; i < 2 * n; i++) {
    for (let j = 3; j >= 0; j--) s[i] = (s[i] << 8) | secretBytes.charCodeAt(at + 4 * i + j);
  }
  for (let i = 0; i < 2 * n; i += 4) {
    add(s, i, l, h);
    add(s, i + 2, -l, ~h + (l ? 0 : 1));
  }
  return s;
}

const secretBytes = /* @__PURE__ */ atob(secret);

/** Returns XXH3-128 with a seed of 0 to 2^64-1. */
export function xxh3(seed: bigint): HashFunction {
  const sl = Number(BigInt.asIntN(32, seed)), sh = Number(BigInt.asIntN(32, seed >> 32n));
  const s = premix(0, 24, sl, sh);
  // Of 129 to 240 bytes: the secret from bytes 3 and 103 on, the latter with the negated seed.
  const s3 = premix(3, 12, sl, sh), s103 = premix(103, 4, -sl | 0, (~sh + (sl ? 0 : 1)) | 0);
  const plain = premix(0, 12, 0, 0);
  const words = new DataView(new ArrayBuffer(192));
  s.forEach((w, i) => words.setInt32(4 * i, w, true));
  // Of at most 16 bytes: words of the secret combined with each other, then with the seed.
  const flip = new Int32Array(12);
  const x = (at: number, i: number, j: number) => {
    flip[at] = plain[i] ^ plain[j];
    flip[at + 1] = plain[i + 1] ^ plain[j + 1];
  };
  const nl = -sl | 0, nh = ~sh + (sl ? 0 : 1);
  flip[0] = plain[0] ^ plain[1]; // 1 to 3 bytes
  add(flip, 0, sl, sh);
  flip[2] = plain[2] ^ plain[3];
  add(flip, 2, nl, nh);
  x(4, 4, 6); // 4 to 8 bytes
  add(flip, 4, sl, sh ^ swap(sl));
  x(6, 8, 10); // 9 to 16 bytes
  add(flip, 6, nl, nh);
  x(8, 12, 14);
  add(flip, 8, sl, sh);

  const upTo16 = (v: DataView, n: number, out: Int32Array): void => {
    if (n > 8) {
      const h0 = v.getInt32(n - 8, true), h1 = v.getInt32(n - 4, true);
      mul(v.getInt32(0, true) ^ h0 ^ flip[6], v.getInt32(4, true) ^ h1 ^ flip[7], a1, b1);
      const p0 = product[0], p1 = (product[1] + ((n - 1) << 22)) | 0;
      const l = h0 ^ flip[8], h = h1 ^ flip[9];
      // product's upper half + (l, h) + l·(prime - 1)
      const m0 = imul(l, c2), m1 = (mulHigh(l, c2) + h) | 0;
      const q0 = (product[2] + m0) | 0, q1 = (product[3] + m1 + carry(q0, m0)) | 0;
      mul(p0 ^ swap(q1), p1 ^ swap(q0), a2, b2);
      const r0 = product[0], r1 = product[1], r2 = product[2], r3 = product[3];
      mulLow(q0, q1, a2, b2);
      const t0 = (r2 + product[0]) | 0, t1 = (r3 + product[1] + carry(t0, r2)) | 0;
      avalanche(r0, r1, out, 0);
      avalanche(t0, t1, out, 2);
    } else if (n > 3) {
      mul(v.getInt32(0, true) ^ flip[4], v.getInt32(n - 4, true) ^ flip[5], a1 + (n << 2), b1);
      let p0 = product[0], p1 = product[1];
      const d0 = p0 << 1, q0 = (product[2] + d0) | 0;
      const q1 = (product[3] + ((p1 << 1) | (p0 >>> 31)) + carry(q0, d0)) | 0;
      p0 ^= (q0 >>> 3) | (q1 << 29);
      p1 ^= q1 >>> 3;
      mulLow(p0 ^ (p1 >>> 3), p1, 0x1e98df25, 0x9fb21c65);
      p0 = product[0];
      p1 = product[1];
      out[0] = p0 ^ ((p0 >>> 28) | (p1 << 4));
      out[1] = p1 ^ (p1 >>> 28);
      avalanche(q0, q1, out, 2);
    } else if (n > 0) {
      const first = v.getUint8(0), last = v.getUint8(n - 1);
      const c = (first << 16) | (v.getUint8(n >> 1) << 24) | last | (n << 8), r = swap(c);
      avalanche64(c ^ flip[0], flip[1], out, 0);
      avalanche64(((r << 13) | (r >>> 19)) ^ flip[2], flip[3], out, 2);
    } else {
      avalanche64(sl ^ plain[16] ^ plain[18], sh ^ plain[17] ^ plain[19], out, 0);
      avalanche64(sl ^ plain[20] ^ plain[22], sh ^ plain[21] ^ plain[23], out, 2);
    }
  };

  const finish = (n: number, out: Int32Array): void => {
    const l0 = acc[0], l1 = acc[1], h0 = acc[2], h1 = acc[3];
    const r0 = (l0 + h0) | 0;
    avalanche(r0, (l1 + h1 + carry(r0, h0)) | 0, out, 0);
    mulLow(l0, l1, a1, b1);
    acc[0] = product[0];
    acc[1] = product[1];
    mulLow(h0, h1, a4, b4);
    add(acc, 0, product[0], product[1]);
    const t = (n + nl) | 0;
    mulLow(t, (nh + carry(t, n)) | 0, a2, b2);
    add(acc, 0, product[0], product[1]);
    avalanche(acc[0], acc[1], out, 2);
    negate(out);
  };

  const upTo240 = (v: DataView, n: number): void => {
    for (let i = 0; i < 128; i += 32) mix32(v, i, i + 16, s, i >> 2);
    avalanche(acc[0], acc[1], acc, 0);
    avalanche(acc[2], acc[3], acc, 2);
    for (let i = 128; i + 32 <= n; i += 32) mix32(v, i, i + 16, s3, (i - 128) >> 2);
    mix32(v, n - 16, n - 32, s103, 0);
  };

  /** Adds a stripe of 64 bytes, combined with the secret from byte k on. */
  const stripe = (v: DataView, at: number, k: number): void => {
    for (let i = 0; i < 64; i += 8) {
      const l = v.getInt32(at + i, true), h = v.getInt32(at + i + 4, true);
      const x = l ^ words.getInt32(k + i, true), y = h ^ words.getInt32(k + i + 4, true);
      add(stripes, (i >> 2) ^ 2, l, h);
      add(stripes, i >> 2, imul(x, y), mulHigh(x, y));
    }
  };

  /** Sums the stripes into one half of the result. (l, h) is its start. */
  const merge = (k: number, l: number, h: number, out: Int32Array, at: number): void => {
    acc[0] = l;
    acc[1] = h;
    for (let i = 0; i < 16; i += 4, k += 16) {
      fold(
        stripes[i] ^ words.getInt32(k, true), stripes[i + 1] ^ words.getInt32(k + 4, true),
        stripes[i + 2] ^ words.getInt32(k + 8, true), stripes[i + 3] ^ words.getInt32(k + 12, true),
      );
      add(acc, 0, product[0], product[1]);
    }
    avalanche(acc[0], acc[1], out, at);
  };

  const long = (v: DataView, n: number, out: Int32Array): void => {
    stripes.set([c3, 0, a1, b1, a2, b2, a3, b3, a4, b4, c2, 0, a5, b5, c1, 0]);
    let at = 0;
    for (const end = n - 1; at + 64 <= end; at += 64) {
      const k = (at >> 3) & 120; // 16 stripes a block, 8 bytes of the secret for each
      stripe(v, at, k);
      if (k === 120 && at + 64 <= end) scramble();
    }
    stripe(v, n - 64, 121);
    mulLow(n | 0, (n / 0x100000000) | 0, a1, b1);
    merge(11, product[0], product[1], out, 0);
    mulLow(n | 0, (n / 0x100000000) | 0, a2, b2);
    merge(117, ~product[0], ~product[1], out, 2);
  };

  const scramble = (): void => {
    for (let i = 0; i < 16; i += 2) {
      const l = stripes[i], h = stripes[i + 1];
      mulLow(l ^ (h >>> 15) ^ words.getInt32(128 + 4 * i, true), h ^ words.getInt32(132 + 4 * i, true), c1, 0);
      stripes[i] = product[0];
      stripes[i + 1] = product[1];
    }
  };

  return (v, n, out) => {
    if (n < 17) return upTo16(v, n, out);
    if (n > 240) return long(v, n, out);
    mulLow(n, 0, a1, b1);
    acc[0] = product[0];
    acc[1] = product[1];
    acc[2] = acc[3] = 0;
    if (n > 128) {
      upTo240(v, n);
    } else {
      if (n > 32) {
        if (n > 64) {
          if (n > 96) mix32(v, 48, n - 64, s, 24);
          mix32(v, 32, n - 48, s, 16);
        }
        mix32(v, 16, n - 32, s, 8);
      }
      mix32(v, 0, n - 16, s, 0);
    }
    finish(n, out);
  };
}

/** Reverses the bytes of a word. */
function swap(x: number): number {
  return (x << 24) | ((x & 0xff00) << 8) | ((x >>> 8) & 0xff00) | (x >>> 24);
}

/** Negates the upper half of a hash. */
function negate(out: Int32Array): void {
  const l = out[2];
  out[2] = -l;
  out[3] = l ? ~out[3] : -out[3];
}
