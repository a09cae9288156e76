// The builds that are compared with the Go package: 200 of each family.

import { createHash } from 'node:crypto';

export const families = ['standard', 'blocked', 'fuse', 'ribbon'];

/** Builds whose sizes decide about the code that runs: segments, layers, short segments, and tails without layers. */
const sizes = [0, 1, 2, 3, 4, 5, 30, 100, 255, 256, 257, 258, 500, 2000, 4095, 4096, 19_999, 20_000, 60_000, 290_000];
const rates = [0.99, 0.5, 0.3, 0.25, 0.1, 1 / 16, 0.0625001, 0.01, 2 ** -8, 0.001, 1e-4, 1e-5, 1e-6, 1e-9];

/**
 * Returns the builds of a family. Each fifth list has duplicates.
 *
 * @returns {{family: string, keys: number, fpr: number, seed: bigint, list(): string[]}[]}
 */
export function builds(family) {
  let state = 0x2545f491;
  /** A number of 0 to 1, from a generator of our own: the recorded sums depend on it. */
  const random = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return Array.from({ length: 200 }, (_, i) => {
    const keys = i < sizes.length ? sizes[i] : Math.floor(20_000 ** random());
    const wanted = i % 3 ? Number((0.9 * Math.exp(-14 * random())).toPrecision(3)) : rates[(i / 3) % rates.length];
    const fpr = family === 'blocked' ? Math.max(wanted, 1e-7) : wanted; // lower rates are beyond small filters
    const seed = i % 2 ? BigInt(Math.floor(2 ** 32 * random())) ** 2n : BigInt(i);
    const list = () => Array.from({ length: keys }, (_, j) => `key-${i % 5 || j % 7 ? j : j >> 1}-${i}`);
    return { family, keys, fpr, seed, list };
  });
}

/** Returns the line of a build in builds.txt. */
export const lineOf = ({ family, keys, fpr, seed }, file) =>
  [family, keys, fpr, seed, createHash('sha256').update(file).digest('hex')].join(' ');
