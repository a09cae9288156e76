// What the families of searched filters have in common: two counts that no query needs.

import { word64 } from './bits.js';
import { CorruptError } from './errors.js';
import type { FilterFile } from './types.js';

/**
 * Throws CorruptError unless the two counts are possible: the number of keys added after the search, at most that of
 * all keys, which are fewer than maxKeys, and the number of bits that the search left set, at most total.
 */
export function checkSearched(file: FilterFile, counts: Uint32Array, total: number, maxKeys = Infinity): void {
  const { keys } = file.header, late = (BigInt(counts[1]) << 32n) | BigInt(counts[0]);
  if (late > keys || keys >= maxKeys || word64(counts, 2) > total) {
    throw new CorruptError('the counts of the search contradict each other');
  }
}
