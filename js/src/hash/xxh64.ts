// XXH64 with seed 0 (Y. Collet), the hash of Parquet's filters, on words of 32 bits.

import type { HashFunction } from '../types.js';
import { add, mulLow, product, rotate } from '../wide.js';
import { a1, a2, a3, a4, a5, avalanche64, b1, b2, b3, b4, b5 } from './xxh3.js';

/** The number that is computed, then the four lanes. */
const s = new Int32Array(10);

/** Multiplies the number at words at and at+1. */
function times(at: number, l: number, h: number): void {
  mulLow(s[at], s[at + 1], l, h);
  s[at] = product[0];
  s[at + 1] = product[1];
}

/** Adds 64 bits of input to a lane. */
function round(at: number, l: number, h: number): void {
  mulLow(l, h, a2, b2);
  add(s, at, product[0], product[1]);
  rotate(s, at, 31);
  times(at, a1, b1);
}

/** Combines a lane, or 64 bits of input, with the number: round of lane 1, which is free by then. */
function merge(l: number, h: number): void {
  s[2] = s[3] = 0;
  round(2, l, h);
  s[0] ^= s[2];
  s[1] ^= s[3];
}

/** Lo is the hash. Hi is its upper 32 bits, with the lower 32 bits zero. */
export const xxh64: HashFunction = (v, n, out) => {
  let at = 0;
  s.set([a5, b5]);
  if (n >= 32) {
    s.set([a1, b1, a2, b2, 0, 0, -a1, ~b1], 2);
    add(s, 2, a2, b2);
    for (; at + 32 <= n; at += 32) {
      for (let i = 0; i < 32; i += 8) round(2 + (i >> 2), v.getInt32(at + i, true), v.getInt32(at + i + 4, true));
    }
    const lanes = s.slice(2);
    s[0] = s[1] = 0;
    [1, 7, 12, 18].forEach((by, i) => {
      rotate(s, 2 + 2 * i, by);
      add(s, 0, s[2 + 2 * i], s[3 + 2 * i]);
    });
    for (let i = 0; i < 8; i += 2) {
      merge(lanes[i], lanes[i + 1]);
      times(0, a1, b1);
      add(s, 0, a4, b4);
    }
  }
  add(s, 0, n | 0, (n / 0x100000000) | 0);
  for (; at + 8 <= n; at += 8) {
    merge(v.getInt32(at, true), v.getInt32(at + 4, true));
    rotate(s, 0, 27);
    times(0, a1, b1);
    add(s, 0, a4, b4);
  }
  if (at + 4 <= n) {
    mulLow(v.getInt32(at, true), 0, a1, b1);
    s[0] ^= product[0];
    s[1] ^= product[1];
    rotate(s, 0, 23);
    times(0, a2, b2);
    add(s, 0, a3, b3);
    at += 4;
  }
  for (; at < n; at++) {
    mulLow(v.getUint8(at), 0, a5, b5);
    s[0] ^= product[0];
    s[1] ^= product[1];
    rotate(s, 0, 11);
    times(0, a1, b1);
  }
  avalanche64(s[0], s[1], out, 0);
  out[2] = 0;
  out[3] = out[1];
};
