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
   * Builds a filter with at most the given rate, above 0 and below 1: in WebAssembly, if start is given and there is
   * memory for it. It throws RangeError.
   */
  make(keys: Keys, rate: number, start?: Start): Steps<Built>;
}

/** The error for a rate that a family does not have: as that of the Go package. */
export const noSuchRate = (rate: number, why: string) => new RangeError(`fpr=${rate}: ${why}`);

/** Returns words of 0 for a filter of a rate. It throws RangeError. */
export function zeros(words: number, rate: number): Uint32Array {
  try {
    return new Uint32Array(words);
  } catch {
    throw noSuchRate(rate, `no memory for ${4 * words} bytes`);
  }
}
