// MurmurHash3 x64 128 with seed 0 (Austin Appleby, in the public domain): the hash functions of Guava and of
// bits-and-blooms.

import type { Hash } from '../types.js';
import { carry, int, mulUpper } from '../wide.js';

const { imul } = Math;

/** The two numbers of the state, h1 and h2. The low word comes first. */
const state = new Int32Array(4);

/** The bytes after the last whole block of a key, filled up with zeros: the halves of two numbers. */
const tail = new Int32Array(4);

/** Hash 4: Lo is the first 64-bit word of the hash of the first n bytes of view, Hi the second. */
export function murmur3(view: DataView, n: number, out: Hash): void {
  blocks(view, n);
  mixTail();
  finish(n, out, 0, 2);
}

/**
 * Hash 5: the hash of the key, then that of the key followed by a byte 1. Lo is the first of the four 64-bit words, the
 * other two are words 4 to 7 of out, Hi is the last.
 */
export function murmur3Twice(view: DataView, n: number, out: Hash): void {
  blocks(view, n);
  const a = state[0], b = state[1], c = state[2], d = state[3], rest = n % 16;
  mixTail();
  finish(n, out, 0, 4);
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
  tail[rest >> 2] |= 1 << (8 * rest); // engines shift by 8·rest modulo 32
  if (rest < 15) mixTail();
  else block(tail[0], tail[1], tail[2], tail[3]);
  finish(n + 1, out, 6, 2);
}

/** Sets the state to that after all whole blocks of 16 bytes, and the tail to the other bytes. */
function blocks(v: DataView, n: number): void {
  let at = 0;
  state[0] = state[1] = state[2] = state[3] = 0;
  for (; at + 16 <= n; at += 16) block(int(v, at), int(v, at + 4), int(v, at + 8), int(v, at + 12));
  for (let i = 0; i < 4; i++, at += 4) tail[i] = word(v, at, n);
}

/** The word of v from byte at on, with zeros for bytes from n on. */
function word(v: DataView, at: number, n: number): number {
  const some = n - at;
  if (some < 1) return 0;
  if (n > 3) return some < 4 ? int(v, n - 4) >>> (32 - 8 * some) : int(v, at);
  let w = v.getUint8(0);
  for (let i = 1; i < n; i++) w |= v.getUint8(i) << (8 * i);
  return w;
}

/** Mixes in a block of two numbers. */
function block(al: number, ah: number, bl: number, bh: number): void {
  first(al, ah);
  const x = state[0], y = state[1], l = (x << 27) | (y >>> 5), s = (l + state[2]) | 0, v = (s >>> 0) * 5 + 0x52dce729;
  state[1] = imul(((y << 27) | (x >>> 5)) + state[3] + carry(s, l), 5) + Math.floor(v / 0x100000000);
  state[0] = v;
  second(bl, bh);
  const z = state[2], w = state[3], m = (z << 31) | (w >>> 1), t = (m + state[0]) | 0, u = (t >>> 0) * 5 + 0x38495ab5;
  state[3] = imul(((w << 31) | (z >>> 1)) + state[1] + carry(t, m), 5) + Math.floor(u / 0x100000000);
  state[2] = u;
}

/** Mixes a number into h1: times a constant, rotated by 31 bits, times another constant. */
function first(l: number, h: number): void {
  const x = imul(l, 0x114253d5), y = mulUpper(l, h, 0x114253d5, 0x87c37b91), z = (x << 31) | (y >>> 1);
  state[0] ^= imul(z, 0x2745937f);
  state[1] ^= mulUpper(z, (y << 31) | (x >>> 1), 0x2745937f, 0x4cf5ad43);
}

/** Mixes a number into h2: with the constants in turn, rotated by 33 bits. */
function second(l: number, h: number): void {
  const x = imul(l, 0x2745937f), y = mulUpper(l, h, 0x2745937f, 0x4cf5ad43), z = (y << 1) | (x >>> 31);
  state[2] ^= imul(z, 0x114253d5);
  state[3] ^= mulUpper(z, (x << 1) | (y >>> 31), 0x114253d5, 0x87c37b91);
}

/** Mixes in the tail. Zeros do not change the state. */
function mixTail(): void {
  if (tail[0] | tail[1]) first(tail[0], tail[1]);
  if (tail[2] | tail[3]) second(tail[2], tail[3]);
}

/** Mixes in the length, and writes h1 and h2 to two places of out. */
function finish(n: number, out: Hash, i: number, j: number): void {
  const high = n / 0x100000000, x = state[2] ^ n, y = state[3] ^ high;
  const l = ((state[0] ^ n) + x) | 0, h = ((state[1] ^ high) + y + carry(l, x)) | 0, s = (l + x) | 0;
  last(l, h, 0);
  last(s, h + y + carry(s, x), 2);
  const z = state[2], t = (state[0] + z) | 0, u = (state[1] + state[3] + carry(t, z)) | 0, v = (t + z) | 0;
  out[i] = t;
  out[i + 1] = u;
  out[j] = v;
  out[j + 1] = u + state[3] + carry(v, z);
}

/** Sets number at/2 of the state to the last mix of another. x ^ x >> 33 changes the low word only. */
function last(l: number, h: number, at: number): void {
  const x = l ^ (h >>> 1), y = mulUpper(x, h, 0xed558ccd, 0xff51afd7), z = imul(x, 0xed558ccd) ^ (y >>> 1);
  const w = mulUpper(z, y, 0x1a85ec53, 0xc4ceb9fe);
  state[at] = imul(z, 0x1a85ec53) ^ (w >>> 1);
  state[at + 1] = w;
}
