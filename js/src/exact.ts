// Entry bloomery/exact: reads exact sets, which `bloomery exact build` writes. See docs/format/exact.md.

import { crc32c } from './crc32c.js';
import {
  ChecksumError, CorruptError, HashError, MagicError, TooLargeError, TruncatedError, VersionError,
} from './errors.js';
import { bytesOf, hashOf } from './filter.js';
import { hashNames, viewOf } from './header.js';
import { type Key, OwnBuffer, putKey } from './key.js';
import { type Find, ribbonOf } from './ribbon.js';
import { checkZeros, present, sectionWords } from './sections.js';
import type { Family, HashFunction, Hashed, KeyHash } from './types.js';
import { fold, product } from './wide.js';

export * from './errors.js';
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

/** The base or an update. The answer of a set is the exclusive or of those of its records. */
interface ExactRecord {
  /** Of each class: 2·r, and 1 more if level 1 has the keys that the record has not. */
  readonly codes: number[];
  /** Returns the number of a partition's class, or a larger one for the last class. */
  readonly classOf: Find;
  /** By r. */
  readonly level1: Find[];
  readonly level2: Find;
}

/** The largest number of records: a small one takes more memory than its bytes. */
const maxRecords = 4096;

/** The query of a part without keys: absent, and the value 0. */
const nothing: Find = (_, value) => (value ? 0 : -1);

/** An open exact set. It answers queries from memory and never changes. */
export class ExactSet {
  readonly #file: Uint8Array;
  readonly #records: ExactRecord[];
  readonly #sum: HashFunction;
  readonly #info: ExactInfo;
  readonly #key = new OwnBuffer();
  readonly #name = new OwnBuffer();
  readonly #joined = new OwnBuffer();
  /** The hash of the key, that for level 2, and that of the partition's name. */
  readonly #h = new Int32Array(8);
  readonly #h2 = new Int32Array(8);
  readonly #hName = new Int32Array(8);

