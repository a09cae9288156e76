// The hash functions of the sources, bundled for tests, and the keys of filter/testdata/hashes.json.

import { readFileSync } from 'node:fs';
import { internal } from './internal.mjs';

export const vectors = JSON.parse(readFileSync(new URL('../../filter/testdata/hashes.json', import.meta.url), 'utf8'));

const { dcso, murmur3, murmur3Twice, murmur3x86Twice, murmur64aTwice, sip, uint64, xxh3, xxh64Sum } = internal;

/** Returns the hash function of a name in the vectors, by the part of the name before a parenthesis. */
export const hashes = {
  'xxh3-128': (name) => xxh3(BigInt(/seed=(\d+)/.exec(name)[1])),
  'siphash-128': () => sip(Uint8Array.from(Buffer.from(vectors.secret, 'hex'))),
  xxh64: () => xxh64Sum,
  'murmur3-x64-128': () => murmur3,
  'murmur3-x64-128-twice': () => murmur3Twice,
  'murmur64a-twice': () => murmur64aTwice,
  'murmur3-x86-32-twice': () => murmur3x86Twice,
  'fnv1-64': () => dcso.foreign[1],
  uint64: () => uint64.make({ seed: 0n, spec: { family: 'fuse' } }).sum,
};

/** Returns the key of n bytes. */
export const keyOf = (n) => Uint8Array.from({ length: n }, (_, i) => (i * i + 7 * i + n) % 251);

/** Returns Hi and Lo of a hash in hexadecimal. */
export const hex = (h) => [3, 2, 1, 0].map((i) => (h[i] >>> 0).toString(16).padStart(8, '0')).join('');

/** Returns the four words of a hash of 256 bits in hexadecimal: Lo, words 4 to 7, and Hi. */
export const quarters = (h) => [1, 0, 5, 4, 7, 6, 3, 2].map((i) => (h[i] >>> 0).toString(16).padStart(8, '0')).join('');
