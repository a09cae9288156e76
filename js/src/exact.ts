// Entry bloomery/exact: reads exact sets, which `bloomery exact build` writes. See docs/format/exact.md.

import { bytesOf, checked, type FileSource, hashOf } from './filter.js';
import { hashNames } from './header.js';
import { type Key, OwnBuffer, putKey } from './key.js';
import { someHashes } from './options.js';
import { type ExactRecord, readRecords } from './records.js';
import { present } from './sections.js';
import type { Family, HashFunction, Hashed, KeyHash } from './types.js';

export * from './errors.js';
export type { FileSource } from './filter.js';
export type { Key } from './key.js';
export type { KeyHash } from './types.js';

/** How an exact set is opened. */
export interface ExactOptions {
  /** False: the checksums of the ribbons are not compared. Default: true. Headers are always verified. */
  verify?: boolean;
  /** The secret that the set was built with: 16 bytes, or 32 hexadecimal digits. It needs siphash in hashes. */
  secret?: Uint8Array | string;
  /** siphash of bloomery/hash/siphash, for sets with a secret. */
  hashes?: readonly KeyHash[];
}

/** What an exact set says about itself. */
export interface ExactInfo {
  /** The number of keys of the universe. */
  universe: number;
  /** How many of them are members. */
  members: number;
  /** The number of partitions; 0 if the set is not partitioned. */
  partitions: number;
  /** The number of updates that the file has after its base. */
  updates: number;
  /** The length of the file in bytes. */
  bytes: number;
  /** The name of the hash function, such as xxh3-128. */
  hash: string;
}

/** An open exact set. It answers queries from memory and never changes. */
export class ExactSet {
  readonly #file: Uint8Array;
  readonly #records: ExactRecord[];
  readonly #sum: HashFunction;
  readonly #info: ExactInfo;
  readonly #key = new OwnBuffer();
  readonly #name = new OwnBuffer();
  readonly #joined = new OwnBuffer();
  /** The hash of the key, and that of the partition's name. */
  readonly #h = new Int32Array(8);
  readonly #hName = new Int32Array(8);

  /** @internal */
  constructor(file: Uint8Array, records: ExactRecord[], sum: HashFunction, info: ExactInfo) {
    this.#file = file;
    this.#records = records;
    this.#sum = sum;
    this.#info = info;
  }

  /** The number of members. */
  get size(): number {
    return this.#info.members;
  }

  get [Symbol.toStringTag](): string {
    return 'ExactSet';
  }

  /**
   * Reports whether a key of the universe is a member. For another key the answer may be wrong. It throws TypeError if
   * the set has partitions.
   */
  has(key: Key): boolean {
    if (this.#info.partitions) throw new TypeError('a set with partitions: use hasIn');
    return this.#answer(this.#key, putKey(this.#key, key));
  }

  /**
   * Reports whether a key of a partition is a member. For a partition or a key outside of the universe the answer may
   * be wrong. It throws TypeError if the set has no partitions.
   */
  hasIn(partition: string | Uint8Array, key: Key): boolean {
    if (!this.#info.partitions) throw new TypeError('a set without partitions: use has');
    const name = this.#name, keys = this.#key, all = this.#joined;
    const n = putKey(name, partition), size = putKey(keys, key);
    this.#sum(name.view, n, this.#hName);
    if (n + size + 5 > all.bytes.length) all.grow(n + size + 5);
    let at = 0, length = n;
    for (; length > 127; length >>>= 7) all.bytes[at++] = length | 128;
    all.bytes[at++] = length;
    for (let i = 0; i < n; i++) all.bytes[at++] = name.bytes[i];
    for (let i = 0; i < size; i++) all.bytes[at++] = keys.bytes[i];
    return this.#answer(all, at);
  }

  /** Describes the set. */
  info(): ExactInfo {
    return { ...this.#info };
  }

  /** Reports whether the key in the first n bytes of a buffer is a member. */
  #answer({ view }: OwnBuffer, n: number): boolean {
    const h = this.#h;
    present(this.#file);
    this.#sum(view, n, h);
    h[0] = 0;
    let odd = 0;
    for (const record of this.#records) odd ^= record(h, this.#hName);
    return odd > 0;
  }
}

/**
 * Opens an exact set: its bytes, or a Blob or Response with them. The base is not copied if the bytes are aligned to 4
 * bytes: do not change them while the set is in use. It rejects with FormatError, whose subclass says why.
 */
export async function openExact(file: FileSource, options: ExactOptions = {}): Promise<ExactSet> {
  const { hashes = [], secret, verify = true } = checked(options, { hashes: someHashes });
  const bytes = await bytesOf(file);
  const { records, hash, seed, universe, members, partitions } = readRecords(bytes, verify);
  // No spec: siphash needs none.
  const { sum } = hashOf({ hash, seed } as Hashed, {} as Family, { hashes, secret });
  const about = { universe, members, partitions, updates: records.length - 1, bytes: bytes.length };
  return new ExactSet(bytes, records, sum, { ...about, hash: hashNames[hash] });
}
