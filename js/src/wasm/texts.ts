// Hashes keys in WebAssembly, by XXH3: texts of ASCII in batches, other keys one by one.

import type { KeyBuffer } from '../types.js';
import { type Exports, type Instance, lengthsAt, mostKeys, seedAt, textAt, textLength } from './builder.js';
import { keysIn } from './keys.js';

const encoder = /* @__PURE__ */ new TextEncoder();

/** A batch of texts, and a buffer for a key. */
export class Texts {
  /** Where put takes a key from. */
  readonly keys: KeyBuffer;
  /** The number of texts, and of their characters. */
  count = 0;
  #length = 0;
  readonly #all: string[] = Array(mostKeys).fill('');
  readonly #run: Exports;
  readonly #bytes: Uint8Array;
  readonly #lengths: Uint8Array;

  constructor({ run, buffer }: Instance, seed: bigint) {
    new DataView(buffer).setBigUint64(seedAt, seed, true);
    this.#run = run;
    this.#lengths = new Uint8Array(buffer, lengthsAt, mostKeys);
    this.#bytes = new Uint8Array(buffer, textAt, textLength);
    this.keys = keysIn(this.#bytes);
  }

  /** Takes a text of at most longest characters, unless the batch is full. */
  take(text: string): boolean {
    const length = this.#length + text.length;
    if (this.count === mostKeys || length > textLength) return false;
    this.#all[this.count++] = text;
    this.#length = length;
    return true;
  }

  /** Empties the batch and writes the hashes of its texts. If one is not ASCII, it returns the texts instead. */
  hash(to: number): string[] {
    const all = this.#all, lengths = this.#lengths, { count } = this, length = this.#length;
    let text = ''; // engines join texts only when they encode them, which is faster than to encode each
    for (let i = 0; i < count; i++) {
      text += all[i];
      lengths[i] = all[i].length;
    }
    const { read, written } = encoder.encodeInto(text, this.#bytes);
    this.count = this.#length = 0;
    if (read !== length || written !== length) return all.slice(0, count);
    this.#run.hash(count, to);
    return [];
  }

  /** Writes the hash of the key in the first n bytes of keys, at most longest. */
  put(n: number, to: number): void {
    this.#lengths[0] = n;
    this.#run.hash(1, to);
  }
}
