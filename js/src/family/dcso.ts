// The Bloom filter of DCSO's bloom.

import { moduloOf } from '../double.js';
import { fnv1 } from '../hash/fnv1.js';
import { checkSections, checkZeros } from '../sections.js';
import type { Family } from '../types.js';

const { imul } = Math;

/** Family 24, in the plain form only. */
export const dcso: Family = {
  name: 'dcso',
  id: 24,
  foreign: [9, fnv1],
  open(file) {
    const { spec, sections } = file;
    spec.want('k m n');
    const k = spec.uint('k', 1, 255), m = spec.uint('m', 1);
    if (!spec.uint64('n')) throw spec.bad();
    checkSections(file, Math.ceil(m / 64));
    const [words] = sections;
    checkZeros(words, m);
    const modulo = moduloOf(m);
    return {
      has([l, h]) {
        for (let i = 0; i <= k; i++) {
          if (h === -1 && l >>> 0 >= 0xffffffc5) { // modulo 2^64 - 59
            l += 59;
            h = 0;
          }
          if (i) {
            const at = modulo(l, h, m);
            if (!((words[(at / 32) >>> 0] >>> (at & 31)) & 1)) return false;
          }
          const low = (l >>> 0) * 1469; // times 2^64 - 1469
          l = -low | 0;
          h = -imul(h, 1469) - Math.ceil(low / 0x100000000) | 0;
        }
        return true;
      },
    };
  },
};
