// Queries in WebAssembly: one module a page, one instance with a memory of its own a filter.

import { plainEngine } from '../filter.js';
import { littleEndian } from '../sections.js';
import type { CoreSetup, Engine, EngineMaker, HashSetup, Query } from '../types.js';
import { compile } from './compile.js';
import { core } from './core.gen.js';
import { keysIn } from './keys.js';

/** What wasm/core.c exports. Queries take the number of bytes of the key, or given if its hash is there. */
interface Exports {
  has(n: number): number;
  count(n: number): number;
  get(n: number): number;
}

// Addresses of the fields of its struct.
const secretAt = 32768, hashAt = 32784, familyAt = 32800, functionAt = 32804, filterAt = 32808, keysAt = 33616;
/** The length of its keys in bytes, and that of a page. */
const keysLength = 240, page = 65536;
/** Stands for a length: the hash is given. */
const given = -1;

let compiled: Promise<WebAssembly.Module | undefined> | undefined;

/**
 * Resolves to the maker of engines in WebAssembly. They are plain if WebAssembly is missing, the page's
 * Content-Security-Policy forbids it, there is no memory for it, or the machine is big endian. The module is
 * compiled once.
 */
export async function wasmEngine(): Promise<EngineMaker> {
  if (!littleEndian) return plainEngine;
  const module = await (compiled ??= compile(core).catch(() => undefined));
  return (query, hash, file) => {
    try {
      if (module && query.core) return engineOf(module, query, query.core, hash, file.header.family);
    } catch {
      // No memory: the plain form takes none.
    }
    return plainEngine(query, hash, file);
  };
}

function engineOf(
  module: WebAssembly.Module, query: Query, { numbers, sections }: CoreSetup, { id, seed, secret, sum }: HashSetup,
  family: number,
): Engine {
  // The sections follow the page of the module. The memory does not grow: that would detach a buffer too.
  let end: number = page, at: number = filterAt;
  const places = sections.map((words) => (end += words.byteLength) - words.byteLength);
  const memory = new WebAssembly.Memory({ initial: Math.ceil(end / page) }), { buffer } = memory;
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const { has, count, get } = exports as unknown as Exports;
  sections.forEach((words, i) => new Uint32Array(buffer, places[i]).set(words));

  const view = new DataView(buffer);
  for (const n of [...places, ...numbers]) {
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
  view.setUint32(functionAt, id, true);
  view.setBigUint64(secretAt, seed, true);
  if (secret) new Uint8Array(buffer, secretAt).set(secret);

  const bytes = new Uint8Array(buffer, keysAt, keysLength), hash = new Int32Array(buffer, hashAt, 4);
  const keys = keysIn(bytes);
  /**
   * Returns n if the core can hash the key in the first n bytes of keys. Otherwise it gives the core the hash, which
   * stays needs, too.
   */
  const ready = (n: number): number => {
    if (keys.bytes === bytes && id < 3 && !query.stays) return n;
    sum(keys.view, n, hash);
    keys.grow(0);
    return given;
  };
  const { stays = () => true } = query;
  const engine: Engine & { wasm: boolean } = { wasm: true, buffer: keys, has: (n) => has(ready(n)) > 0 && stays(hash) };
  if (query.count) engine.count = (n) => ((n = ready(n)), stays(hash)) ? count(n) : 0;
  if (query.get) {
    engine.get = (n) => {
      const value = get(ready(n));
      return value < 0 || !stays(hash) ? undefined : BigInt(value);
    };
  }
  return engine;
}