  /** @internal */
  constructor(file: Uint8Array, records: ExactRecord[], sum: HashFunction, info: ExactInfo) {
    this.#file = file;
    this.#records = records;
    this.#sum = sum;
    this.#info = info;
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
    const h = this.#h, h2 = this.#h2;
    present(this.#file);
    this.#sum(view, n, h);
    h[0] = 0;
    let odd = 0;
    for (const { codes, classOf, level1, level2 } of this.#records) {
      const code = codes[Math.min(classOf(this.#hName, true), codes.length - 1)], r = code >> 1;
      odd ^= code & 1;
      if (r > 31 || (r && level1[r](h) < 0)) continue;
      fold(h[0] ^ 0x847dd1a6, h[1] ^ 0x681c64a0, 0x2babb779, 0xa50932dd);
      h2[0] = product[0];
      h2[1] = product[1];
      fold(h[2] ^ 0x990dae16, h[3] ^ 0xd62833eb, 0x64ca1c4f, 0xca4e6157);
      h2[2] = product[0];
      h2[3] = product[1];
      odd ^= level2(h2, true);
    }
    return odd > 0;
  }
}

/**
 * Opens an exact set. The base is not copied if the bytes are aligned to 4 bytes: do not change them while the set is
 * in use. It rejects with FormatError, whose subclass says why.
 */
export async function openExact(file: Uint8Array | ArrayBuffer, options: ExactOptions = {}): Promise<ExactSet> {
  const bytes = bytesOf(file), view = viewOf(bytes);
  const records: ExactRecord[] = [];
  let at = 0, last = 0, hash = 0, seed = 0n, universe = 0, members = 0, partitions = 0;

  /** Skips n bytes and returns where they begin. */
  const skip = (n: number): number => {
    if (n > bytes.length - at) throw new TruncatedError('end of the file', bytes.length);
    at += n;
    return at - n;
  };
  const u32 = () => view.getUint32(skip(4), true);
  const bad = (what: string, from = at) => new CorruptError(what, from);
  /** Reads a number of least to most. */
  const number = (most = Infinity, least = 0): number => {
    const from = at;
    let v = 0;
    for (let unit = 1, byte = 128; byte > 127; unit *= 128) {
      byte = bytes[skip(1)];
      v += (byte & 127) * unit;
      if (unit >= 2 ** 70 || (unit > 1 && !byte)) throw bad('number', from);
    }
    if (v < least || v > most) throw bad(`number ${v}`, from);
    if (v > Number.MAX_SAFE_INTEGER) throw new TooLargeError('number of 2^53 or more', from);
    return v;
  };
  /** Reads the checksum of the bytes from one on. */
  const checksum = (from: number, verify = true): number => {
    const sum = verify && crc32c(bytes.subarray(from, at)), stored = u32();
    if (verify && sum !== stored) throw new ChecksumError('checksum', from);
    return stored;
  };

  /** Reads the next record. */
  const record = (): ExactRecord => {
    const from = at, update = records.length > 0;
    if (u32() !== 0x584c4289) throw new MagicError('no exact set', from);
    if (number() !== 1) throw new VersionError('a newer exact set: update bloomery', from);
    if (number() !== +update) throw bad('kind of a record', from);
    if (!update) {
      hash = number();
      if (hash !== 1 && hash !== 2) throw new HashError(`hash function ${hash}`, from);
      seed = view.getBigUint64(skip(8), true);
    } else if (u32() !== last) {
      throw bad('an update of another set', from);
    }
    universe = number();
    members = number(universe);
    const parts = number();
    if (update && !parts !== !partitions) throw bad('partitions', from);
    partitions = parts;
    if (partitions) number(); // the entropy
    const codes = Array.from({ length: number(partitions ? 66 : 1, 1) }, () => {
      const code = number(65);
      number(number()); // the keys of the class, and those that the record has
      return code;
    });
    if (codes.some((code, i) => i && code <= codes[i - 1])) throw bad('classes', from);

    /** Reads the geometry of a part, and returns what reads its sections. */
    const part = (r: number, values: number): (() => Find) => {
      if (!number(2 ** 56)) return () => nothing;
      const shape = number(33), seed = number(65_535);
      const starts = Array.from({ length: shape >> 1 }, () => 64 * number(2 ** 42, 1));
      const tail = number(256), tailSeed = number(65_535);
      if ((!tail && (tailSeed || !starts[0])) || (seed && !starts[0])) throw bad('part', from);
      const { bits, open } = ribbonOf({ r, values, w: shape & 1 ? 128 : 64, wide: 0, seed, starts, tail, tailSeed });
      return () => open(bits.map((n, i) => {
        // The last section of an update, the tail, is not filled to whole words.
        const size = 8 * Math.ceil(n / 64), length = update && i > 1 ? Math.ceil(n / 8) : size;
        let offset = skip(length), own = bytes;
        if (length < size) {
          own = new Uint8Array(size);
          own.set(bytes.subarray(offset, at));
          offset = 0;
        }
        const words = sectionWords(own, { offset, length: size, crc: 0 });
        checkZeros(words, n);
        return words;
      }));
    };
    const classOf = codes.length > 1 ? part(0, (codes.length - 1).toString(2).length) : () => nothing;
    const level1: (() => Find)[] = [];
    for (const code of codes) {
      const r = code >> 1;
      if (r && r < 32) level1[r] ??= part(r, 0);
    }
    const level2 = part(0, 1);
    checksum(from);
    while (!update && at % 8) if (bytes[skip(1)]) throw bad('padding');
    const body = at, parsed = { codes, classOf: classOf(), level1: level1.map((open) => open()), level2: level2() };
    last = checksum(body, options.verify);
    return parsed;
  };

  do {
    if (records.length === maxRecords) throw new TooLargeError(`more than ${maxRecords} records`, at);
    records.push(record());
  } while (at < bytes.length);
  const keyed = hash === 2;
  if (keyed && !seed) throw bad('key check', 0);
  const of = { hash, seed: keyed ? 0n : seed, keyCheck: keyed ? seed : 0n } as Hashed; // no spec: not for siphash
  const { sum } = hashOf(of, {} as Family, { hashes: options.hashes ?? [], secret: options.secret });
  const info = { universe, members, partitions, updates: records.length - 1, bytes: at, hash: hashNames[hash] };
  return new ExactSet(bytes, records, sum, info);
}
