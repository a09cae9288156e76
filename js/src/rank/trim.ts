// The trimmed form of family rankindexed: a stream of bits without free cells and pointers.

import { field, ones } from '../bits.js';
import { CorruptError } from '../errors.js';
import type { Table } from './table.js';

/**
 * Fills an empty table of so many buckets from the first end bits of a stream; its section has no further word.
 * Extensions go to buckets in order. It throws CorruptError if the buckets do not fit. It does not check their content.
 */
export function untrim(table: Table, buckets: number, stream: Uint32Array, end: number): void {
  const { levels, chains, width } = table;
  const free = [0, 1, 1]; // the number of the next extension of each level, + 1
  let at = 0;
  const take = (n: number): number => {
    if (end - at < n) throw new CorruptError('the stream of bits ends too early');
    at += n;
    return at - n;
  };
  const bits = (from: number, n: number) => field(stream, (from / 32) >>> 0, from & 31, n);
  for (let b = 0; b < buckets; b++) {
    table.enter(b);
    const index = take(chains);
    let used = ones(stream, (index / 32) >>> 0, index & 31, chains);
    for (let c = 0; c < used; c++) used += bits(take(1), 1);
    if (used > Math.floor((end - at) / width)) throw new CorruptError('the stream of bits ends too early');
    let from = index, left = chains + used, cell = take(used * width), cells = used;
    for (let i = 0; ; i++) {
      const level = levels[i], n = Math.min(left, level.indexBits), m = Math.min(cells, level.room);
      const word = table.base[i];
      copy(level.words, word, level.index, stream, from, n);
      copy(level.words, word, level.cells, stream, cell, m * width);
      from += n;
      left -= n;
      cell += m * width;
      cells -= m;
      if (!cells) break;
      const to = free[i + 1]++;
      if (!level.pointerBits || to > levels[i + 1].words.length / levels[i + 1].stride) {
        throw new CorruptError(`bucket ${b} does not fit into the table`);
      }
      put(level.words, word, level.pointer, to, level.pointerBits);
      table.more();
    }
  }
  if (at !== end) throw new CorruptError('bits behind the last bucket');
}

/** Copies n bits from bit from of a stream to bit at after a word of an array, where they are 0. */
function copy(words: Uint32Array, word: number, at: number, stream: Uint32Array, from: number, n: number): void {
  for (; n > 0; n -= 32, at += 32, from += 32) {
    const some = Math.min(n, 32);
    put(words, word, at, field(stream, (from / 32) >>> 0, from & 31, some), some);
  }
}

/** Sets n bits, 1 to 63, which are 0, from bit at after a word. v is below 2^n and 2^53. */
function put(words: Uint32Array, word: number, at: number, v: number, n: number): void {
  const i = word + (at >>> 5), s = at & 31;
  words[i] |= v << s;
  if (s + n > 32) put(words, i + 1, 0, Math.floor(v / 2 ** (32 - s)), s + n - 32);
}
