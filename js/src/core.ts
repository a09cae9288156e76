// Entry bloomery/core: opens filters of the families that you import, without WebAssembly.

import { Filter, openBytes, type OpenOptions, plainEngine } from './filter.js';
import type { Family } from './types.js';

export * from './errors.js';
export { Filter, type FilterInfo, type OpenOptions } from './filter.js';
export type { Key } from './key.js';
export type { Family } from './types.js';

/** Options of open in bloomery/core. */
export interface CoreOptions extends OpenOptions {
  /** The families that files may have, such as [blocked] of bloomery/family/blocked. */
  families: readonly Family[];
}

/**
 * Opens a filter file. Sections are views of the bytes if these are aligned to 4 bytes: do not change them while the
 * filter is in use. It rejects with FormatError: its subclass says why.
 */
export async function open(file: Uint8Array | ArrayBuffer, options: CoreOptions): Promise<Filter> {
  return openBytes(file, options.families, options, plainEngine);
}
