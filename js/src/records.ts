// The records of an exact set. See docs/format/exact.md.

import { crc32c } from './crc32c.js';
import {
  ChecksumError, CorruptError, HashError, MagicError, TooLargeError, TruncatedError, VersionError,
} from './errors.js';
import { viewOf } from './header.js';
import { beginning } from './options.js';
import { type Find, halves, ribbonOf } from './ribbon.js';
import { checkZeros, sectionWords } from './sections.js';
import type { Hash } from './types.js';
import { fold, product } from './wide.js';

/** Returns 1 if a record has a key, else 0. It takes the hash of the key, and that of the partition's name. */
export type ExactRecord = (h: Hash, name: Hash) => number;

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

/** The length of the trailer, which ends an exact set. */
export const trailerBytes = 20;

const maxRecords = 256;

/** The query of a part without keys: absent, and the value 0. */
const nothing: Find = (_, value) => (value ? 0 : -1);

/** The hash of a key for level 2. */
const second = /* @__PURE__ */ new Int32Array(4);

/**
 * Returns a record of parts. codes are the codes of the classes: 2·r, plus 1 if level 1 contains the keys that the
 * record does not contain. classOf returns the number of a partition's class, or a larger one for the last class.
 * level1 is by r.
 */
const ofParts = (codes: number[], classOf: Find, level1: Find[], level2: Find): ExactRecord => (h, name) => {
  const code = codes[Math.min(classOf(name, true), codes.length - 1)], r = code >> 1;
  if (r > 31 || (r && level1[r](h) < 0)) return code & 1;
  fold(h[0] ^ 0x847dd1a6, h[1] ^ 0x681c64a0, 0x2babb779, 0xa50932dd);
  second[0] = product[0];
  second[1] = product[1];
  fold(h[2] ^ 0x990dae16, h[3] ^ 0xd62833eb, 0x64ca1c4f, 0xca4e6157);
  second[2] = product[0];
  second[3] = product[1];
  return (code & 1) ^ level2(second, true);
};

