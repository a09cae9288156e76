// The contract between the core, the families and the engines that answer queries.

import type { Header } from './header.js';
import type { Spec } from './spec.js';

/**
 * The hash of a key: eight signed words of 32 bits, reused between calls. Words 0 and 1 are the low and the high word
 * of Lo, words 2 and 3 those of Hi. A hash function of 256 bits (number 5) also fills words 4 to 7 with its second and
 * its third 64-bit word; the first is Lo and the last is Hi.
 */
export type Hash = Int32Array;

/** Where the bytes of the queried key are. Engines replace `bytes` and `view` together, never their content. */
export interface KeyBuffer {
  bytes: Uint8Array;
  /** The same bytes. */
  view: DataView;
  /** Makes room for n bytes. It may replace `bytes` and `view` and need not keep their content. */
  grow(n: number): void;
}

/** Computes the hash of the first n bytes of a view. */
export type HashFunction = (view: DataView, n: number, out: Hash) => void;

/** A file whose header and, unless the caller waived them, checksums are verified. */
export interface FilterFile {
  readonly header: Header;
  readonly spec: Spec;
  readonly bytes: Uint8Array;
  /** The sections in words of 32 bits, low half of a 64-bit word first. Views of the file where it is aligned. */
  readonly sections: Uint32Array[];
}

/** A family of filters. Its members are internal: pass it to open. */
export interface Family {
  readonly name: string;
  /** The number of the family in files. */
  readonly id: number;
  /** Families of other systems: the number in files and the plain form of the only hash function of their filters. */
  readonly foreign?: readonly [id: number, sum: HashFunction];
  /**
   * Returns the queries of a file. It checks the parameters of the spec, the exact number and lengths of the sections
   * and all padding, and throws CorruptError or TooLargeError. It allocates nothing that the sections do not justify.
   */
  open(file: FilterFile): Query;
}

/** The queries of an open filter. Each takes the hash of a key. */
export interface Query {
  has(h: Hash): boolean;
  /** How often the key was added, or more: families that count. */
  count?(h: Hash): number;
  /** The value of the key, or undefined if it is absent: families with values. */
  get?(h: Hash): bigint | undefined;
  /** What the WebAssembly core needs to answer the same queries. Absent: the plain form answers. */
  readonly core?: CoreSetup;
  /** Filters with exceptions: whether a key that the filter has without them is present. The others consider it. */
  stays?(h: Hash): boolean;
}

/** What the WebAssembly core has of a filter: the fields of its struct in c/bloomery.h, such as bloomery_standard. */
export interface CoreSetup {
  /** The integers of the struct in its order: a BigInt has 64 bits there, a number 32. */
  readonly numbers: (number | bigint)[];
  /** The sections that its pointers lead to: those of the file, or what a trimmed file stands for. */
  readonly sections: Uint32Array[];
}

/** Which hash function a filter has: its number in files, and the parameter of ours. */
export interface HashSetup {
  readonly id: number;
  /** Hash 1: the seed. */
  readonly seed: bigint;
  /** Hash 2: the 16 bytes of the secret. */
  readonly secret?: Uint8Array;
  /** The plain form. */
  readonly sum: HashFunction;
}

/** What decides about the hash function of a filter: of its header, or of the manifest of a sharded set. */
export type Hashed = Pick<Header, 'hash' | 'seed' | 'spec'>;

/** A hash function that some of our filters have instead of XXH3. Its members are internal: pass it to open. */
export interface KeyHash {
  /** Its number in files. */
  readonly id: number;
  /** Returns the hash function of a filter. It throws FormatError if that is wrong for it, or the secret is. */
  make(of: Hashed, secret: Uint8Array | string | undefined): HashSetup;
}

/** Answers queries about the key in the first n bytes of its buffer. */
export interface Engine {
  readonly buffer: KeyBuffer;
  has(n: number): boolean;
  count?(n: number): number;
  get?(n: number): bigint | undefined;
}

/** Makes the engine of a filter. `bloomery/plain` has plainEngine, `bloomery` that of the WebAssembly core. */
export type EngineMaker = (query: Query, hash: HashSetup, file: FilterFile) => Engine;
