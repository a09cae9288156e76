// An open filter, and how files become filters.

import { crc32c } from './crc32c.js';
import { ChecksumError, CorruptError, FamilyError, FormatError, NoSecretError, SecretError, TruncatedError } from './errors.js';
import { keyCheck, siphash } from './hash/siphash.js';
import { xxh3 } from './hash/xxh3.js';
import { type Header, parseHeader } from './header.js';
import { type Key, OwnBuffer, putKey } from './key.js';
import { sectionWords } from './sections.js';
import type { Engine, EngineMaker, Family, FilterFile, HashSetup } from './types.js';

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
  /** True if queries are answered by WebAssembly. */
  wasm: boolean;
}

const hashNames = ' xxh3-128 siphash-128 xxh64 murmur3-x64-128 murmur3-x64-128-twice murmur64a-twice'.split(' ');

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

/** Opens a file whose header is parsed. verified: its checksums and padding are verified. It throws FormatError. */
export function openFile(
  file: Uint8Array, header: Header, families: readonly Family[], options: OpenOptions, engine: EngineMaker, verified = false,
): Filter {
  const { spec, length } = header;
  const family = families.find((f) => f.id === header.family);
  if (!family) throw new FamilyError(`family ${header.family} is unknown, or not among the families given`, 10);
  if (family.name !== spec.family) throw new CorruptError(`${spec.text} in a file of ${family.name}`, 10);
  const hash = hashOf(header, family, options);
  if (file.length !== length) {
    if (file.length < length) throw new TruncatedError('the file ends too early', file.length);
    throw new CorruptError('bytes behind the filter', length);
  }
  if (!verified) verify(file, header, options.verify ?? true);
  const sections = header.sections.map((s) => sectionWords(file, s));
  const opened: FilterFile = { header, spec, sections };
  return new Filter(header, engine(family.open(opened), hash, opened));
}

/** Throws FormatError if bytes between sections are not zero or, with sums, a checksum differs. */
function verify(file: Uint8Array, { sections, dataAt }: Header, sums: boolean): void {
  let at = dataAt;
  for (const { offset, length, crc } of sections) {
    if (file.subarray(at, offset).some((b) => b)) throw new CorruptError('padding is not zero', at);
    at = offset + length;
    if (sums && crc32c(file.subarray(offset, at)) !== crc) throw new ChecksumError('the file is damaged', offset);
  }
}

/** Returns the hash function of a file. It throws FormatError if the family does not have it, or the secret is wrong. */
export function hashOf({ hash: id, seed, keyCheck: check, spec }: Header, { foreign }: Family, options: OpenOptions): HashSetup {
  const sum = foreign?.hash(id, spec);
  if (sum) return { id, seed, sum };
  if (foreign?.only || id > 2) throw new CorruptError(`a filter ${spec.text} does not have hash ${id}`, 12);
  if (id === 1) return { id, seed, sum: xxh3(seed) };
  const secret = secretOf(options.secret);
  const keyed = siphash(secret);
  if (keyCheck(keyed) !== check) throw new SecretError('the secret is not the one that the filter was built with', 24);
  return { id, seed, secret, sum: keyed };
}

/** Returns the 16 bytes of a secret. */
function secretOf(secret: OpenOptions['secret']): Uint8Array {
  if (secret === undefined) throw new NoSecretError('the filter was built with a secret: pass it as option secret', 24);
  if (typeof secret === 'string' && /^[0-9a-f]{32}$/i.test(secret)) {
    return Uint8Array.from(secret.match(/../g)!, (b) => parseInt(b, 16));
  }
  if (typeof secret === 'string' || secret.length !== 16) throw new TypeError('a secret is 16 bytes, or 32 hexadecimal digits');
  return secret.slice();
}

/** Returns the bytes of what a caller gave as a file. */
export function bytesOf(file: Uint8Array | ArrayBuffer): Uint8Array {
  if (file instanceof ArrayBuffer) return new Uint8Array(file);
  if (file instanceof Uint8Array) return file;
  throw new TypeError('a file is a Uint8Array or an ArrayBuffer');
}

/** Opens a whole file. It throws FormatError. */
export function openBytes(
  file: Uint8Array | ArrayBuffer, families: readonly Family[], options: OpenOptions, engine: EngineMaker,
): Filter {
  const bytes = bytesOf(file);
  try {
    return openFile(bytes, parseHeader(bytes), families, options, engine);
  } catch (e) {
    if (e instanceof RangeError && !(e instanceof FormatError)) throw new CorruptError(e.message); // no memory
    throw e;
  }
}
