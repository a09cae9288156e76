// Keys in order, for families whose filter depends on it.

import { pieces, room } from './hashes.js';
import type { Steps } from './steps.js';

/** Hashes, four words a key as in Hash, that are sorted by Hi, then by Lo, as unsigned numbers. */
export type Sorted = Int32Array;

/** Whether the key at word a of words comes before the one at word b, or is equal. */
function ordered(words: Int32Array, a: number, b: number): boolean {
  for (const i of [3, 2, 1, 0]) {
    const x = words[a + i] >>> 0, y = words[b + i] >>> 0;
    if (x !== y) return x < y;
  }
  return true;
}

/** Sorts the keys from word begin to word end of words. */
function sortFew(words: Int32Array, begin: number, end: number): void {
  if (end - begin > 4 * 64) return sortMany(words, begin, end);
  for (let i = begin + 4; i < end; i += 4) {
    for (let j = i; j > begin && !ordered(words, j - 4, j); j -= 4) {
      for (let k = 0; k < 4; k++) [words[j - 4 + k], words[j + k]] = [words[j + k], words[j - 4 + k]];
    }
  }
}

/** Does the same for keys that are not random: many have the same first bits. */
function sortMany(words: Int32Array, begin: number, end: number): void {
  const old = words.slice(begin, end), order = Uint32Array.from({ length: old.length / 4 }, (_, i) => 4 * i);
  order.sort((a, b) => (ordered(old, a, b) ? (ordered(old, b, a) ? 0 : -1) : 1));
  order.forEach((from, i) => words.set(old.subarray(from, from + 4), begin + 4 * i));
}

/** Returns the distinct keys of parts in order. */
export function* sort(parts: readonly Int32Array[]): Steps<Sorted> {
  const n = parts.reduce((sum, part) => sum + part.length / 4, 0);
  // About four keys have the same first bits, unless there are more than 2^28.
  const shift = Math.min(31, Math.max(4, 32 - Math.ceil(Math.log2(n / 4 || 1))));
  const starts = new Uint32Array(2 ** (32 - shift) + 1);
  for (const keys of pieces(parts)) {
    for (let i = 3; i < keys.length; i += 4) starts[(keys[i] >>> shift) + 1]++;
    yield 0;
  }
  for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
  const words = new Int32Array(4 * n), at = starts.slice();
  for (const keys of pieces(parts)) {
    for (let i = 0; i < keys.length; i += 4) {
      const to = 4 * at[keys[i + 3] >>> shift]++;
      for (let k = 0; k < 4; k++) words[to + k] = keys[i + k];
    }
    yield 0;
  }
  for (let i = 1; i < starts.length; i++) {
    sortFew(words, 4 * starts[i - 1], 4 * starts[i]);
    if (i % room === 0) yield 0;
  }
  let end = Math.min(4, words.length);
  for (let i = 4; i < words.length; i += 4) {
    if (i % (4 * room) === 0) yield 0;
    if (ordered(words, i, end - 4)) continue; // equal
    words.copyWithin(end, i, i + 4);
    end += 4;
  }
  return words.subarray(0, end);
}
