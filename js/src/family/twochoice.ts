// The Bloom filter with choices: a key is present if all bits of one of its groups are set. Its groups lie side by
// side, one bit of each in a window of choices bits.

import { checkSections, checkZeros } from '../sections.js';
import type { Family, FilterFile, Hash, Query } from '../types.js';
import { mulHigh, next, position, position32, product } from '../wide.js';
import { checkSearched } from '../searched.js';

const { imul } = Math;

/** Family 6. CoreSetup: bloomery_twochoice; sections: the bits. */
export const twochoice: Family = {
  name: 'twochoice',
  id: 6,
  open(file: FilterFile): Query {
    const { spec, sections } = file;
    spec.want('bits choices k shards');
    const choices = spec.uint('choices', 2, 16), shards = spec.uint('shards', 1, 2 ** 32);
    const bits = spec.uint('bits', shards > 1 ? 4096 : choices, 2 ** 28), k = spec.uint('k', 1, 64);
    const total = shards * bits, starts = bits - choices + 1;
    checkSections(file, Math.ceil(total / 64) + 1, 2);
    const [words, counts] = sections;
    checkZeros(words, total);
    checkSearched(file, counts, total);
    return {
      has(h: Hash): boolean {
        // By is the lower half of Hi·shards. No section has room for 2^32 shards, so shards are a word.
        const byl = imul(h[2], shards), byh = mulHigh(h[2], shards) + imul(h[3], shards);
        const start = position(h[2], h[3], shards) * bits, word = (start / 32) >>> 0, first = start & 31;
        let xl = h[0], xh = h[1], all = 2 ** choices - 1;
        for (let i = 0; ; ) {
          const u = (first + position32(xl, xh, starts)) | 0, at = word + (u >>> 5);
          all &= (words[at] >>> (u & 31)) | ((words[at + 1] << 1) << (~u & 31));
          if (!all) return false;
          if (++i === k) return true;
          next(xl, xh, byl, byh);
          xl = product[0];
          xh = product[1];
        }
      },
      core: { numbers: [BigInt(shards), BigInt(bits), choices, k], sections: [words] },
    };
  },
};
