// The Bloom filter of DCSO's bloom.

import { moduloOf } from '../double.js';
import { checkSections, checkZeros } from '../sections.js';
import type { Family, Hash } from '../types.js';

const { imul } = Math;

/** Hash 9: FNV-1 of 64 bits of the first n bytes of view. */
function fnv1(view: DataView, n: number, out: Hash): void {
  let l = 0x84222325 | 0, h = 0xcbf29ce4 | 0;
  for (let i = 0; i < n; i++) {
    const low = (l >>> 0) * 0x1b3;
    h = (imul(h, 0x1b3) + (l << 8) + ((low / 0x100000000) | 0)) | 0; // times 2^40 + 0x1b3
    l = low ^ view.getUint8(i);
  }
  out[0] = l;
  out[1] = out[3] = h;
  out[2] = 0;
}

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
