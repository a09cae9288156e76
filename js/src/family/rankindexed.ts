// Rank-indexed hashing: a hash table of remainders with chains but without pointers. See docs/format/rankindexed.md.

import { TooLargeError } from '../errors.js';
import { checkTable } from '../rank/check.js';
import { type Level, Table } from '../rank/table.js';
import { untrim } from '../rank/trim.js';
import { checkSections, checkZeros } from '../sections.js';
import type { Family, Hash } from '../types.js';
import { mulHigh, position32 } from '../wide.js';

const { imul } = Math;

/** Family 7. CoreSetup: bloomery_rankindexed; sections: the levels, those that a trimmed file stands for. */
export const rankindexed: Family = {
  name: 'rankindexed',
  id: 7,
  open(file) {
    const { spec, header } = file;
    const optional = 'cells2 cells3 counting growth pool2 pool3 value_bits';
    spec.want('buckets capacity cells chains remainder', `${optional} trimmed`);
    if (optional.split(' ').some((name) => spec.has(name) && !spec.uint64(name))) throw spec.bad();
    const counting = spec.uint('counting', 0, 1), values = spec.uint('value_bits', 0, counting ? 0 : 32);
    const growth = spec.uint('growth', 0, 24), low = spec.uint('remainder', 1, 48 - growth);
    const capacity = spec.uint64('capacity');
    if (growth && (capacity < 1 || capacity > 2 ** (50 - growth))) throw spec.bad();
    const buckets = spec.uint('buckets', 1, 2 ** 48), chains = spec.uint('chains', 1, 2 ** 14);
    const pool2 = spec.uint('pool2', 0, 2 ** 48), pool3 = spec.uint('pool3', 0, pool2), pools = [buckets, pool2, pool3];
    const rooms = ['cells', 'cells2', 'cells3'].map((name, i) => {
      const least = pools[i] ? 1 : 0;
      return spec.uint(name, least, 2 ** 13 * least);
    });
    const payload = counting ? 2 : values, width = growth + low + payload;

    // The levels of buckets; the last ones have no words if their pool is empty.
    const pointers = [0, pool2, pool3, 0].map((pool) => pool && pool.toString(2).length + growth);
    const levels = rooms.map((room, i): Level & { size: number } => {
      const base = i ? 0 : chains, pointerBits = pointers[i + 1], indexBits = base + room;
      const pointer = i ? 0 : indexBits, index = i ? pointerBits : 0, cells = indexBits + pointerBits;
      const stride = 2 * Math.ceil((cells + room * width) / 64);
      const size = pools[i] * stride;
      return { words: new Uint32Array(0), stride, pointer, pointerBits, index, indexBits, cells, room, size };
    });
    if (width > 63 || pointers.some((bits) => bits > 63) || levels.some(({ size }) => size > 2 ** 55)) throw spec.bad();

    const table = new Table(levels.filter((_, i) => pools[i]), chains, width, payload);
    if (spec.has('trimmed')) {
      const used = spec.uint('trimmed', 0, 2 ** 50), end = buckets * chains + used * (1 + width);
      const words = Math.ceil(end / 64);
      const most = levels.reduce((sum, { room }, i) => sum + pools[i] * room, 0);
      const size = levels.reduce((sum, level) => sum + level.size, 0);
      if (used > most) throw spec.bad();
      checkSections(file, words);
      checkZeros(file.sections[0], end);
      if (size > Math.min(128 * words + 2 ** 18, 2 ** 32)) {
        throw new TooLargeError('a trimmed filter of more than 64 times its file + 1 MiB, or of more than 16 GiB');
      }
      for (const level of levels) level.words = new Uint32Array(level.size);
      untrim(table, buckets, file.sections[0], end);
    } else {
      checkSections(file, ...levels.map(({ size }) => size / 2));
      levels.forEach((level, i) => (level.words = file.sections[i]));
    }
    checkTable(table, header.keys, counting > 0);

    /** The remainder of a key, whose bucket it selects. */
    const enter = (h: Hash): number => {
      table.enter(position32(h[2], h[3], buckets));
      // The upper words of the lower halves of Hi·buckets and Lo·chains.
      const top = growth && (mulHigh(h[2], buckets) + imul(h[3], buckets)) >>> (32 - growth);
      const rest = (mulHigh(h[0], chains) + imul(h[1], chains)) | 0;
      const first =
        low > 32 ? (rest >>> 0) * 2 ** (low - 32) + (imul(h[0], chains) >>> (64 - low)) : rest >>> (32 - low);
      return top * 2 ** low + first;
    };
    /** The first cell with the key's remainder, or -1. */
    const find = (h: Hash): number => {
      const remainder = enter(h);
      for (let at = position32(h[0], h[1], chains); table.bit(at); ) {
        const c = table.rank(at), r = table.remainder(c);
        if (r >= remainder) return r === remainder ? c : -1;
        at = chains + c;
      }
      return -1;
    };
    return {
      has: (h) => find(h) >= 0,
      count(h) {
        const remainder = enter(h);
        let n = 0;
        for (let at = position32(h[0], h[1], chains); table.bit(at); ) {
          const c = table.rank(at), r = table.remainder(c);
          if (r > remainder) break;
          if (r === remainder) n += 1 + (counting && table.content(c));
          at = chains + c;
        }
        return n;
      },
      ...(values && {
        get(h: Hash) {
          const c = find(h);
          return c < 0 ? undefined : BigInt(table.content(c));
        },
      }),
      core: {
        numbers: [
          ...pools.map(BigInt), ...levels.map(({ stride }) => 4 * stride), ...rooms,
          ...levels.map(({ pointerBits }) => pointerBits), chains, low, growth, payload, width, counting,
        ],
        sections: levels.map(({ words }) => words),
      },
    };
  },
};
