// Entry bloomery/hash/siphash: filters that were built with a secret, for bloomery/core.

import { NoSecretError, SecretError } from '../errors.js';
import type { KeyHash } from '../types.js';
import { keyCheck, secretBytes, sip } from './sip.js';

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
