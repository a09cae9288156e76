// Hashes keys in WebAssembly, by XXH3: texts of ASCII in batches, other keys one by one.

import type { KeyBuffer } from '../types.js';
import { type Exports, type Instance, lengthsAt, mostKeys, seedAt, textAt, textLength } from './builder.js';
import { keysIn } from './keys.js';

const encoder = /* @__PURE__ */ new TextEncoder();

/** A batch of texts, and a buffer for a key. */
export class Texts {
  /** Where put takes a key from. */
  readonly keys: KeyBuffer;
  /** The number of texts. */
  count = 0;
  readonly #run: Exports;
  readonly #bytes: Uint8Array;
  readonly #given: Uint8Array;
  readonly #lengths = new Uint8Array(mostKeys);
  /** One after the other: an engine joins them when they are encoded, which is faster than to encode each. */
  #text = '';

  constructor({ run, buffer }: Instance, seed: bigint) {
    new DataView(buffer).setBigUint64(seedAt, seed, true);
    this.#run = run;
    this.#given = new Uint8Array(buffer, lengthsAt, mostKeys);
    this.#bytes = new Uint8Array(buffer, textAt, textLength);
    this.keys = keysIn(this.#bytes);
  }

  /** Takes a text of at most longest characters, unless the batch is full. */
  take(text: string): boolean {
    if (this.count === mostKeys || this.#text.length + text.length > textLength) return false;
    this.#lengths[this.count++] = text.length;
    this.#text += text;
    return true;
  }

  /** Empties the batch and writes the hashes of its texts. If one is not ASCII, it returns the texts instead. */
  hash(to: number): string[] {
    const text = this.#text, { count } = this, { read, written } = encoder.encodeInto(text, this.#bytes);
    this.#text = '';
    this.count = 0;
    if (read === text.length && written === read) {
      this.#given.set(this.#lengths);
      this.#run.hash(count, to);
      return [];
    }
    let at = 0;
    return Array.from(this.#lengths.subarray(0, count), (n) => text.slice(at, (at += n)));
  }

  /** Writes the hash of the key in the first n bytes of keys, at most longest. */
  put(n: number, to: number): void {
    this.#given[0] = n;
    this.#run.hash(1, to);
  }
}
