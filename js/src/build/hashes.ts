// The hashes of the keys of a build: four words of 32 bits a key, in the order of Hash.

import { buffer, type Key, putKey } from '../key.js';
import type { Hash, HashFunction, KeyBuffer } from '../types.js';
import { type Exports, mostHashed, page, seedAt, type Start, textAt, textLength } from '../wasm/builder.js';
import { keysIn } from '../wasm/keys.js';

/** Keys of a part, and of a step of a build. */
export const room = 1 << 14;

/** Yields views of the keys of parts, of a step each. */
export function* pieces(parts: readonly Int32Array[]): Generator<Int32Array> {
  for (const part of parts) for (let i = 0; i < part.length; i += 4 * room) yield part.subarray(i, i + 4 * room);
}

/** Hashes of keys in parts, so that no array is copied when keys come. */
export class Hashes {
  readonly #parts: Int32Array[] = [];
  readonly #sum: HashFunction;
  readonly #h: Hash = new Int32Array(8);
  /** The keys that are in no part yet. */
  #last = new Int32Array(4 * room);
  #keys: KeyBuffer = buffer;
  #run: Exports | undefined;
  /** The number of keys that were added. */
  length = 0;

  constructor(sum: HashFunction) {
    this.#sum = sum;
  }

  /** From now on keys are hashed in WebAssembly, by XXH3, if there is memory for it. */
  use(start: Start, seed: bigint): void {
    const instance = start(16 * room);
    if (!instance) return;
    const { run, buffer } = instance, last = new Int32Array(buffer, page, 4 * room);
    new DataView(buffer).setBigUint64(seedAt, seed, true);
    last.set(this.#last);
    this.#last = last;
    this.#keys = keysIn(new Uint8Array(buffer, textAt, textLength));
    this.#run = run;
  }

  /** Adds a key. A number is the same key as its BigInt. It throws TypeError or RangeError. */
  add(key: Key | number): void {
    const i = this.length % room, keys = this.#keys;
    if (!i && this.length) this.#parts.push(this.#last.slice());
    const n = putKey(keys, typeof key === 'number' ? integer(key) : key); // may replace the view
    if (this.#run && n <= mostHashed) {
      this.#run.hash(n, page + 16 * i);
    } else {
      this.#sum(keys.view, n, this.#h);
      for (let j = 0; j < 4; j++) this.#last[4 * i + j] = this.#h[j];
      if (this.#run) keys.grow(0); // the key may be outside of its memory
    }
    this.length++;
  }

  /** Returns the hashes of all keys in parts, of at most 16,384 keys each. */
  parts(): Int32Array[] {
    return [...this.#parts, this.#last.slice(0, 4 * (this.length - room * this.#parts.length))];
  }
}

/** Returns the BigInt of an integer that a number holds exactly. */
function integer(n: number): bigint {
  if (!Number.isSafeInteger(n)) throw new TypeError(`key: want a BigInt or an integer below 2^53, and got ${n}`);
  return BigInt(n);
}
