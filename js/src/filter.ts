// An open filter, and how files become filters.

import { crc32c } from './crc32c.js';
import { ChecksumError, CorruptError, FamilyError, NoSecretError, SecretError, TruncatedError } from './errors.js';
import { keyCheck, siphash } from './hash/siphash.js';
import { xxh3 } from './hash/xxh3.js';
import { type Header, hashNames, parseHeader } from './header.js';
import { type Key, OwnBuffer, putKey } from './key.js';
import { sectionWords } from './sections.js';
import type { Engine, EngineMaker, Family, HashSetup } from './types.js';

/** How a file is opened. */
export interface OpenOptions {
  /** False: the checksums of the sections are not compared. Default: true. The header is always verified. */
  verify?: boolean;
  /** The secret that the filter was built with: 16 bytes, or 32 hexadecimal digits. */
  secret?: Uint8Array | string;
}

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
  /** The false-positive rate that was chosen for the filter, if it was stored. */
  chosenRate?: number;
  /** The format version of the file: 1 or 2. */
  version: number;
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

  /** @internal */
  constructor(header: Header, engine: Engine) {
    this.#header = header;
    this.#engine = engine;
  }

  /** Reports whether the key may be in the set. It is never false for a key of the set. */
  has(key: Key): boolean {
    const engine = this.#engine;
    return engine.has(putKey(engine.buffer, key));
  }

  /** Returns has of each key, in order. */
  hasMany(keys: Iterable<Key>): boolean[] {
    return Array.from(keys, (key) => this.has(key));
  }

  /** Returns how often the key was added, or more. It throws TypeError if the family does not count: see info. */
  count(key: Key): number {
    const engine = this.#engine;
    if (!engine.count) throw new TypeError(`${this.#header.spec.text} does not count`);
    return engine.count(putKey(engine.buffer, key));
  }

  /**
   * Returns the value of the key, or undefined if the key is absent. For an absent key it may return a value of
   * another. It throws TypeError if the filter has no values.
   */
  get(key: Key): bigint | undefined {
    const engine = this.#engine;
    if (!engine.get) throw new TypeError(`${this.#header.spec.text} has no values`);
    return engine.get(putKey(engine.buffer, key));
  }

  /** Describes the filter. */
  info(): FilterInfo {
    const { spec, hash, keys, length, chosenRate, version, sections } = this.#header;
    return {
      spec: spec.text,
      family: spec.family,
      hash: hashNames[hash],
      keys: keys > Number.MAX_SAFE_INTEGER ? keys : Number(keys),
      bytes: length,
      bitsPerKey: sections.reduce((sum, s) => sum + 8 * s.length, 0) / Number(keys),
      ...(chosenRate ? { chosenRate } : {}),
      version,
      counts: !!this.#engine.count,
      values: !!this.#engine.get,
      wasm: 'wasm' in this.#engine,
    };
  }
}

/** The buffer of the keys of all plain engines. */
const buffer = /* @__PURE__ */ new OwnBuffer();

/** Answers queries in JavaScript. */
export const plainEngine: EngineMaker = (query, { sum }) => {
  const h = new Int32Array(8);
  const hash = (n: number) => {
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
  readonly engine: EngineMaker;
}

/** Returns the family and the hash function of a file, or throws FormatError. */
export function accept(header: Header, opener: Opener): { family: Family; hash: HashSetup } {
  const family = opener.families.find((f) => f.id === header.family);
  if (!family) throw new FamilyError(`family ${header.family} is unknown or not imported`, 10);
  if (family.name !== header.spec.family) throw new CorruptError(`${header.spec.text} in a file of ${family.name}`, 10);
  return { family, hash: hashOf(header, family, opener.secret) };
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
    const { sections } = this.header;
    while (this.#section < sections.length) {
      const { offset, length, crc } = sections[this.#section], last = offset + length;
      if (this.#at < offset) {
        const to = Math.min(end, offset);
        if (file.subarray(this.#at, to).some((b) => b)) throw new CorruptError('padding', this.#at);
        this.#at = Math.max(this.#at, to);
      }
      if (end < offset) return;
      const to = Math.min(end, last);
      if (this.sums && this.#at < to) this.#crc = crc32c(file.subarray(this.#at, to), this.#crc);
      this.#at = Math.max(this.#at, to);
      if (end < last) return;
      if (this.sums && this.#crc !== crc) throw new ChecksumError('checksum', offset);
      this.#section++;
      this.#crc = 0;
    }
  }
}

/** A family and the hash function of a file. */
export type Accepted = ReturnType<typeof accept>;

/** Opens a file of the length in its header that a Checker has verified. It throws FormatError. */
export function openVerified(file: Uint8Array, header: Header, opener: Opener, { family, hash }: Accepted): Filter {
  const opened = { header, spec: header.spec, sections: header.sections.map((s) => sectionWords(file, s)) };
  return new Filter(header, opener.engine(family.open(opened), hash, opened));
}

/** Opens a whole file. It throws FormatError. */
export function openBytes(file: Uint8Array | ArrayBuffer, opener: Opener): Filter {
  const bytes = file instanceof ArrayBuffer ? new Uint8Array(file) : file;
  if (!(bytes instanceof Uint8Array)) throw new TypeError('want a Uint8Array or ArrayBuffer');
  const header = parseHeader(bytes), { length } = header, accepted = accept(header, opener);
  if (bytes.length < length) throw new TruncatedError('end of the file', bytes.length);
  if (bytes.length > length) throw new CorruptError('bytes behind the filter', length);
  new Checker(header, opener.verify ?? true).check(bytes, length);
  return openVerified(bytes, header, opener, accepted);
}

type Secret = OpenOptions['secret'];

/** What decides about the hash function: of a header, or of the manifest of a sharded set. */
type Hashed = Pick<Header, 'hash' | 'seed' | 'keyCheck' | 'spec'>;

/** Returns the hash function of a file. It throws FormatError if the family does not have it, or the secret is wrong. */
export function hashOf({ hash: id, seed, keyCheck: check, spec }: Hashed, { foreign }: Family, given: Secret): HashSetup {
  const sum = foreign?.hash(id, spec);
  if (sum) return { id, seed, sum };
  if (foreign?.only || id > 2) throw new CorruptError(`hash function ${id} of ${spec.text}`, 12);
  if (id === 1) return { id, seed, sum: xxh3(seed) };
  const secret = secretOf(given);
  const keyed = siphash(secret);
  if (keyCheck(keyed) !== check) throw new SecretError('the filter has another secret', 24);
  return { id, seed, secret, sum: keyed };
}

/** Returns the 16 bytes of a secret. */
function secretOf(secret: Secret): Uint8Array {
  if (secret === undefined) throw new NoSecretError('the filter needs its secret: pass option secret', 24);
  if (typeof secret === 'string' && /^[0-9a-f]{32}$/i.test(secret)) {
    return Uint8Array.from(secret.match(/../g)!, (b) => parseInt(b, 16));
  }
  if (typeof secret === 'string' || secret.length !== 16) throw new TypeError('a secret has 16 bytes or 32 hexadecimal digits');
  return secret.slice();
}