/** Returns a record of positions of b bits, whose lower and upper words are in two lists. They ascend. */
function ofPositions(lows: Uint32Array, highs: Uint32Array, b: number, seed: number): ExactRecord {
  const [sl, sh] = halves(BigInt(seed + 1) * 0x9e3779b97f4a7c15n), s = (64 - b) & 31;
  return (h) => {
    fold(h[0] ^ h[2] ^ sl, h[1] ^ h[3] ^ sh, 0xa30e124d, 0x773ab51d);
    const u = product[1], high = b > 32 ? u >>> s : 0;
    const low = (b > 32 ? (product[0] >>> s) | ((u << 1) << (31 - s)) : u >>> s) >>> 0;
    let from = 0;
    for (let end = lows.length; from < end; ) {
      const middle = (from + end) >>> 1;
      if (highs[middle] < high || (highs[middle] === high && lows[middle] < low)) from = middle + 1;
      else end = middle;
    }
    return +(lows[from] === low && highs[from] === high);
  };
}

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
  const bad = () => new CorruptError('damaged', at);
  /** Reads a number of least to most. */
  const number = (most = Infinity, least = 0): number => {
    const from = at;
    let v = 0;
    for (let unit = 1, byte = 128; byte > 127; unit *= 128) {
      byte = bytes[skip(1)];
      v += (byte & 127) * unit;
      if (unit >= 2 ** 70 || (unit > 1 && !byte)) throw bad();
    }
    if (v < least || v > most) throw bad();
    if (v > Number.MAX_SAFE_INTEGER) throw new TooLargeError('number of 2^53 or more', from);
    return v;
  };
  /** Reads the checksum of the bytes from one on. */
  const checksum = (from: number, compare = true): number => {
    const sum = compare && crc32c(bytes.subarray(from, at)), stored = u32();
    if (compare && sum !== stored) throw new ChecksumError('checksum', from);
    return stored;
  };

  /** Reads the positions of an update. */
  const positions = (): ExactRecord => {
    const n = number(4096), b = n && number(64, 1), seed = n && number(65_535);
    const lows = new Uint32Array(n), highs = new Uint32Array(n), k = Math.max(0, b - n.toString(2).length);
    let used = 8; // bits of the byte before at
    const bit = (): number => {
      if (used > 7) {
        skip(1);
        used = 0;
      }
      return (bytes[at - 1] >> used++) & 1;
    };
    const word = (bits: number): number => {
      let v = 0;
      for (let i = 0; i < bits; i++) v += bit() * 2 ** i;
      return v;
    };
    for (let i = 0, low = 0, high = 0; i < n; i++) {
      let units = 0;
      while (bit()) if (++units > 2 ** 13) throw bad();
      units *= 2 ** k;
      low += word(Math.min(k, 32)) + (units % 2 ** 32);
      high += word(k - 32) + Math.floor(units / 2 ** 32) + Math.floor(low / 2 ** 32);
      low %= 2 ** 32;
      if (b > 32 ? high >= 2 ** (b - 32) : high || low >= 2 ** b) throw bad();
      lows[i] = low++;
      highs[i] = high;
    }
    if (used < 8 && bytes[at - 1] >> used) throw bad();
    return ofPositions(lows, highs, b, seed);
  };

  /** Reads the next record. */
  const record = (): ExactRecord => {
    const from = at, update = records.length > 0;
    if (u32() !== 0x584c4289) {
      throw new MagicError(`no exact set: it begins with ${beginning(bytes.subarray(from))}`, from);
    }
    if (number() !== 1) throw new VersionError('a newer exact set: update bloomery', from);
    const kind = number(2);
    if (!kind === update) throw bad();
    if (!update) {
      hash = number();
      if (hash !== 1 && hash !== 2) throw new HashError(`hash function ${hash}`, from);
      seed = view.getBigUint64(skip(8), true);
      if (hash > 1 && !seed) throw bad();
    } else if (u32() !== last) {
      throw bad();
    }
    universe = number();
    members = number(universe);
    const parts = number();
    if (update && !parts !== !partitions) throw bad();
    partitions = parts;
    if (kind === 2) {
      const record = positions();
      last = checksum(from);
      return record;
    }
    if (partitions) number(); // the entropy
    const codes = Array.from({ length: number(partitions ? 66 : 1, 1) }, () => {
      const code = number(65);
      number(number()); // the keys of the class, and those that the record has
      return code;
    });
    if (codes.some((code, i) => i && code <= codes[i - 1])) throw bad();

    let total = 0; // bytes of the sections
    /** Reads the geometry of a part, and returns what reads its sections. */
    const part = (r: number, values: number): (() => Find) => {
      if (!number()) return () => nothing;
      const shape = number(33), seed = number(65_535);
      const starts = Array.from({ length: shape >> 1 }, () => 64 * number(2 ** 42, 1));
      const tail = number(256), tailSeed = number(65_535);
      if ((!tail && (tailSeed || !starts[0])) || (seed && !starts[0])) throw bad();
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
    while (!update && at % 8) if (bytes[skip(1)]) throw bad();
    const body = skip(total);
    last = checksum(body, verify);
    at = body;
    const parsed = ofParts(codes, classOf(), level1.map((open) => open()), level2());
    at += 4;
    return parsed;
  };

  /** Reads the trailer. */
  const trailer = (): void => {
    const from = skip(trailerBytes);
    if (crc32c(bytes.subarray(from - 4, at - 4)) !== view.getUint32(at - 4, true)) {
      throw new ChecksumError('checksum', from);
    }
    const length = view.getBigUint64(from + 4, true), updates = view.getUint32(from + 12, true);
    if (length !== BigInt(bytes.length) || at < bytes.length || updates !== records.length - 1) throw bad();
  };
  /** Whether the last record was read: the trailer follows. */
  const ends = (): boolean => at + 4 <= bytes.length && view.getUint32(at, true) === 0x454c4289;

  do {
    if (records.length === maxRecords) throw new TooLargeError(`more than ${maxRecords} records`, at);
    records.push(record());
  } while (!ends());
  trailer();
  return { records, hash, seed, universe, members, partitions };
}
