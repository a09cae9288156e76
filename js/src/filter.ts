// An open filter, and how files become filters.

import { crc32c } from './crc32c.js';
import { ChecksumError, CorruptError, FamilyError, FetchError, HashError, TruncatedError } from './errors.js';
import { except } from './exceptions.js';
import { xxh3 } from './hash/xxh3.js';
import { type Header, hashNames, parseHeader } from './header.js';
import { buffer, type Key, putKey } from './key.js';
import { check, flag, type Rule, want } from './options.js';
import { faultOf } from './response.js';
import { present, sectionWords } from './sections.js';
import type { Engine, EngineMaker, Family, FilterFile, Hashed, HashSetup, KeyHash, Query } from './types.js';

/** How a file is opened. */
export interface OpenOptions {
  /** False: the checksums of the sections are not compared. Default: true. The header is always verified. */
  verify?: boolean;
  /** The secret that the filter was built with: 16 bytes, or 32 hexadecimal digits. */
  secret?: Uint8Array | string;
}

/** siphash checks the length, if the file needs a secret: an error must not show it. */
const isSecret: Rule = ['16 bytes or 32 hex digits', (v) => v?.length >= 0];

/** Returns options of opening, and those with more rules, as check does. It throws TypeError. */
export const checked = <Options extends OpenOptions>(options: Options, more?: Record<string, Rule>): Options =>
  check(options, { verify: flag, secret: isSecret, wasm: flag, ...more });

/** What a filter says about itself. */
export interface FilterInfo {
  /** The spec, such as blocked(blocks=17,k=7,layout=line). */
  spec: string;
  family: string;
  /** The name of the hash function, such as xxh3-128. */
  hash: string;
  /** The number of keys: a BigInt above 2^53-1. */
  keys: number | bigint;
  /** The length of the file in bytes. */
  bytes: number;
  /** Bits of the sections for each key; Infinity without keys. */
  bitsPerKey: number;
  /** The false-positive rate that was planned for the filter, if it was stored. */
  fprPlanned?: number;
  /** How keys became bytes, such as trim,lower or int32: see docs/format.md. */
  keyForm: string;
  /** True if the filter is exact for a list of allowed keys. */
  exceptions: boolean;
  /** True if the filter counts: see count. */
  counts: boolean;
  /** True if keys have values: see get. */
  values: boolean;
  /** True if queries are answered by WebAssembly. */
  wasm: boolean;
}

/** An open filter. It answers queries from memory and never changes. */
export class Filter {
  readonly #engine: Engine;
  readonly #header: Header;
  readonly #type: string | undefined;

  /** @internal */
  constructor(header: Header, engine: Engine) {
    this.#header = header;
    this.#engine = engine;
    this.#type = typeOf(header.form);
  }

