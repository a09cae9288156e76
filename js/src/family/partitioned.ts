// Partitioned hashing: a Bloom filter whose hash functions a search fitted to the keys.

import { field } from '../bits.js';
import { checkSections, checkZeros } from '../sections.js';
import type { Family, FilterFile, Hash, Query } from '../types.js';
import { fold, position, position32, product } from '../wide.js';
import { checkSearched } from '../searched.js';

/** Family 4. CoreSetup: bloomery_partitioned; sections: the bitmaps, the shifts. */
export const partitioned: Family = {
  name: 'partitioned',
  id: 4,
  open(file: FilterFile): Query {
    const { spec, sections } = file;
    spec.want('bits groups k shards width');
    const size = 2 ** 31, shards = spec.uint('shards', 1, size), bits = spec.uint('bits', shards > 1 ? 4096 : 1, size);
    const k = spec.uint('k', 1, 64), width = spec.uint('width', 0, 5);
    const groups = spec.uint('groups', 1, width ? size : 1); // without shifts groups take no bits
    const side = k * width, base = bits - 2 ** width + 1;
    if (base < 1) throw spec.bad();
    // Inexact numbers are above 2^53, and no section is that long.
    const total = shards * bits, all = shards * groups;
    checkSections(file, Math.ceil(total / 64) + 1, Math.ceil((all * side) / 64) + 1, 2);
    const [bitmap, shifts, counts] = sections;
    checkZeros(bitmap, total);
    checkZeros(shifts, all * side);
    checkSearched(file, counts, total, 1001 * 2 ** 44);
    const mask = (1 << width) - 1;
    return {
      has(h: Hash): boolean {
        const by = h[2] | 1, byHigh = h[3];
        // Groups count over all shards. Bits of both sections are counted from a word before the first that is read.
        const group = position(h[2], byHigh, all), start = Math.floor(group / groups) * bits, picks = group * side;
        const word = (start / 32) >>> 0, first = start & 31, pick = (picks / 32) >>> 0;
        let x = h[0], y = h[1];
        for (let l = 0, at = picks & 31; ; at += width) {
          const u = (first + position32(x, y, base) + (field(shifts, pick, at, width || 1) & mask)) >>> 0;
          if (!((bitmap[word + (u >>> 5)] >>> (u & 31)) & 1)) return false;
          if (++l === k) return true;
          fold(x, y, by, byHigh);
          x = product[0];
          y = product[1];
        }
      },
      core: { numbers: [BigInt(shards), BigInt(groups), BigInt(bits), k, width], sections: [bitmap, shifts] },
    };
  },
};
