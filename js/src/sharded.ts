// A sharded set: many filters, each of the keys that routing 1 gives it, loaded when they are first needed.

import { CorruptError, FamilyError, ManifestError, ShardError } from './errors.js';
import { Checker, fit, hashOf, list, type Opener, queries, typeOf } from './filter.js';
import { hashNames, parseHeader } from './header.js';
import { type Key, OwnBuffer, putKey } from './key.js';
import { type Manifest, parseManifest } from './manifest.js';
import { callback, want } from './options.js';
import { present } from './sections.js';
import { sha256 } from './sha256.js';
import type { Family, Hash, HashSetup, Query } from './types.js';
import { fold, position, product } from './wide.js';

/** Returns the bytes of a file of a sharded set, `bytes` long, by its name in the manifest. */
export type ShardLoader = (file: string, bytes: number) => Promise<Uint8Array>;

/** What a sharded set says about itself. */
export interface ShardedInfo {
  /** The spec that each shard was built with; the spec in a shard's file has its geometry in addition. */
  spec: string;
  family: string;
  /** The name of the hash function, such as xxh3-128. */
  hash: string;
  /** How keys became bytes, such as trim,lower or int32: see docs/format.md. */
  keyForm: string;
  /** The number of keys of all shards. */
  keys: number;
  /** The length of all files in bytes. */
  bytes: number;
  /** Bits of the files for each key; Infinity without keys. */
  bitsPerKey: number;
  /** The false-positive rate that was planned for the set, if it was stored. */
  fprPlanned?: number;
  /** The false-positive rate that was computed from the bits of the shards: their mean. */
  fprPosterior: number;
  /** The number of shards, and how many of them are loaded. */
  shards: number;
  loaded: number;
}

/** The queries of a shard that is loaded, and its file. */
type Shard = Query & { readonly bytes: Uint8Array };

/** How many shards lookupMany loads at a time. */
const atOnce = 8;

/** Returns the shard of a key among n: routing 1. */
export function route(h: Hash, n: number): number {
  fold(h[2] ^ 0x5f1d36f1, h[3] ^ 0xa54ff53a, h[0] ^ 0xade682d1, h[1] ^ 0x510e527f);
  fold(product[0] ^ 0x5f1d36f1, product[1] ^ 0xa54ff53a, 0x2b3e6c1f, 0x9b05688c);
  return position(product[0], product[1], n);
}

/**
 * An open sharded set. A query loads the shard of its key, compares it with the manifest and keeps it; concurrent
 * queries share one load. If a load fails, the queries reject with ShardError, and the next one tries again. Queries
 * return promises, so they have other names than those of a Filter: a promise itself counts as true.
 */
export class ShardedFilter {
  readonly #manifest: Manifest;
  readonly #family: Family;
  readonly #hash: HashSetup;
  readonly #type: string | undefined;
  readonly #load: ShardLoader;
  readonly #verify: boolean;
  /** The shards that are loaded, or that are being loaded. */
  readonly #shards = new Map<number, Shard | Promise<Shard>>();
  readonly #key = new OwnBuffer();
  readonly #h: Hash = new Int32Array(8);

  /** @internal */
  constructor(manifest: Manifest, load: ShardLoader, opener: Opener) {
    const { spec } = manifest, family = opener.families.find((f) => f.name === spec.family);
    if (!family) throw new FamilyError(`family ${spec.family} is unknown or not imported`);
    this.#family = family;
    this.#hash = hashOf(manifest, family, opener);
    this.#manifest = manifest;
    this.#type = typeOf(manifest.form);
    this.#load = load;
    this.#verify = opener.verify ?? true;
  }

  /** The number of keys of all shards. */
  get size(): number {
    return this.info().keys;
  }

  get [Symbol.toStringTag](): string {
    return 'ShardedFilter';
  }

  /** Reports whether the key may be in the set. It is never false for a key of the set. */
  lookup(key: Key): Promise<boolean> {
    return this.#ask(key, (q, h) => q.has(h));
  }

