// Entry bloomery/delta: applies a delta that `bloomery diff` wrote.

import { append, apply, isExact } from './apply.js';
import { CorruptError } from './errors.js';
import { bytesOf } from './filter.js';
import { check, positive } from './options.js';
import { sha256 } from './sha256.js';

/** How a delta is applied. */
export interface PatchOptions {
  /** The largest length of the new file in bytes. Default: 2^30. */
  maxBytes?: number;
}

/**
 * Returns the new version of a filter file or an exact set, given the old one, which does not change, and the delta
 * between them. The result is byte-identical to the file that the delta was made for: its SHA-256 is compared. It
 * rejects with FormatError. Deltas of sharded sets, and those of rankindexed with cells of more than 53 bits, are
 * errors.
 *
 * Memory: twice the new file, and twice the old one for rankindexed.
 */
export async function patch(old: Uint8Array, delta: Uint8Array, options: PatchOptions = {}): Promise<Uint8Array> {
  const most = check(options, { maxBytes: positive }).maxBytes ?? 2 ** 30;
  [old, delta] = await Promise.all([old, delta].map(bytesOf));
  const file = isExact(old) ? append(old, delta, most, await sha256(old)) : apply(old, delta, most);
  const sum = await sha256(file);
  for (let i = 0; i < 16; i++) {
    if (parseInt(sum.slice(2 * i, 2 * i + 2), 16) !== delta[8 + i]) {
      throw new CorruptError('the delta or the file is damaged: its SHA-256 is another');
    }
  }
  return file;
}
