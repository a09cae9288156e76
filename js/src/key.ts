// Keys become bytes: text its UTF-8, an integer its eight bytes, little endian.

import { want } from './options.js';
import type { KeyBuffer } from './types.js';

/**
 * A key of a filter: text, bytes, or an integer of 64 bits, as a BigInt of -2^63 to 2^64-1 (negative ones in two's
 * complement) or as its lower and upper 32 bits. A number is not a key: use BigInt(n).
 */
export type Key = string | Uint8Array | bigint | readonly [low: number, high: number];

/** A buffer that grows to the longest key. */
export class OwnBuffer implements KeyBuffer {
  bytes!: Uint8Array;
  view!: DataView;

  constructor() {
    this.grow(256);
  }

  grow(n: number): void {
    this.bytes = new Uint8Array(n);
    this.view = new DataView(this.bytes.buffer);
  }
}

/** The buffer of the keys of all plain engines, and of builds. */
export const buffer = /* @__PURE__ */ new OwnBuffer();

/**
 * Writes the bytes of a key to the start of the buffer, which may replace `bytes` and `view`, and returns their number.
 * It throws TypeError or RangeError.
 */
export function putKey(to: KeyBuffer, key: Key): number {
  if (typeof key !== 'string') return putOther(to, key);
  const n = key.length;
  if (n > to.bytes.length) to.grow(n);
  const { bytes, view } = to;
  let all = 0, i = 0;
  for (; i + 4 <= n; i += 4) { // one store for four characters
    const a = key.charCodeAt(i), b = key.charCodeAt(i + 1), c = key.charCodeAt(i + 2), d = key.charCodeAt(i + 3);
    all |= a | b | c | d;
    view.setInt32(i, a | (b << 8) | (c << 16) | (d << 24), true);
  }
  for (; i < n; i++) {
    const c = key.charCodeAt(i);
    all |= c;
    bytes[i] = c;
  }
  return all > 127 ? putText(to, key) : n;
}

function putText(to: KeyBuffer, key: string): number {
  if (/\p{Surrogate}/u.test(key)) throw new TypeError('a lone surrogate is not text');
  if (3 * key.length > to.bytes.length) to.grow(3 * key.length);
  return encoder.encodeInto(key, to.bytes).written;
}

const encoder = /* @__PURE__ */ new TextEncoder();

function putOther(to: KeyBuffer, key: Exclude<Key, string>): number {
  if (typeof key === 'bigint') {
    if (key < -(2n ** 63n) || key >> 64n > 0n) throw new RangeError('an integer key has 64 bits');
    to.view.setBigUint64(0, BigInt.asUintN(64, key), true);
    return 8;
  }
  if (ArrayBuffer.isView(key) && key.BYTES_PER_ELEMENT === 1) {
    const n = key.length;
    if (n > to.bytes.length) to.grow(n);
    const bytes = to.bytes;
    for (let i = 0; i < n; i++) bytes[i] = key[i];
    return n;
  }
  const isPair = Array.isArray(key) && key.length === 2 && isWord(key[0]) && isWord(key[1]);
  want('key', key, isPair, 'a string, Uint8Array, BigInt or pair of 32-bit halves');
  to.view.setInt32(0, key[0], true);
  to.view.setInt32(4, key[1], true);
  return 8;
}

/** Whether w is an integer of 32 bits, signed or not. */
function isWord(w: number): boolean {
  return w >>> 0 === w || (w | 0) === w;
}
