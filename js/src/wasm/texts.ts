// Hashes keys in WebAssembly, by XXH3: texts of ASCII in batches, other keys one by one.

import type { KeyBuffer } from '../types.js';
import { type Exports, type Instance, lengthsAt, mostKeys, seedAt, textAt, textLength } from './builder.js';
import { keysIn } from './keys.js';

/** A batch of texts, or a buffer for another key. */
export class Texts {
  /** Where put takes a key from. The batch must be empty. */
  readonly keys: KeyBuffer;
  readonly #run: Exports;
  readonly #view: DataView;
  readonly #lengths: Uint8Array;
  /** The number of texts, and of their bytes. */
  #count = 0;
  #length = 0;

  constructor({ run, buffer }: Instance, seed: bigint) {
    new DataView(buffer).setBigUint64(seedAt, seed, true);
    this.#run = run;
    this.#lengths = new Uint8Array(buffer, lengthsAt, mostKeys);
    this.keys = keysIn(new Uint8Array(buffer, textAt, textLength));
    this.#view = this.keys.view;
  }

  /** Whether there is no room for a text of that length. */
  full(length: number): boolean {
    return this.#count === mostKeys || this.#length + length > textLength;
  }

  /** Takes a text of at most longest characters, for which there is room, if it is ASCII. */
  take(text: string): boolean {
    const n = text.length, view = this.#view, at = this.#length;
    let all = 0, i = 0;
    for (; i + 4 <= n; i += 4) { // one store for four characters
      const a = text.charCodeAt(i), b = text.charCodeAt(i + 1), c = text.charCodeAt(i + 2), d = text.charCodeAt(i + 3);
      all |= a | b | c | d;
      view.setInt32(at + i, a | (b << 8) | (c << 16) | (d << 24), true);
    }
    for (; i < n; i++) {
      const c = text.charCodeAt(i);
      all |= c;
      view.setUint8(at + i, c);
    }
    if (all > 127) return false;
    this.#lengths[this.#count++] = n;
    this.#length = at + n;
    return true;
  }

  /** Writes the hashes of the texts, empties the batch, and returns the number of texts. */
  hash(to: number): number {
    const n = this.#count;
    if (n) this.#run.hash(n, to);
    this.#count = this.#length = 0;
    return n;
  }

  /** Writes the hash of the key in the first n bytes of keys, at most longest. */
  put(n: number, to: number): void {
    this.#lengths[0] = n;
    this.#run.hash(1, to);
  }
}
