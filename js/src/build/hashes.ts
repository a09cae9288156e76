// The hashes of the keys of a build: four words of 32 bits per key, in the order of Hash.

import { buffer, type Key, putKey } from '../key.js';
import type { Hash, HashFunction } from '../types.js';
import { longest, page, type Start } from '../wasm/builder.js';
import { Texts } from '../wasm/texts.js';

/** Keys of a part, and of a step of a build. */
export const room = 1 << 12;

/** Yields views of the keys of parts, of a step each. */
export function* pieces(parts: readonly Int32Array[]): Generator<Int32Array> {
  for (const part of parts) for (let i = 0; i < part.length; i += 4 * room) yield part.subarray(i, i + 4 * room);
}

/** Hashes of keys in parts, so that no array is copied when keys come. */
export class Hashes {
  readonly #parts: Int32Array[] = [];
  readonly #sum: HashFunction;
  readonly #h: Hash = new Int32Array(8);
  /** The hashes that are in no part yet, and their number. */
  #last = new Int32Array(4 * room);
  #n = 0;
  #texts: Texts | undefined;
  /** The number of keys that were added. */
  length = 0;

  constructor(sum: HashFunction) {
    this.#sum = sum;
  }

  /** From now on keys are hashed in WebAssembly, by XXH3, if there is memory for it. */
  use(start: Start, seed: bigint): void {
    const instance = start(16 * room);
    if (!instance) return;
    const last = new Int32Array(instance.buffer, page, 4 * room);
    last.set(this.#last);
    this.#last = last;
    this.#texts = new Texts(instance, seed);
  }

  /** Adds a key. A number is the same key as its BigInt. It throws TypeError or RangeError. */
  add(key: Key | number): void {
    const texts = this.#texts;
    if (this.length++ % room === 0) this.#end();
    if (texts && typeof key === 'string' && key.length <= longest) {
      if (texts.full(key.length)) this.#flush();
      if (texts.take(key)) return;
    }
    this.#put(key);
  }

  /** Returns the hashes of all keys in parts, of at most room keys each. */
  parts(): Int32Array[] {
    this.#end();
    return this.#parts;
  }

  /** Makes a part of the last hashes. */
  #end(): void {
    this.#flush();
    if (this.#n) this.#parts.push(this.#last.slice(0, 4 * this.#n));
    this.#n = 0;
  }

  /** Hashes the batch. */
  #flush(): void {
    this.#n += this.#texts?.hash(page + 16 * this.#n) ?? 0;
  }

  /** Hashes one key. */
  #put(key: Key | number): void {
    this.#flush();
    const texts = this.#texts, keys = texts?.keys ?? buffer, at = this.#n++;
    const n = putKey(keys, typeof key === 'number' ? integer(key) : key); // may replace the view
    if (texts && n <= longest) return texts.put(n, page + 16 * at);
    this.#sum(keys.view, n, this.#h);
    for (let j = 0; j < 4; j++) this.#last[4 * at + j] = this.#h[j];
    if (texts) keys.grow(0); // the key may have been too long for its own buffer
  }
}

/** Returns the BigInt of an integer that a number holds exactly. */
function integer(n: number): bigint {
  if (!Number.isSafeInteger(n)) throw new TypeError(`key: want a BigInt or an integer below 2^53, and got ${n}`);
  return BigInt(n);
}
