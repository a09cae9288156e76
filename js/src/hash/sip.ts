// SipHash-2-4 with 128 bits of output (J.-P. Aumasson, D. J. Bernstein), on words of 32 bits.

import type { Hash, HashFunction } from '../types.js';
import { add, int, rotate } from '../wide.js';

const label = 'bloomery: this sentence is hashed to recognise the secret of a keyed filter, format 1';
const state = new Int32Array(8);

/** Adds number b of state to number a, and makes b its rotation by s with a. Numbers are given by their low word. */
function half(a: number, b: number, s: number): void {
  add(state, a, state[b], state[b + 1]);
  rotate(state, b, s);
  state[b] ^= state[a];
  state[b + 1] ^= state[a + 1];
}

/** Exchanges the words of number a. */
function swap(a: number): void {
  const l = state[a];
  state[a] = state[a + 1];
  state[a + 1] = l;
}

/** The rounds of SipHash on state. */
function rounds(n: number): void {
  while (n--) {
    half(0, 2, 13);
    swap(0);
    half(4, 6, 16);
    half(0, 6, 21);
    half(4, 2, 17);
    swap(4);
  }
}

/** Returns SipHash under a secret of 16 bytes. */
export function sip(secret: Uint8Array): HashFunction {
  const key = new DataView(secret.slice().buffer);
  const k = [0, 4, 8, 12].map((i) => int(key, i));
  // "somepseudorandomlygeneratedbytes", in words; the last change marks the output of 128 bits
  const start = Int32Array.of(
    0x70736575 ^ k[0], 0x736f6d65 ^ k[1], 0x6e646f6d ^ k[2] ^ 0xee, 0x646f7261 ^ k[3],
    0x6e657261 ^ k[0], 0x6c796765 ^ k[1], 0x79746573 ^ k[2], 0x74656462 ^ k[3],
  );
  return (v, n, out) => {
    state.set(start);
    let at = 0;
    for (; at + 8 <= n; at += 8) word(int(v, at), int(v, at + 4));
    let l = 0, h = n << 24;
    for (let i = 0; at + i < n; i++) {
      if (i < 4) l |= v.getUint8(at + i) << (8 * i);
      else h |= v.getUint8(at + i) << (8 * (i - 4));
    }
    word(l, h);
    state[4] ^= 0xee;
    finish(out, 0);
    state[2] ^= 0xdd;
    finish(out, 2);
  };
}

function word(l: number, h: number): void {
  state[6] ^= l;
  state[7] ^= h;
  rounds(2);
  state[0] ^= l;
  state[1] ^= h;
}

function finish(out: Hash, at: number): void {
  rounds(4);
  out[at] = state[0] ^ state[2] ^ state[4] ^ state[6];
  out[at + 1] = state[1] ^ state[3] ^ state[5] ^ state[7];
}

/** Returns the key check of a keyed hash: 64 bits that recognise the secret and do not reveal it. */
export function keyCheck(sum: HashFunction): bigint {
  const bytes = Uint8Array.from(label, (c) => c.charCodeAt(0)), h = new Int32Array(8);
  sum(new DataView(bytes.buffer), bytes.length, h);
  return (BigInt(h[3] >>> 0) << 32n) | BigInt((h[2] | 1) >>> 0);
}
