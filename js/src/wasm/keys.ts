// Keys in the memory of a module.

import { viewOf } from '../header.js';
import { buffer as long } from '../key.js';
import type { KeyBuffer } from '../types.js';

/** Returns a buffer of the given bytes. If a key is longer, it has those of the plain engines until grow(0). */
export function keysIn(bytes: Uint8Array): KeyBuffer {
  const own = { bytes, view: viewOf(bytes) };
  const keys: KeyBuffer = {
    ...own,
    grow(n) {
      if (n > long.bytes.length) long.grow(n);
      Object.assign(keys, n > bytes.length ? long : own);
    },
  };
  return keys;
}
