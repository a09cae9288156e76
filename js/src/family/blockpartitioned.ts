// Partitioned hashing in blocks of 512 or 1024 bits: a query reads one block, which also holds the shifts.

import { field } from '../bits.js';
import { CorruptError } from '../errors.js';
import { salts } from '../salts.js';
import { checkSections } from '../sections.js';
import type { Family, FilterFile, Hash, Query } from '../types.js';
import { mulHigh, position32, product, remix } from '../wide.js';
import { checkSearched } from '../searched.js';

const { imul } = Math;

/** Family 5. CoreSetup: bloomery_blockpartitioned; sections: the blocks. */
export const blockpartitioned: Family = {
  name: 'blockpartitioned',
  id: 5,
  open(file: FilterFile): Query {
    const { spec, sections } = file;
    spec.want('block blocks groups k width');
    const block = spec.uint('block', 512, 1024), blocks = spec.uint('blocks', 1);
    const groups = spec.uint('groups', 1, block);
    const k = spec.uint('k', 1, 64), width = spec.uint('width', 1, 5);
    const side = k * width, bits = Math.floor((block - groups * side) / 32) * 32;
    if (block % 512 || bits < 64) throw spec.bad();
    checkSections(file, blocks * (block / 64), 2);
    const [words, counts] = sections;
    checkSearched(file, counts, blocks * bits, 1001 * 2 ** 44);
    const size = block / 32, first = (block - bits) / 32;
    for (let b = 0, unused = 32 * first - groups * side; unused && b < blocks; b++) {
      if (field(words, b * size, groups * side, unused)) throw new CorruptError(`unused bits of block ${b} are set`);
    }
    return {
      has(h: Hash): boolean {
        const start = position32(h[2], h[3], blocks) * size;
        // The lower half of Hi·blocks chooses the group.
        const group = position32(imul(h[2], blocks), mulHigh(h[2], blocks) + imul(h[3], blocks), groups);
        let at = group * side;
        for (let l = 0, x = 0; l < k; l++, at += width) {
          if (!(l & 7)) {
            // eight slots each from the halves of Lo, then from those of Lo mixed again
            if (l > 15) remix(h[0], h[1], l >> 4);
            x = (l > 15 ? product : h)[(l >> 3) & 1];
          }
          const u = imul(imul(x, salts[l & 7]) >>> 16, bits) >>> 16;
          const shift = field(words, start, at, width);
          if (!((words[start + first + (u >>> 5)] >>> ((u + shift) & 31)) & 1)) return false;
        }
        return true;
      },
      core: { numbers: [BigInt(blocks), block, groups, k, width, bits], sections: [words] },
    };
  },
};
