// XXH64 with seed 0 (Y. Collet), the hash of Parquet's filters, on words of 32 bits.

import type { HashFunction } from '../types.js';
import { add, int, product, rotate } from '../wide.js';
import { avalanche64, times } from './xxh3.js';

/** Five numbers: that which is computed, then the four lanes. */
const s = new Int32Array(10);

/** Rotates the number at words at and at+1, multiplies it by prime i, and adds prime j unless that is 0. */
function step(at: number, by: number, i: number, j: number): void {
  rotate(s, at, by);
  times(s[at], s[at + 1], i);
  s[at] = product[0];
  s[at + 1] = product[1];
  plus(at, 1, 0, j);
}

/** Adds (l, h) times prime j, or nothing if j is 0. */
function plus(at: number, l: number, h: number, j: number): void {
  if (!j) return;
  times(l, h, j);
  add(s, at, product[0], product[1]);
}

/** Combines 64 bits of input, or a lane, with the number. Lane 0 is free by then. */
function merge(l: number, h: number): void {
  s[2] = s[3] = 0;
  plus(2, l, h, 2);
  step(2, 31, 1, 0);
  s[0] ^= s[2];
  s[1] ^= s[3];
}

/** Lo is the hash. Hi is its upper 32 bits, with the lower 32 bits zero. */
export const xxh64Sum: HashFunction = (v, n, out) => {
  let at = 0;
  s.fill(0);
  if (n > 31) {
    plus(2, 1, 0, 1);
    plus(2, 1, 0, 2);
    plus(4, 1, 0, 2);
    plus(8, -1, -1, 1);
    for (; at + 32 <= n; at += 32) {
      for (let i = 0; i < 4; i++) {
        plus(2 + 2 * i, int(v, at + 8 * i), int(v, at + 8 * i + 4), 2);
        step(2 + 2 * i, 31, 1, 0);
      }
    }
    const lanes = s.slice();
    [1, 7, 12, 18].forEach((by, i) => {
      rotate(s, 2 + 2 * i, by);
      add(s, 0, s[2 + 2 * i], s[3 + 2 * i]);
    });
    for (let i = 2; i < 10; i += 2) {
      merge(lanes[i], lanes[i + 1]);
      step(0, 0, 1, 4);
    }
  } else {
    plus(0, 1, 0, 6);
  }
  add(s, 0, n | 0, (n / 2 ** 32) | 0);
  for (; at + 8 <= n; at += 8) {
    merge(int(v, at), int(v, at + 4));
    step(0, 27, 1, 4);
  }
  /** Combines bytes times prime i with the number. */
  const tail = (word: number, i: number) => {
    times(word, 0, i);
    s[0] ^= product[0];
    s[1] ^= product[1];
  };
  if (at + 4 <= n) {
    tail(int(v, at), 1);
    step(0, 23, 2, 3);
    at += 4;
  }
  for (; at < n; at++) {
    tail(v.getUint8(at), 6);
    step(0, 11, 1, 0);
  }
  avalanche64(s[0], s[1], out, 0);
  out[2] = 0;
  out[3] = out[1];
};