  /** Returns how often the key was added, or more. It rejects with TypeError if the family does not count. */
  lookupCount(key: Key): Promise<number> {
    return this.#ask(key, (q, h) => {
      if (!q.count) throw new TypeError('no counts in this filter');
      return q.count(h);
    });
  }

  /** Returns the value of the key, or undefined if it is absent. It rejects with TypeError without values. */
  lookupValue(key: Key): Promise<bigint | undefined> {
    return this.#ask(key, (q, h) => {
      if (!q.get) throw new TypeError('no values in this filter');
      return q.get(h);
    });
  }

  /** Returns lookup of each key, in order. It loads the shards of all keys first, a few at a time. */
  async lookupMany(keys: Iterable<Key>): Promise<boolean[]> {
    list(keys);
    const n = this.#manifest.shards.length, byShard = new Map<number, number[]>(), words: number[] = [];
    let count = 0;
    for (const key of keys) {
      const h = this.#sum(key), shard = route(h, n), list = byShard.get(shard);
      if (list) list.push(count);
      else byShard.set(shard, [count]);
      words.push(h[0], h[1], h[2], h[3]);
      count++;
    }
    const has = new Array<boolean>(count), h = new Int32Array(8), shards = byShard.entries();
    const worker = async (): Promise<void> => {
      for (const [shard, list] of shards) {
        const query = await this.#shard(shard);
        present(query.bytes);
        for (const i of list) {
          for (let j = 0; j < 4; j++) h[j] = words[4 * i + j];
          has[i] = query.has(h);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, byShard.size) }, worker));
    return has;
  }

  /** Loads and checks all shards. It rejects with ShardError. */
  async check(): Promise<void> {
    for (let i = 0; i < this.#manifest.shards.length; i++) await this.#shard(i);
  }

  /** Describes the set. */
  info(): ShardedInfo {
    const { spec, hash, form, fprPlanned, shards } = this.#manifest;
    const sum = (of: (e: (typeof shards)[0]) => number) => shards.reduce((total, e) => total + of(e), 0);
    const keys = sum((e) => e.keys), bytes = sum((e) => e.bytes);
    return {
      spec: spec.text,
      family: spec.family,
      hash: hashNames[hash],
      keys,
      bytes,
      bitsPerKey: (8 * bytes) / keys,
      ...(fprPlanned && { fprPlanned }),
      keyForm: form,
      fprPosterior: sum((e) => e.fpr_posterior) / shards.length,
      shards: shards.length,
      loaded: [...this.#shards.values()].filter((s) => !(s instanceof Promise)).length,
    };
  }

  /** Returns the hash of a key, which the next call overwrites. */
  #sum(key: Key): Hash {
    if (this.#type) fit(key, this.#type);
    const n = putKey(this.#key, key); // may replace the view
    this.#hash.sum(this.#key.view, n, this.#h);
    return this.#h;
  }

  async #ask<T>(key: Key, ask: (q: Query, h: Hash) => T): Promise<T> {
    const h = this.#sum(key).slice(); // the loader may ask, too
    const found = this.#shard(route(h, this.#manifest.shards.length));
    const shard = found instanceof Promise ? await found : found;
    present(shard.bytes);
    return ask(shard, h);
  }

  /** Returns a shard, or the promise of it while it is loaded. */
  #shard(i: number): Shard | Promise<Shard> {
    let shard = this.#shards.get(i);
    if (!shard) {
      shard = this.#read(i).then(
        (query) => {
          this.#shards.set(i, query);
          return query;
        },
        (e) => {
          this.#shards.delete(i);
          throw new ShardError(this.#manifest.shards[i].file, e);
        },
      );
      this.#shards.set(i, shard);
    }
    return shard;
  }

  async #read(i: number): Promise<Shard> {
    const m = this.#manifest, { file, keys, bytes: length, sha256: sum } = m.shards[i];
    const loaded = await this.#load(file, length);
    want('a shard', loaded, ArrayBuffer.isView(loaded), 'a Uint8Array');
    // The platform hashes asynchronously: nothing may change the bytes meanwhile.
    const bytes = new Uint8Array(loaded.buffer, loaded.byteOffset, loaded.byteLength);
    if (bytes.length !== length) throw new CorruptError(`${bytes.length} bytes, want ${length}`);
    const header = parseHeader(bytes), { spec } = header;
    if (header.family !== this.#family.id || spec.family !== m.spec.family || header.hash !== m.hash ||
      header.seed !== m.seed || header.keys !== BigInt(keys) || header.length !== length || header.form !== m.form) {
      throw new CorruptError('the file does not belong to this set');
    }
    new Checker(header, this.#verify).check(bytes, length);
    if (this.#verify && (await sha256(bytes)) !== sum) {
      throw new CorruptError('the file is not the one in the manifest');
    }
    return { ...queries(bytes, header, this.#family).query, bytes };
  }
}

/** Opens a sharded set from its manifest. It rejects with ManifestError. */
export async function openShards(
  manifest: string | Uint8Array, load: ShardLoader, opener: Opener,
): Promise<ShardedFilter> {
  want('load', load, callback[1](load), callback[0]);
  const isText = typeof manifest === 'string' || ArrayBuffer.isView(manifest);
  want('manifest', manifest, isText || (manifest as unknown) instanceof ArrayBuffer, 'a string or a Uint8Array');
  const parsed = await parseManifest(manifest);
  try {
    return new ShardedFilter(parsed, load, opener);
  } catch (e) {
    if (e instanceof CorruptError) throw new ManifestError(e.message);
    throw e;
  }
}
