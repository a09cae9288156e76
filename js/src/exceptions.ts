// Exceptions: keys for which a filter answers that they are absent although its bits do not say so. See
// docs/format/exceptions.md.

import { CorruptError } from './errors.js';
import type { Hash, Query } from './types.js';
import { fold, position, product } from './wide.js';

/** Returns the queries of a filter with the exceptions in a section, which it copies. It throws CorruptError. */
export function except(query: Query, section: Uint32Array): Query {
  const words = section.slice(), end = 6 + 2 * words[0];
  // Of the level that words i and i+1 describe: its length in words of 32 bits, and its number of probes.
  const length = (i: number) => 2 * (words[i] + (words[i + 1] % 2 ** 24) * 2 ** 32);
  const probes = (i: number) => words[i + 1] >>> 24;
  let all = end;
  for (let i = 6; i < end && all; i += 2) all += (probes(i) - 1) >>> 6 ? NaN : length(i) || NaN;
  if (words[1] || end > 134 || all !== words.length) throw new CorruptError('exceptions');

  const stays = (h: Hash) => {
    let i = 6;
    walk: for (let start = end; i < end; start += length(i), i += 2) {
      for (let j = 0; j < probes(i); j++) {
        fold(h[0] ^ (128 * i + j), h[1], h[2] ^ 0x85ebca87, h[3] ^ 0x9e3779b1);
        fold(product[0], product[1], 0x85ebca87, 0x9e3779b1);
        const at = position(product[0], product[1], 32 * length(i));
        if (!((words[start + Math.floor(at / 32)] >>> (at & 31)) & 1)) break walk;
      }
    }
    return (i & 2) > 0;
  };
  const wrap = <T>(ask: (h: Hash) => T, none: T) =>
    (h: Hash): T => {
      const answer = ask(h);
      return answer === none || stays(h) ? answer : none;
    };
  const { has, count, get } = query;
  return { ...query, stays, has: wrap(has, false), count: count && wrap(count, 0), get: get && wrap(get, undefined) };
}
