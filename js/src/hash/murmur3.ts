// MurmurHash3 x64 128 with seed 0 (Austin Appleby, in the public domain): the hash functions of Guava and of
// bits-and-blooms.

import type { Hash } from '../types.js';
import { add, int, mulLow, product, rotate } from '../wide.js';

/** The two numbers of the state, h1 and h2, and the two multipliers. The low word comes first. */
const state = new Int32Array(4), c = [0x114253d5, 0x87c37b91, 0x2745937f, 0x4cf5ad43];

/** The last block of a key, filled up with zeros. */
const tail = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(16));

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
  const whole = state.slice();
  finish(view, n, 0);
  out.set(state.subarray(2), 4);
  out.set(state.subarray(0, 2));
  state.set(whole);
  finish(view, n, 1);
  out.set(state.subarray(2), 2);
  out.set(state.subarray(0, 2), 6);
}

/** Sets the state to that after all whole blocks of 16 bytes. */
function blocks(view: DataView, n: number): void {
  state.fill(0);
  for (let at = 0; at + 16 <= n; at += 16) block(view, at);
}

/** Mixes in the block at a byte of view. */
function block(view: DataView, at: number): void {
  for (let i = 0; i < 4; i += 2) {
    mix(view, at, i);
    rotate(state, i, 27 + 2 * i);
    sum(i, 2 - i);
    times(i, 5, 0);
    add(state, i, i ? 0x38495ab5 : 0x52dce729, 0);
  }
}

/** Mixes 8 bytes of the block at a byte of view into number i/2: times c[i], rotated by 31 + i bits, times c[2 - i]. */
function mix(view: DataView, at: number, i: number): void {
  mulLow(int(view, at + 4 * i), int(view, at + 4 * i + 4), c[i], c[i + 1]);
  rotate(product, 0, 31);
  rotate(product, 0, i);
  mulLow(product[0], product[1], c[2 - i], c[3 - i]);
  flip(i, product[0], product[1]);
}

/** Mixes in the bytes after the last whole block, with a byte 1 behind them if more is 1, and the length. */
function finish(view: DataView, n: number, more: number): void {
  const start = n - (n % 16), length = n + more;
  for (let i = 0; i < 16; i++) tail.setUint8(i, start + i < n ? view.getUint8(start + i) : start + i === n ? more : 0);
  if (length === start + 16) {
    block(tail, 0); // the byte completes a block
  } else {
    mix(tail, 0, 0); // a tail of zero bytes mixes in 0
    mix(tail, 0, 2);
  }
  for (let i = 0; i < 4; i += 2) flip(i, length, length / 0x100000000);
  sum(0, 2);
  sum(2, 0);
  for (let i = 0; i < 4; i += 2) {
    flip(i, state[i + 1] >>> 1, 0); // x ^ x >> 33 changes the low word only
    times(i, 0xed558ccd, 0xff51afd7);
    flip(i, state[i + 1] >>> 1, 0);
    times(i, 0x1a85ec53, 0xc4ceb9fe);
    flip(i, state[i + 1] >>> 1, 0);
  }
  sum(0, 2);
  sum(2, 0);
}

/** Adds number j/2 of the state to number i/2. */
function sum(i: number, j: number): void {
  add(state, i, state[j], state[j + 1]);
}

/** Multiplies number i/2 of the state. */
function times(i: number, l: number, h: number): void {
  mulLow(state[i], state[i + 1], l, h);
  state[i] = product[0];
  state[i + 1] = product[1];
}

/** Makes number i/2 of the state the exclusive or of itself and another. */
function flip(i: number, l: number, h: number): void {
  state[i] ^= l;
  state[i + 1] ^= h;
}
