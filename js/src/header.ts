// The part of a file before its sections.

import { crc32c } from './crc32c.js';
import {
  ChecksumError, CorruptError, HashError, MagicError, TooLargeError, TruncatedError, VersionError,
} from './errors.js';
import { beginning } from './options.js';
import { Spec } from './spec.js';

/** The verified header of a file. */
export interface Header {
  readonly family: number;
  readonly hash: number;
  /** Hash 1: the seed. Hash 2: the key check. */
  readonly seed: bigint;
  readonly keys: bigint;
  /** Length of the file in bytes. */
  readonly length: number;
  /** The false-positive rate that was planned for the filter, or 0 if none was. */
  readonly fprPlanned: number;
  /** The text of the form of keys, such as trim,lower or int32. */
  readonly form: string;
  /** Whether the last section holds exceptions. */
  readonly exceptions: boolean;
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
  ' xxh3-128 siphash-128 xxh64 murmur3-x64-128 murmur3-x64-128-twice murmur64a-twice murmur3-x86-32-twice uint64 fnv1-64'
    .split(' ');

const keyTypes = /* @__PURE__ */
  'bytes text int32 uint32 int64 uint64 date decimal32 decimal64 decimal fixed'.split(' ');

/** Returns the text of a form of keys, or nothing if a later program wrote it. */
function formOf([flags, type, scale, width]: Uint8Array): string {
  const words = [flags & 1 && 'trim', flags & 2 && 'lower', (type || !flags) && keyTypes[type],
    scale && `scale=${scale}`, width && `width=${width}`];
  const unknown = flags > 3 || type > 10 || (scale && (type < 7 || type > 9)) || (width ? type < 9 : type > 9);
  return unknown ? '' : words.filter(Boolean).join();
}

const align = (n: number) => Math.ceil(n / 64) * 64;

/** The error for a field of the header, by its offset. */
const bad = (at: number) => new CorruptError('header', at);

/** The error for a field that only a later program writes so, by its offset. */
const newer = (at: number) => new VersionError('newer: update bloomery', at);

/** Returns how many of the first bytes of a file are its header, or 64 while fewer are there. It throws FormatError. */
export function headerLength(bytes: Uint8Array): number {
  const magic = '\x89BLMRY\r\n';
  if (bytes.subarray(0, 8).some((b, i) => b !== magic.charCodeAt(i))) {
    throw new MagicError(`not a Bloomery file: it begins with ${beginning(bytes)}`, 0);
  }
  if (bytes.length < 64) return 64;
  const view = viewOf(bytes), version = view.getUint16(8, true);
  if (version === 0) throw bad(8);
  if (version > 1) throw newer(8);
  const sections = bytes[14], spec = view.getUint32(56, true);
  if (sections < 1 || sections > 8) throw bad(14);
  if (spec < 1 || spec > 512) throw bad(56);
  return align(64 + 24 * sections + spec);
}

/** Reads and verifies the header at the start of a file. It throws FormatError. */
export function parseHeader(bytes: Uint8Array): Header {
  const dataAt = headerLength(bytes);
  if (bytes.length < dataAt) throw new TruncatedError('end of the file', bytes.length);
  const view = viewOf(bytes);
  const u16 = (at: number) => view.getUint16(at, true), u32 = (at: number) => view.getUint32(at, true);
  const u64 = (at: number) => view.getBigUint64(at, true);
  const count = bytes[14], specAt = 64 + 24 * count, end = specAt + u32(56);
  if (crc32c(bytes.subarray(64, end), crc32c(bytes.subarray(0, 60))) !== u32(60)) {
    throw new ChecksumError('checksum', 60);
  }
  const flags = bytes[15], hash = u16(12), seed = u64(16), fprPlanned = view.getFloat64(48, true);
  const form = formOf(bytes.subarray(24, 28));
  if (flags > 1 || !form || u32(28)) throw newer(15);
  if (hash < 1 || hash > 9) throw new HashError(`hash function ${hash}`, 12);
  if (hash > 1 && (hash === 2) !== (seed > 0n)) throw bad(16);
  if (!(fprPlanned > 0 && fprPlanned < 1) && u64(48)) throw bad(48);
  if (flags && (count < 2 || hash > 2)) throw bad(15);
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
  return {
    family: u16(10), hash, seed, keys: u64(32), length, fprPlanned, form, exceptions: flags > 0, spec, sections, dataAt,
  };
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
