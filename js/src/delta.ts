// Deltas between two versions of a filter file. See docs/format/delta.md.

import { CorruptError } from './errors.js';

/** How a delta is applied. */
export interface PatchOptions {
  /** The largest length of the new file in bytes. Default: 2^30. */
  maxBytes?: number;
}

export async function patch(_old: Uint8Array, _delta: Uint8Array, _options: PatchOptions = {}): Promise<Uint8Array> {
  throw new CorruptError('no method of this delta is known');
}
