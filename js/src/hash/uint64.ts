// Entry bloomery/hash/uint64: filters of FastFilter, for bloomery/core.

import { CorruptError } from '../errors.js';
import type { HashFunction, KeyHash } from '../types.js';
import { int } from '../wide.js';
import { xxh64Sum } from './xxh64sum.js';

/** Lo is the key itself if it has 8 bytes, such as an integer, else XXH64 with seed 0. */
const sum: HashFunction = (v, n, out) => {
  if (n !== 8) return xxh64Sum(v, n, out);
  out[0] = int(v, 0);
  out[1] = out[3] = int(v, 4);
  out[2] = 0;
};

/** The hash of FastFilter's filters, whose keys are integers; they are of family fuse. Pass it to open in `hashes`. */
export const uint64: KeyHash = {
  id: 8,
  make({ seed, spec }) {
    if (spec.family !== 'fuse') throw new CorruptError(`uint64 of ${spec.text}`, 12);
    return { id: 8, seed, sum };
  },
};
