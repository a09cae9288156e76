// Entry bloomery: opens filters of all families.

import { families } from './families.js';
import { type Filter, openBytes, type OpenOptions, plainEngine } from './filter.js';

export * from './errors.js';
export { Filter, type FilterInfo, type OpenOptions } from './filter.js';
export type { Key } from './key.js';

/**
 * Opens a filter file. Sections are views of the bytes if these are aligned to 4 bytes: do not change them while the
 * filter is in use. It rejects with FormatError: its subclass says why.
 */
export async function open(file: Uint8Array | ArrayBuffer, options: OpenOptions = {}): Promise<Filter> {
  return openBytes(file, families, options, plainEngine);
}
