// MurmurHash3 x64 128 with seed 0 (Austin Appleby, in the public domain): the hash functions of Guava and of
// bits-and-blooms.

import type { Hash } from '../types.js';
import { add, int, mulLow, product, rotate } from '../wide.js';

/** The two words of the state: h1, then h2, low half first. */
const state = new Int32Array(4);

/** The last block of a key, filled up with zeros. */
const tail = new DataView(new ArrayBuffer(16));

/** Hash 4: Lo is the first 64-bit word of the hash of the first n bytes of view, Hi the second. */
export function murmur3(view: DataView, n: number, out: Hash): void {
  blocks(view, n);
  finish(view, n, 0);
  out.set(state);
}

/**
 * Hash 5: the hash of the key, then that of the key followed by a byte 1. Lo is the first of the four 64-bit words, the
 * other two are words 4 to 7 of out, Hi is the last.
 */
export function murmur3Twice(view: DataView, n: number, out: Hash): void {
  blocks(view, n);
  const [a, b, c, d] = state;
  finish(view, n, 0);
  out[0] = state[0];
  out[1] = state[1];
  out[4] = state[2];
  out[5] = state[3];
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
  finish(view, n, 1);
  out[6] = state[0];
  out[7] = state[1];
  out[2] = state[2];
  out[3] = state[3];
}

/** Sets the state to that after all whole blocks of 16 bytes. */
function blocks(view: DataView, n: number): void {
  state.fill(0);
  for (let at = 0; at + 16 <= n; at += 16) block(view, at);
}

/** Mixes in the block at a byte of view. */
function block(view: DataView, at: number): void {
  low(view, at);
  next(0, 2, 27, 0x52dce729);
  high(view, at + 8);
  next(2, 0, 31, 0x38495ab5);
}

/** Mixes a word of a key into h1. */
function low(view: DataView, at: number): void {
  mix(view, at, 0, 0x114253d5, 0x87c37b91, 0x2745937f, 0x4cf5ad43, 31);
}

/** Mixes a word of a key into h2. */
function high(view: DataView, at: number): void {
  mix(view, at, 2, 0x2745937f, 0x4cf5ad43, 0x114253d5, 0x87c37b91, 33);
}

/** Mixes a word of a key into half i of the state: word times a, rotated left by s, times b. */
function mix(view: DataView, at: number, i: number, al: number, ah: number, bl: number, bh: number, s: number): void {
  mulLow(int(view, at), int(view, at + 4), al, ah);
  turn(product, s);
  mulLow(product[0], product[1], bl, bh);
  state[i] ^= product[0];
  state[i + 1] ^= product[1];
}

/** Rotates words 0 and 1 of a left by s, 1 to 63 except 32. */
function turn(a: Int32Array, s: number): void {
  if (s > 32) [a[0], a[1]] = [a[1], a[0]];
  rotate(a, 0, s & 31);
}

/** Sets half i of the state to (itself rotated left by s, plus half j)·5 + c. */
function next(i: number, j: number, s: number, c: number): void {
  rotate(state, i, s);
  sum(i, j);
  mulLow(state[i], state[i + 1], 5, 0);
  state[i] = product[0];
  state[i + 1] = product[1];
  add(state, i, c, 0);
}

/** Mixes in the bytes after the last whole block, with a byte 1 behind them if more is 1, and the length. */
function finish(view: DataView, n: number, more: number): void {
  const start = n - (n % 16);
  for (let i = 0; i < 16; i++) tail.setUint8(i, start + i < n ? view.getUint8(start + i) : start + i === n ? more : 0);
  if (n + more === start + 16) {
    block(tail, 0); // the byte completes a block
  } else {
    low(tail, 0); // a tail of zero bytes mixes in 0
    high(tail, 8);
  }
  const length = n + more, high32 = (length / 0x100000000) | 0;
  for (let i = 0; i < 4; i += 2) {
    state[i] ^= length;
    state[i + 1] ^= high32;
  }
  sum(0, 2);
  sum(2, 0);
  avalanche(0);
  avalanche(2);
  sum(0, 2);
  sum(2, 0);
}

/** Adds half j of the state to half i. */
function sum(i: number, j: number): void {
  add(state, i, state[j], state[j + 1]);
}

/** The final mixing of half i of the state. x ^ x >> 33 moves bits of the high word only. */
function avalanche(i: number): void {
  mulLow(state[i] ^ (state[i + 1] >>> 1), state[i + 1], 0xed558ccd, 0xff51afd7);
  mulLow(product[0] ^ (product[1] >>> 1), product[1], 0x1a85ec53, 0xc4ceb9fe);
  state[i] = product[0] ^ (product[1] >>> 1);
  state[i + 1] = product[1];
}
