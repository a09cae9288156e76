// The part of a file before its sections.

import { crc32c } from './crc32c.js';
import {
  ChecksumError, CorruptError, HashError, MagicError, TooLargeError, TruncatedError, VersionError,
} from './errors.js';
import { beginning } from './options.js';
import { Spec } from './spec.js';

/** The verified header of a file. */
export interface Header {
  /** Format version: 1, or 2 with a chosen rate. */
  readonly version: number;
  readonly family: number;
  readonly hash: number;
  readonly seed: bigint;
  readonly keyCheck: bigint;
  readonly keys: bigint;
  /** Length of the file in bytes. */
  readonly length: number;
  /** The false-positive rate that was chosen for the filter, or 0 if none was. */
  readonly chosenRate: number;
  readonly spec: Spec;
  readonly sections: readonly Section[];
  /** Offset of the first section. */
  readonly dataAt: number;
}

/** A section of a file. Offset and length are in bytes, multiples of 64 and of 8. */
export interface Section {
  readonly offset: number;
  readonly length: number;
  readonly crc: number;
}

/** The names of hash functions; the index is the number in files. */
export const hashNames: readonly string[] =
  /* @__PURE__ */
  ' xxh3-128 siphash-128 xxh64 murmur3-x64-128 murmur3-x64-128-twice murmur64a-twice murmur3-x86-32-twice uint64'
    .split(' ');

const align = (n: number) => Math.ceil(n / 64) * 64;

/** The error for a field of the header, by its offset. */
const bad = (at: number) => new CorruptError('header', at);

/** Returns how many of the first bytes of a file are its header, or 64 while fewer are there. It throws FormatError. */
export function headerLength(bytes: Uint8Array): number {
  const magic = '\x89BLMRY\r\n';
  if (bytes.subarray(0, 8).some((b, i) => b !== magic.charCodeAt(i))) {
    throw new MagicError(`not a Bloomery file: it begins with ${beginning(bytes)}`, 0);
  }
  if (bytes.length < 64) return 64;
  const view = viewOf(bytes), version = view.getUint16(8, true);
  if (version === 0) throw bad(8);
  if (version > 3) throw new VersionError(`version ${version}: update bloomery`, 8);
  const sections = view.getUint16(14, true), spec = view.getUint32(48, true);
  if (sections < 1 || sections > 8) throw bad(14);
  if (spec < 1 || spec > 512) throw bad(48);
  return align(64 + 24 * sections + spec);
}

/** Reads and verifies the header at the start of a file. It throws FormatError. */
export function parseHeader(bytes: Uint8Array): Header {
  const dataAt = headerLength(bytes);
  if (bytes.length < dataAt) throw new TruncatedError('end of the file', bytes.length);
  const view = viewOf(bytes);
  const u16 = (at: number) => view.getUint16(at, true), u32 = (at: number) => view.getUint32(at, true);
  const u64 = (at: number) => view.getBigUint64(at, true);
  const count = u16(14), specAt = 64 + 24 * count, end = specAt + u32(48);
  if (crc32c(bytes.subarray(64, end), crc32c(bytes.subarray(0, 60))) !== u32(60)) {
    throw new ChecksumError('checksum', 60);
  }
  const version = u16(8), hash = u16(12), seed = u64(16), keyCheck = u64(24);
  if (hash < 1 || hash > 8) throw new HashError(`hash function ${hash}`, 12);
  if ((hash !== 2) !== (keyCheck === 0n) || (hash !== 1 && seed) || (version > 2 && hash > 2)) {
    throw bad(16);
  }
  const chosenRate = view.getFloat64(52, true);
  if (!(version > 1 && chosenRate > 0 && chosenRate < 1) && (version === 2 || u64(52))) {
    throw bad(52);
  }
  if (bytes.subarray(end, dataAt).some((b) => b)) throw bad(end);
  const spec = new Spec(String.fromCharCode(...bytes.subarray(specAt, end)));

  const sections: Section[] = [];
  let length = dataAt;
  for (let i = 0, at = 64; i < count; i++, at += 24) {
    const offset = align(length), size = number(u64(at + 8));
    if (u64(at) !== BigInt(offset) || size % 8 || u32(at + 20)) throw bad(at);
    sections.push({ offset, length: size, crc: u32(at + 16) });
    length = number(BigInt(offset) + BigInt(size));
  }
  if (u64(40) !== BigInt(length)) throw bad(40);
  return { version, family: u16(10), hash, seed, keyCheck, keys: u64(32), length, chosenRate, spec, sections, dataAt };
}

/** Returns v as a number, and throws TooLargeError from 2^52 on, so that all sums are exact. */
function number(v: bigint): number {
  if (v >> 52n) throw new TooLargeError('size of 2^52 or more', 40);
  return Number(v);
}

/** A view of the same bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
