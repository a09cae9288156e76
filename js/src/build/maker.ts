// What the build of a family is.

import type { Start } from '../wasm/builder.js';
import type { Steps } from './steps.js';

/** The keys of a build. */
export interface Keys {
  /** Hashes, four words a key: the parts of Hashes. */
  readonly parts: readonly Int32Array[];
  /** The number of keys, duplicates included. */
  readonly length: number;
}

/** A built filter. */
export interface Built {
  /** The number of keys in the header: families that solve equations count distinct keys. */
  readonly keys: number;
  readonly spec: string;
  /** In words of 32 bits, low half of a 64-bit word first. */
  readonly sections: readonly Uint32Array[];
}

/** Builds filters of a family. */
export interface Maker {
  /** The number of the family in files. */
  readonly id: number;
  /**
   * Builds a filter with at most that rate, above 0 and at most 0.99: in WebAssembly, if start is given and there is
   * memory for it. It throws RangeError.
   */
  make(keys: Keys, rate: number, start?: Start): Steps<Built>;
}
