// The BloomFilter of Google's Guava, with either of its strategies.

import { doubly } from '../double.js';
import { murmur3 } from '../hash/murmur3.js';
import { checkSections } from '../sections.js';
import type { Family } from '../types.js';

/** Family 20, in the plain form only. */
export const guava: Family = {
  name: 'guava',
  id: 20,
  foreign: [4, murmur3],
  open(file) {
    const { spec, sections } = file;
    spec.want('k strategy words');
    const k = spec.uint('k', 1, 255), strategy = spec.uint('strategy', 32, 64);
    const size = spec.uint('words', 1, 2 ** 31 - 1);
    if (strategy % 32) throw spec.bad();
    checkSections(file, size);
    const [words] = sections, m = 64 * size, covers = doubly(words, 0, m, k, 2 ** 31);
    return {
      has:
        strategy === 64
          ? (h) => covers(h[0], h[1] & 0x7fffffff, h[2], h[3] & 0x7fffffff)
          : (h) => {
              for (let i = 0, c = h[0]; i < k; i++) {
                c = (c + h[1]) | 0;
                const at = (c ^ (c >> 31)) % m;
                if (!((words[at >>> 5] >>> (at & 31)) & 1)) return false;
              }
              return true;
            },
    };
  },
};
