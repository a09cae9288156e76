// Entry bloomery/hash/siphash: filters that were built with a secret, for bloomery/core.

import { NoSecretError, SecretError } from '../errors.js';
import type { KeyHash } from '../types.js';
import { keyCheck, sip } from './sip.js';

/** SipHash-2-4-128, the hash function of filters with a secret. Pass it to open of bloomery/core in `hashes`. */
export const siphash: KeyHash = {
  id: 2,
  make({ seed: check }, given) {
    if (given === undefined) throw new NoSecretError('the filter needs its secret: pass option secret', 16);
    const secret = secretBytes(given);
    const sum = sip(secret);
    if (keyCheck(sum) !== check) throw new SecretError('the filter has another secret', 16);
    return { id: 2, seed: 0n, secret, sum };
  },
};

/** @internal Returns a copy of the bytes of a secret: 16 bytes, or 32 hexadecimal digits. It throws TypeError. */
export function secretBytes(given: Uint8Array | string): Uint8Array {
  // A copy in every case: slice of a Buffer would share its memory.
  const secret = Uint8Array.from(
    typeof given !== 'string' ? given
    : /^([0-9a-f]{2}){16}$/i.test(given) ? given.match(/../g)!.map((b) => parseInt(b, 16))
    : [],
  );
  if (secret.length !== 16) {
    throw new TypeError(`secret: want 16 bytes, or 32 hexadecimal digits, and got ${given.length} of them or others`);
  }
  return secret;
}
