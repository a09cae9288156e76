// Queries in WebAssembly: one module a page, one instance with a memory of its own a filter.

import { plainEngine } from '../filter.js';
import { viewOf } from '../header.js';
import type { CoreSetup, Engine, EngineMaker, Hash, HashFunction, HashSetup, KeyBuffer, Query } from '../types.js';
import { core } from './core.gen.js';

/** What wasm/core.c exports. Queries take the number of bytes of the key, or `given` if its hash is there. */
interface Exports {
  /** The address of the struct with these fields. */
  bloomery_page: WebAssembly.Global;
  has(n: number): number;
  count(n: number): number;
  get(n: number): number;
}

/** Offsets of the fields in bytes, and the length of the last one. */
const secretAt = 0, hashAt = 16, familyAt = 48, functionAt = 52, filterAt = 56, keysAt = 184, keysLength = 240;
const given = -1, pageSize = 1 << 16;

let compiled: Promise<WebAssembly.Module> | undefined;

/**
 * Resolves to the maker of engines in WebAssembly, or to that of plain ones if WebAssembly is missing or the page's
 * Content-Security-Policy forbids it. The module is compiled once.
 */
export async function wasmEngine(): Promise<EngineMaker> {
  try {
    const module = await (compiled ??= compile());
    return (query, hash, file) => {
      if (query.core) {
        try {
          return new WasmEngine(module, query, query.core, hash, file.header.family);
        } catch {
          // No memory: the plain form takes none.
        }
      }
      return plainEngine(query, hash, file);
    };
  } catch {
    return plainEngine;
  }
}

async function compile(): Promise<WebAssembly.Module> {
  const packed = Uint8Array.from(atob(core), (c) => c.charCodeAt(0));
  // Not by a Blob, whose stream detaches buffers: V8 reads all typed arrays of the page more slowly from then on.
  const { readable, writable } = new DecompressionStream('deflate'), writer = writable.getWriter();
  const written = writer.write(packed).then(() => writer.close());
  const bytes = await new Response(readable).arrayBuffer();
  await written;
  return WebAssembly.compile(bytes);
}

/** Keys in the memory of an instance, or outside of it if they are too long. */
class Keys implements KeyBuffer {
  bytes: Uint8Array;
  view: DataView;
  #long = new Uint8Array(0);

  constructor(readonly own: Uint8Array) {
    this.bytes = own;
    this.view = viewOf(own);
  }

  grow(n: number): void {
    if (n > Math.max(keysLength, this.#long.length)) this.#long = new Uint8Array(2 * n);
    this.bytes = n > keysLength ? this.#long : this.own;
    this.view = viewOf(this.bytes);
  }
}

class WasmEngine implements Engine {
  readonly wasm = true;
  readonly buffer: Keys;
  readonly count?: (n: number) => number;
  readonly get?: (n: number) => bigint | undefined;
  readonly #has: Exports['has'];
  readonly #sum: HashFunction;
  readonly #hash: Hash;
  /** The bytes of the keys that the core hashes: none if it does not have the hash function. */
  readonly #hashed: Uint8Array | undefined;

  constructor(module: WebAssembly.Module, query: Query, setup: CoreSetup, hash: HashSetup, family: number) {
    // The sections follow the page of the module.
    let end = pageSize;
    const places = setup.sections.map((words) => (end += words.byteLength) - words.byteLength);
    const memory = new WebAssembly.Memory({ initial: Math.ceil(end / pageSize) }), { buffer } = memory;
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    const { bloomery_page: page, has, count, get } = exports as unknown as Exports, view = new DataView(buffer, page.value);
    setup.sections.forEach((words, i) => new Uint32Array(buffer, places[i], words.length).set(words));

    let at = filterAt;
    for (const n of [...places, ...setup.numbers]) {
      if (typeof n === 'bigint') {
        at = Math.ceil(at / 8) * 8;
        view.setBigUint64(at, n, true);
        at += 8;
      } else {
        view.setUint32(at, n, true);
        at += 4;
      }
    }
    view.setUint32(familyAt, family, true);
    view.setUint32(functionAt, hash.id, true);
    view.setBigUint64(secretAt, hash.seed, true);
    const bytes = new Uint8Array(buffer, page.value, keysAt + keysLength), keys = bytes.subarray(keysAt);
    if (hash.secret) bytes.set(hash.secret);

    this.buffer = new Keys(keys);
    this.#has = has;
    this.#sum = hash.sum;
    this.#hash = new Int32Array(buffer, page.value + hashAt, 8);
    this.#hashed = hash.id <= 2 ? keys : undefined;
    if (query.count) this.count = (n) => count(this.#ready(n));
    if (query.get) {
      this.get = (n) => {
        const value = get(this.#ready(n));
        return value < 0 ? undefined : BigInt(value);
      };
    }
  }

  has(n: number): boolean {
    return this.#has(this.#ready(n)) === 1;
  }

  /** Returns n if the core can hash the key in the first n bytes of the buffer; else it hashes the key itself. */
  #ready(n: number): number {
    if (this.buffer.bytes === this.#hashed) return n;
    this.#sum(this.buffer.view, n, this.#hash);
    this.buffer.grow(0);
    return given;
  }
}
