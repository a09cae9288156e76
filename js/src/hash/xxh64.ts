// Entry bloomery/hash/xxh64: filters of Parquet, for bloomery/core.

import { CorruptError } from '../errors.js';
import type { KeyHash } from '../types.js';
import { xxh64Sum } from './xxh64sum.js';

/** XXH64, the hash function of Parquet's filters, which are of family blocked. Pass it to open in `hashes`. */
export const xxh64: KeyHash = {
  id: 3,
  make({ seed, spec }) {
    if (spec.params.get('layout') !== 'split') throw new CorruptError(`xxh64 of ${spec.text}`, 12);
    return { id: 3, seed, sum: xxh64Sum };
  },
};
