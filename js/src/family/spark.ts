// The BloomFilter of Apache Spark, in either of its versions.

import { murmur3x86Twice } from '../hash/murmur3x86.js';
import { checkSections } from '../sections.js';
import type { Family } from '../types.js';

/** Family 23, in the plain form only. */
export const spark: Family = {
  name: 'spark',
  id: 23,
  foreign: [7, murmur3x86Twice],
  open(file) {
    const { spec, sections } = file;
    spec.want('k version words');
    const k = spec.uint('k', 1, 255), version = spec.uint('version', 1, 2), size = spec.uint('words', 1, 2 ** 31 - 1);
    checkSections(file, size);
    const [words] = sections, m = 64 * size;
    const bit = (at: number) => (words[(at / 32) >>> 0] >>> (at & 31)) & 1;
    return {
      has:
        version === 1
          ? (h) => {
              for (let i = 0, c = h[0]; i < k; i++) {
                c = (c + h[1]) | 0;
                if (!bit((c ^ (c >> 31)) % m)) return false;
              }
              return true;
            }
          : (h) => {
              // The sum c = 2^31·a + (i·b - a). Both terms are exact, as is what % leaves; so is the sign of their sum.
              const a = h[0], b = h[1], start = a * 0x80000000, first = start % m;
              for (let i = 1, rest = b - a; i <= k; i++, rest += b) {
                let at = (first + rest) % m;
                if (at < 0) at += m;
                if (!bit(start + rest < 0 ? m - 1 - at : at)) return false;
              }
              return true;
            },
    };
  },
};
