// Builds in WebAssembly: one module a page, and instances with memories of their own. One hashes keys, another builds.
// A memory has its size from the start: growing detaches a buffer, and V8 reads all typed arrays more slowly from then
// on.

import { littleEndian } from '../sections.js';
import { core } from './build.gen.js';
import { compile } from './compile.js';

/** What wasm/build.c exports. Addresses are in bytes. */
export interface Exports {
  hash(keys: number, to: number): void;
  standard(keys: number, end: number, words: number, m: number, probes: number): void;
  blocked(keys: number, end: number, words: number, blocks: number, probes: number): void;
  fuse(
    seed: bigint, segment: number, count: number, xors: number, uses: number, mixed: number, places: number,
    singles: number,
  ): void;
  part(keys: number, end: number, starts: number, shift: number, placed: number): void;
  enter(i: number, end: number): number;
  find(i: number, end: number): void;
  peel(most: number): number;
  fill(i: number, end: number, bits: number, width: number): void;
  spread(keys: number, end: number, starts: number, shift: number, factor: bigint, to: number): void;
  order(from: number, to: number, i: number, end: number, n: number): number;
  layer(
    back: bigint, starts: number, turn: number, broad: number, shift: number, limit: number, limit2: number, r: number,
    columns: number, wider: number, rows: number, results: number, pivots: number, keys: number, end: number,
  ): void;
  solve(b: number, end: number, first: number, slot: number, classes: number): number;
  bumped(keys: number): number;
  substitute(i: number, end: number, last: number, base: number, words: number): void;
}

/** An instance and its memory. Arrays of the caller begin at byte page. */
export interface Instance {
  readonly run: Exports;
  readonly buffer: ArrayBuffer;
}

/** Returns an instance with room for arrays of the given number of bytes, or undefined if there is no memory for it. */
export type Start = (bytes: number) => Instance | undefined;

/** The first byte of the caller's arrays. */
export const page = 65536;

/** Where hash takes the seed, the lengths of keys, at most longest each, and their bytes one after the other. */
export const seedAt = 32768, lengthsAt = 32776, mostKeys = 512, longest = 128, textAt = 33288, textLength = 24_576;

let compiled: Promise<WebAssembly.Module | undefined> | undefined;

/**
 * Resolves to the maker of instances, or to undefined if WebAssembly is missing, the page's Content-Security-Policy
 * forbids it, or the machine is big endian. The module is compiled once.
 */
export async function wasmStart(): Promise<Start | undefined> {
  if (!littleEndian) return;
  const module = await (compiled ??= compile(core).catch(() => undefined));
  return module && ((bytes) => {
    try {
      const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / page) + 1 });
      const { exports } = new WebAssembly.Instance(module, { env: { memory } });
      return { run: exports as unknown as Exports, buffer: memory.buffer };
    } catch {
      return; // no memory: the plain form takes as much, but not in one piece
    }
  });
}

/** The place of arrays in a memory: each begins at a multiple of 8 bytes. */
export class Places {
  /** The bytes of all of them. */
  bytes = 0;

  /** Returns the address of an array of the given number of bytes. */
  add(bytes: number): number {
    const at = page + this.bytes;
    this.bytes += 8 * Math.ceil(bytes / 8);
    return at;
  }
}
