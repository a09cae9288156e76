// The hashes of the keys of a build: four words of 32 bits a key, in the order of Hash.

import { buffer, type Key, putKey } from '../key.js';
import type { Hash, HashFunction } from '../types.js';

/** Keys of a part. */
const room = 1 << 14;

/** Hashes of keys in parts, so that no array is copied when keys come. */
export class Hashes {
  readonly #parts: Int32Array[] = [];
  readonly #sum: HashFunction;
  readonly #h: Hash = new Int32Array(8);
  /** The number of keys that were added. */
  length = 0;

  constructor(sum: HashFunction) {
    this.#sum = sum;
  }

  /** Adds a key. A number is the same key as its BigInt. It throws TypeError or RangeError. */
  add(key: Key | number): void {
    const i = this.length % room;
    if (!i) this.#parts.push(new Int32Array(4 * room));
    const n = putKey(buffer, typeof key === 'number' ? integer(key) : key); // may replace the view
    this.#sum(buffer.view, n, this.#h);
    const part = this.#parts[this.#parts.length - 1];
    for (let j = 0; j < 4; j++) part[4 * i + j] = this.#h[j];
    this.length++;
  }

  /** Returns the hashes of all keys in parts, of at most 16,384 keys each. */
  parts(): Int32Array[] {
    const last = (this.length - 1) % room + 1;
    return this.#parts.map((part, i) => (i < this.#parts.length - 1 ? part : part.subarray(0, 4 * last)));
  }
}

/** Returns the BigInt of an integer that a number holds exactly. */
function integer(n: number): bigint {
  if (!Number.isSafeInteger(n)) throw new TypeError(`key: want a BigInt or an integer below 2^53, and got ${n}`);
  return BigInt(n);
}
