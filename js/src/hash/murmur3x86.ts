// MurmurHash3 x86 32 (Austin Appleby, in the public domain) with the treatment of the last bytes that Spark has.

import type { Hash } from '../types.js';
import { int } from '../wide.js';

const { imul } = Math;

/** Hash 7: the low word of Lo is the hash of the first n bytes of view, the high word that with the first as seed. */
export function murmur3x86Twice(view: DataView, n: number, out: Hash): void {
  out[0] = murmur3x86(view, n, 0);
  out[1] = out[3] = murmur3x86(view, n, out[0]);
  out[2] = 0;
}

/** Each of the last 1 to 3 bytes is mixed in as a word of its own, with its sign. */
function murmur3x86(view: DataView, n: number, seed: number): number {
  let h = seed, at = 0;
  for (; at + 4 <= n; at += 4) h = word(h, int(view, at));
  for (; at < n; at++) h = word(h, view.getInt8(at));
  h ^= n;
  h = imul(h ^ (h >>> 16), 0x85ebca6b);
  h = imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Mixes a word into the state. */
function word(h: number, k: number): number {
  const x = imul(k, 0xcc9e2d51), y = h ^ imul((x << 15) | (x >>> 17), 0x1b873593);
  return (imul((y << 13) | (y >>> 19), 5) + 0xe6546b64) | 0;
}
