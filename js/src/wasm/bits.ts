// Sets the bits of Bloom filters in WebAssembly.

import { room } from '../build/hashes.js';
import type { Keys } from '../build/maker.js';
import type { Steps } from '../build/steps.js';
import { type Exports, page, type Start } from './builder.js';

/**
 * Returns the given number of words of 32 bits, with the bits of all keys, or undefined if there is no memory for them.
 * set takes the addresses of keys, of their end, and of the words.
 */
export function* setBits(
  { parts }: Keys, start: Start | undefined, words: number,
  set: (run: Exports, keys: number, end: number, words: number) => void,
): Steps<Uint32Array | undefined> {
  const some = 16 * room, instance = start?.(some + 4 * words);
  if (!instance) return;
  const { run, buffer } = instance, keys = new Int32Array(buffer, page);
  let done = 0;
  for (const part of parts) {
    keys.set(part);
    set(run, page, page + part.byteLength, page + some);
    yield ++done / parts.length;
  }
  return new Uint32Array(buffer, page + some, words);
}
