// The hash functions of the sources, bundled for tests, and the keys of filter/testdata/hashes.json.

import { readFileSync } from 'node:fs';
import { internal } from './internal.mjs';

export const vectors = JSON.parse(readFileSync(new URL('../../filter/testdata/hashes.json', import.meta.url), 'utf8'));

const { siphash, xxh3, xxh64 } = internal;

/** Returns the hash function of a name in the vectors, by the part of the name before a parenthesis. */
export const hashes = {
  'xxh3-128': (name) => xxh3(BigInt(/seed=(\d+)/.exec(name)[1])),
  'siphash-128': () => siphash(Uint8Array.from(Buffer.from(vectors.secret, 'hex'))),
  xxh64: () => xxh64,
};

/** Returns the key of n bytes. */
export const keyOf = (n) => Uint8Array.from({ length: n }, (_, i) => (i * i + 7 * i + n) % 251);

/** Returns Hi and Lo of a hash in hexadecimal. */
export const hex = (h) => [3, 2, 1, 0].map((i) => (h[i] >>> 0).toString(16).padStart(8, '0')).join('');
