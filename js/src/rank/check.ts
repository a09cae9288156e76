// What a reader must check in a table of family rankindexed: docs/format/rankindexed.md, "What a reader must refuse".

import { ones } from '../bits.js';
import { CorruptError } from '../errors.js';
import type { Table } from './table.js';

/**
 * Throws CorruptError unless each chain is in order and in cells of its own bucket, no two buckets have the same
 * extension, everything that is not in use is 0, and the number of keys is that of the cells or, with counting, that of
 * their counters. After it each step of a query goes forward.
 */
export function checkTable(table: Table, keys: bigint, counting: boolean): void {
  const { levels } = table, buckets = levels[0].words.length / levels[0].stride;
  // One byte for each extension, which has at least eight.
  const taken = levels.map(({ words, stride }, i) => (i ? new Uint8Array(words.length / stride) : []));
  let sum = 0;
  for (let b = 0; b < buckets; b++) {
    table.enter(b);
    for (let to; (to = table.next()); table.more()) {
      const own = taken[table.known];
      if (to > own.length || own[to - 1]++) fail(b, 'an extension does not exist or belongs to two buckets');
    }
    const used = checkBucket(table, b);
    sum += used;
    for (let c = 0; counting && c < used; c++) sum += table.content(c);
  }
  levels.forEach(({ words, stride }, i) => {
    for (let e = 0; i && e < taken[i].length; e++) {
      if (!taken[i][e] && words.subarray(e * stride, (e + 1) * stride).some((w) => w)) {
        throw new CorruptError(`extension ${e} of level ${i + 1} is free but not empty`);
      }
    }
  });
  if (BigInt(sum) !== keys) throw new CorruptError(`the cells hold ${sum} keys, want ${keys}`);
}

/** Checks the selected bucket, number b, whose levels are known. It returns the number of its cells in use. */
function checkBucket(table: Table, b: number): number {
  const { levels, base, chains, known, width } = table;
  const used = table.rank(Infinity);
  let room = 0, left = used;
  for (let i = 0; i < known; i++) {
    if (i && used <= room) fail(b, 'an extension is empty');
    const { words, stride, cells, room: own } = levels[i], end = cells + Math.min(left, own) * width;
    if (ones(words, base[i], end, 32 * stride - end)) fail(b, 'a free cell is not empty');
    left -= Math.min(left, own);
    room += own;
  }
  // Each set bit must have its cell, and each cell must be in a chain.
  if (left || table.rank(chains + used) !== used) fail(b, 'the index does not match the cells');
  let next = table.rank(chains);
  for (let c = 0; c < next; c++) {
    if (!table.bit(chains + c)) continue;
    if (table.remainder(next++) < table.remainder(c)) fail(b, 'a chain is not in order');
  }
  if (next !== used) fail(b, 'the index does not match the cells');
  return used;
}

function fail(bucket: number, why: string): never {
  throw new CorruptError(`bucket ${bucket}: ${why}`);
}
