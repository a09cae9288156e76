// The builds that are compared with the Go package: 200 of each family, and those at the edges of its rates.

import { createHash } from 'node:crypto';

export const families = ['standard', 'blocked', 'fuse', 'ribbon'];

/** Builds whose sizes decide about the code that runs: segments, layers, short segments, and tails without layers. */
const sizes = [0, 1, 2, 3, 4, 5, 30, 100, 255, 256, 257, 258, 500, 2000, 4095, 4096, 19_999, 20_000, 60_000, 290_000];
const rates = [0.99, 0.5, 0.3, 0.25, 0.1, 1 / 16, 0.0625001, 0.01, 2 ** -8, 0.001, 1e-4, 1e-5, 1e-6, 1e-9];

/** The lowest rates of each family that its builds try, and the keys of these builds. */
const edges = {
  standard: [[2 ** -32, 1e-15, 1e-16, 1e-17, 1e-18, 1e-19, 1e-20, 1e-30, 1e-60, 1e-100], [1, 3, 100, 1000]],
  blocked: [[1e-15, 1e-16, 1e-17, 1e-18, 1e-19], [1, 3, 100, 1000]],
  fuse: [[2 ** -31 * (1 - 1e-16), 2 ** -32], [0, 1, 3, 1000]],
  ribbon: [[2 ** -31 * (1 - 1e-16), 2 ** -32], [0, 1, 3, 1000]],
};
const highest = [0.991, 0.999999, 1 - 2 ** -53];

/** Returns the builds at the edges of the rates of a family. */
function edgesOf(family) {
  const [lowest, sizes] = edges[family];
  return [...lowest, ...highest].flatMap((fpr) => sizes.map((keys) =>
    ({ family, keys, fpr, seed: 0n, list: () => Array.from({ length: keys }, (_, j) => `edge-${j}`) })));
}

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
  const many = Array.from({ length: 200 }, (_, i) => {
    const keys = i < sizes.length ? sizes[i] : Math.floor(20_000 ** random());
    const wanted = i % 3 ? Number((0.9 * Math.exp(-14 * random())).toPrecision(3)) : rates[(i / 3) % rates.length];
    const fpr = family === 'blocked' ? Math.max(wanted, 1e-7) : wanted; // lower rates are beyond small filters
    const seed = i % 2 ? BigInt(Math.floor(2 ** 32 * random())) ** 2n : BigInt(i);
    const list = () => Array.from({ length: keys }, (_, j) => `key-${i % 5 || j % 7 ? j : j >> 1}-${i}`);
    return { family, keys, fpr, seed, list };
  });
  return [...many, ...edgesOf(family)];
}

/** Returns the line of a build in builds.txt. */
export const lineOf = ({ family, keys, fpr, seed }, file) =>
  [family, keys, fpr, seed, createHash('sha256').update(file).digest('hex')].join(' ');
