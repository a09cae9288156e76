// The Bloom filter with choices: a key is present if all bits of one of its groups of positions are set.

import { checkSections, checkZeros } from '../sections.js';
import type { Family, FilterFile, Hash, Query } from '../types.js';
import { fold, position, position32, product, remix } from '../wide.js';
import { checkSearched } from '../searched.js';

/** Family 6. CoreSetup: bloomery_twochoice; sections: the bits. */
export const twochoice: Family = {
  name: 'twochoice',
  id: 6,
  open(file: FilterFile): Query {
    const { spec, sections } = file;
    spec.want('bits choices hashing k shards');
    const shards = spec.uint('shards', 1, 2 ** 32), bits = spec.uint('bits', shards > 1 ? 4096 : 1, 2 ** 28);
    const choices = spec.uint('choices', 2, 16), k = spec.uint('k', 1, 64);
    const double = spec.params.get('hashing') === 'double', total = shards * bits;
    if (double ? bits % 64 : spec.params.get('hashing') !== 'independent') throw spec.bad();
    checkSections(file, Math.ceil(total / 64), 2);
    const [words, counts] = sections;
    checkZeros(words, total);
    checkSearched(file, counts, total);

    /** Whether all bits of a group are set, in the shard from bit first of a word on. x is its start, by its step. */
    const covers = (word: number, first: number, xl: number, xh: number, byl: number, byh: number): boolean => {
      let at = position32(xl, xh, bits), step = 0;
      if (double) step = position32(byl, byh, bits) | 1;
      for (let i = 0; ; ) {
        const u = (first + at) | 0;
        if (!((words[word + (u >>> 5)] >>> (u & 31)) & 1)) return false;
        if (++i === k) return true;
        if (double) {
          at += step;
          if (at >= bits) at -= bits;
        } else {
          fold(xl, xh, byl, byh);
          xl = product[0];
          xh = product[1];
          at = position32(xl, xh, bits);
        }
      }
    };
    return {
      has(h: Hash): boolean {
        const start = position(h[2], h[3], shards) * bits, word = (start / 32) >>> 0, first = start & 31;
        for (let group = 0; group < choices; group++) {
          remix(h[2], h[3], group);
          const l = product[0] | 1, m = product[1];
          if (group) remix(h[0], h[1], group);
          if (covers(word, first, group ? product[0] : h[0], group ? product[1] : h[1], l, m)) return true;
        }
        return false;
      },
      core: { numbers: [BigInt(shards), BigInt(bits), choices, k, double ? 1 : 0], sections: [words] },
    };
  },
};
