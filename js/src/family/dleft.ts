// The d-left fingerprint table: a key has one bucket of eight cells in each of four subtables.

import { popcount } from '../bits.js';
import { CorruptError } from '../errors.js';
import { checkSections, checkZeros } from '../sections.js';
import type { Family, FilterFile, Hash, Query } from '../types.js';
import { position32, product, remix } from '../wide.js';

/** Family 9. CoreSetup: bloomery_dleft; sections: the buckets. */
export const dleft: Family = {
  name: 'dleft',
  id: 9,
  open(file: FilterFile): Query {
    const { spec, sections, header } = file;
    spec.want('buckets capacity remainder', 'counting');
    const buckets = spec.uint('buckets', 1, 2 ** 50), remainder = spec.uint('remainder', 4, 32);
    const counting = spec.has('counting') ? spec.uint('counting', 1, 1) : 0, width = remainder + 2 * counting;
    spec.uint('capacity', 1, 32 * buckets);
    const all = 4 * buckets * width; // bytes
    checkSections(file, Math.ceil(all / 8) + 1);
    const [words] = sections;
    checkZeros(words, 8 * all);

    const byte = (i: number): number => (words[(i / 4) >>> 0] >>> (8 * (i & 3))) & 255;
    /** The cells of the bucket at byte at that hold a remainder, one bit each. Remainder 0: the empty cells. */
    const match = (at: number, r: number): number => {
      let same = 255;
      for (let j = 0; j < remainder && same; j++) same &= ~(byte(at + j) ^ -((r >>> j) & 1)); // bit j of all cells
      return same;
    };
    /** The number of copies in some cells of the bucket at byte at. */
    const copies = (at: number, set: number): number => {
      const n = popcount(set), last = at + remainder;
      return counting ? n + popcount(set & byte(last)) + 2 * popcount(set & byte(last + 1)) : n;
    };

    let keys = 0, bad = 0;
    for (let at = 0; at < all; at += width) {
      const empty = match(at, 0);
      keys += copies(at, ~empty & 255);
      if (counting) bad |= empty & (byte(at + remainder) | byte(at + remainder + 1)); // an empty cell counts copies
    }
    if (bad || BigInt(keys) !== header.keys) {
      throw new CorruptError('the cells contradict themselves or the number of keys');
    }

    /** The copies of a key. If any is true, it stops at the first cell with the key's remainder. */
    const find = (h: Hash, any: boolean): number => {
      const b = position32(h[0], h[1], buckets), r = position32(h[2], h[3], 2 ** remainder - 1) + 1;
      let n = 0;
      for (let i = 0; i < 4; i++) {
        let j = b;
        if (i) {
          remix(r, 0, i);
          j += position32(product[0], product[1], buckets);
          if (j >= buckets) j -= buckets;
        }
        const at = (i * buckets + j) * width, set = match(at, r);
        if (set) {
          n += copies(at, set);
          if (any) break;
        }
      }
      return n;
    };
    return {
      has: (h) => find(h, true) > 0,
      count: (h) => find(h, false),
      core: { numbers: [BigInt(buckets), remainder, width], sections: [words] },
    };
  },
};