  #put(key: Key): number {
    if (this.#type) fit(key, this.#type);
    return putKey(this.#engine.buffer, key);
  }

  /** The number of keys: `keys` of info, rounded to a number above 2^53. */
  get size(): number {
    return Number(this.#header.keys);
  }

  get [Symbol.toStringTag](): string {
    return 'Filter';
  }

  /** Reports whether the key may be in the set. It is never false for a key of the set. */
  has(key: Key): boolean {
    return this.#engine.has(this.#put(key));
  }

  /** Returns has of each key, in order. */
  hasMany(keys: Iterable<Key>): boolean[] {
    return Array.from(list(keys), (key) => this.has(key));
  }

  /** Returns how often the key was added, or more. It throws TypeError if the family does not count: see info. */
  count(key: Key): number {
    const engine = this.#engine;
    if (!engine.count) throw new TypeError('no counts in this filter');
    return engine.count(this.#put(key));
  }

  /**
   * Returns the value of the key, or undefined if the key is absent. For an absent key it may return a value of
   * another. It throws TypeError if the filter has no values.
   */
  get(key: Key): bigint | undefined {
    const engine = this.#engine;
    if (!engine.get) throw new TypeError('no values in this filter');
    return engine.get(this.#put(key));
  }

  /** Describes the filter. */
  info(): FilterInfo {
    const { spec, hash, keys, length, fprPlanned, form, exceptions, sections } = this.#header;
    return {
      spec: spec.text,
      family: spec.family,
      hash: hashNames[hash],
      keys: keys >> 53n ? keys : Number(keys),
      bytes: length,
      bitsPerKey: sections.reduce((sum, s) => sum + 8 * s.length, 0) / Number(keys),
      ...(fprPlanned && { fprPlanned }),
      keyForm: form,
      exceptions,
      counts: !!this.#engine.count,
      values: !!this.#engine.get,
      wasm: 'wasm' in this.#engine,
    };
  }
}

/** Returns the type in a form of keys, without its parameters, if keys have a type. */
export const typeOf = (form: string): string | undefined => /text|u?int..|date|decimal|fixed/.exec(form)?.[0];

/** Throws TypeError if a key cannot be one of the type of a filter: bytes always are. */
export function fit(key: Key, type: string): void {
  const isText = typeof key === 'string';
  if (!ArrayBuffer.isView(key) && (type === 'text' ? !isText : isText || !type.includes('64'))) {
    throw new TypeError(`keys are ${type}: use keyOf of bloomery/value`);
  }
}

/** Returns a list of keys, and throws TypeError for one key. */
export function list(keys: Iterable<Key>): Iterable<Key> {
  want('keys', keys, typeof keys !== 'string' && keys?.[Symbol.iterator], 'an iterable of keys');
  return keys;
}

/** Answers queries in JavaScript. */
export const plainEngine: EngineMaker = (query, { sum }, { bytes }) => {
  const h = new Int32Array(8);
  const hash = (n: number) => {
    present(bytes);
    sum(buffer.view, n, h);
    return h;
  };
  const engine: Engine = { buffer, has: (n) => query.has(hash(n)) };
  if (query.count) engine.count = (n) => query.count!(hash(n));
  if (query.get) engine.get = (n) => query.get!(hash(n));
  return engine;
};

/** How filters are opened: by a caller's options and an entry of this package. */
export interface Opener extends OpenOptions {
  readonly families: readonly Family[];
  /** Hash functions besides XXH3 and those of other systems' families. */
  readonly hashes: readonly KeyHash[];
  readonly engine: EngineMaker;
}

/** Returns the family and the hash function of a file, or throws FormatError. */
export function accept(header: Header, opener: Opener): { family: Family; hash: HashSetup } {
  const family = opener.families.find((f) => f.id === header.family), { spec } = header;
  if (!family) throw new FamilyError(`family ${header.family} is wrong or not imported`, 10);
  if (family.name !== spec.family) throw spec.bad();
  return { family, hash: hashOf(header, family, opener) };
}

/** Verifies padding and checksums of a file while its bytes arrive. */
export class Checker {
  #at: number;
  #section = 0;
  #crc = 0;

  /** Without sums it verifies only the padding. */
  constructor(readonly header: Header, readonly sums: boolean) {
    this.#at = header.dataAt;
  }

  /** Verifies the file up to byte end. It throws FormatError. */
  check(file: Uint8Array, end: number): void {
    /** The bytes from the last call up to byte `to`, as far as they are there. */
    const take = (to: number) => file.subarray(this.#at, (this.#at = Math.max(this.#at, Math.min(end, to))));
    for (let s; (s = this.header.sections[this.#section]); this.#section++) {
      const last = s.offset + s.length;
      if (take(s.offset).some((b) => b)) throw new CorruptError('padding', s.offset);
      if (end < s.offset) return;
      const part = take(last);
      if (this.sums) this.#crc = crc32c(part, this.#crc);
      if (end < last) return;
      if (this.sums && this.#crc !== s.crc) throw new ChecksumError('checksum', s.offset);
      this.#crc = 0;
    }
  }
}

/** A family and the hash function of a file. */
export type Accepted = ReturnType<typeof accept>;

/** Opens a file of the length in its header that a Checker has verified. It throws FormatError. */
export function openVerified(file: Uint8Array, header: Header, opener: Opener, { family, hash }: Accepted): Filter {
  const { query, opened } = queries(file, header, family);
  return new Filter(header, opener.engine(query, hash, opened));
}

/** Returns the queries of a verified file. It throws FormatError. */
export function queries(file: Uint8Array, header: Header, family: Family): { query: Query; opened: FilterFile } {
  const sections = header.sections.map((s) => sectionWords(file, s));
  const opened = { header, bytes: file, spec: header.spec, sections };
  const exceptions = header.exceptions && opened.sections.pop(), query = family.open(opened);
  return { query: exceptions ? except(query, exceptions) : query, opened };
}

/** The bytes of a file, or what has them. */
export type FileSource = Uint8Array | ArrayBuffer | Blob | Response;

/**
 * Returns the bytes of a file, without a copy if they are in memory. It rejects with TypeError, and for a response
 * without a file with FetchError.
 */
export async function bytesOf(file: FileSource): Promise<Uint8Array> {
  const { status, url } = Object(file) as Response;
  const refuse = () => {
    throw new FetchError(url, status, faultOf(file as Response));
  };
  if (status > 299 || status === 206) refuse();
  // Without instanceof: the bytes may be of another realm, such as a frame or a test runner.
  const content = typeof (file as Blob)?.arrayBuffer === 'function' ? await (file as Blob).arrayBuffer() : file;
  const bytes = ArrayBuffer.isView(content) ? content : new Uint8Array(content as ArrayBuffer);
  const known = bytes.length === (content as ArrayBuffer)?.byteLength;
  want('file', file, known, 'bytes, a Blob or a Response');
  if (status >= 0 && !bytes.length) refuse();
  return bytes;
}

/** Opens a whole file. It rejects with FormatError. */
export async function openBytes(file: FileSource, opener: Opener): Promise<Filter> {
  const bytes = await bytesOf(file), header = parseHeader(bytes), { length } = header;
  const accepted = accept(header, opener);
  if (bytes.length < length) throw new TruncatedError('end of the file', bytes.length);
  if (bytes.length > length) throw new CorruptError('end of the file', length);
  new Checker(header, opener.verify ?? true).check(bytes, length);
  return openVerified(bytes, header, opener, accepted);
}

/** Returns the hash function of a filter. It throws FormatError if the family lacks it or the secret is wrong. */
export function hashOf(
  of: Hashed, { foreign }: Family, { hashes, secret }: Pick<Opener, 'hashes' | 'secret'>,
): HashSetup {
  const { hash: id, seed } = of;
  if (id === (foreign ? foreign[0] : 1)) return { id, seed, sum: foreign ? foreign[1] : xxh3(seed) };
  const other = !foreign && hashes.find((h) => h.id === id);
  if (!other) throw new HashError(`hash ${hashNames[id]} is wrong or not imported`, 12);
  return other.make(of, secret);
}
