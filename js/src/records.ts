// The records of an exact set. See docs/format/exact.md.

import { crc32c } from './crc32c.js';
import {
  ChecksumError, CorruptError, HashError, MagicError, TooLargeError, TruncatedError, VersionError,
} from './errors.js';
import { viewOf } from './header.js';
import { type Find, ribbonOf } from './ribbon.js';
import { checkZeros, sectionWords } from './sections.js';

/** The base or an update. The answer of a set is the exclusive or of those of its records. */
export interface ExactRecord {
  /** Of each class: 2·r, and 1 more if level 1 has the keys that the record has not. */
  readonly codes: number[];
  /** Returns the number of a partition's class, or a larger one for the last class. */
  readonly classOf: Find;
  /** By r. */
  readonly level1: Find[];
  readonly level2: Find;
}

/** What a file says besides its records. Numbers of keys are those after the last record. */
export interface ExactFile {
  readonly records: ExactRecord[];
  readonly hash: number;
  /** Hash 1: the seed. Hash 2: the key check. */
  readonly seed: bigint;
  readonly universe: number;
  readonly members: number;
  readonly partitions: number;
}

/** The largest number of records: a small one takes more memory than its bytes. */
const maxRecords = 4096;

/** The query of a part without keys: absent, and the value 0. */
const nothing: Find = (_, value) => (value ? 0 : -1);

/** Reads a file. Without verify the checksums of the bodies are not compared. It throws FormatError. */
export function readRecords(bytes: Uint8Array, verify: boolean): ExactFile {
  const view = viewOf(bytes), records: ExactRecord[] = [];
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
  const checksum = (from: number, compare = true): number => {
    const sum = compare && crc32c(bytes.subarray(from, at)), stored = u32();
    if (compare && sum !== stored) throw new ChecksumError('checksum', from);
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
      if (hash > 1 && !seed) throw bad('key check', from);
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

    let total = 0; // bytes of the sections
    /** Reads the geometry of a part, and returns what reads its sections. */
    const part = (r: number, values: number): (() => Find) => {
      if (!number()) return () => nothing;
      const shape = number(33), seed = number(65_535);
      const starts = Array.from({ length: shape >> 1 }, () => 64 * number(2 ** 42, 1));
      const tail = number(256), tailSeed = number(65_535);
      if ((!tail && (tailSeed || !starts[0])) || (seed && !starts[0])) throw bad('part', from);
      const { bits, open } = ribbonOf({ r, values, w: shape & 1 ? 128 : 64, wide: 0, seed, starts, tail, tailSeed });
      // The last section of an update, the tail, is not filled to whole words.
      const lengths = bits.map((n, i) => (update && i > 1 ? Math.ceil(n / 8) : 8 * Math.ceil(n / 64)));
      for (const n of lengths) total += n;
      return () => open(bits.map((n, i) => {
        const size = 8 * Math.ceil(n / 64), length = lengths[i];
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
    const body = skip(total);
    last = checksum(body, verify);
    at = body;
    const parsed = { codes, classOf: classOf(), level1: level1.map((open) => open()), level2: level2() };
    at += 4;
    return parsed;
  };

  do {
    if (records.length === maxRecords) throw new TooLargeError(`more than ${maxRecords} records`, at);
    records.push(record());
  } while (at < bytes.length);
  return { records, hash, seed, universe, members, partitions };
}
