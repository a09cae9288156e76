// The Bloom filter of the Go library bits-and-blooms. Its probes need 256 bits of hash: words 4 to 7 have the middle.

import { moduloOf } from '../double.js';
import { murmur3Twice } from '../hash/murmur3.js';
import { checkSections, checkZeros } from '../sections.js';
import type { Family } from '../types.js';

const { imul } = Math;

/** Family 21, in the plain form only. */
export const bitsandblooms: Family = {
  name: 'bitsandblooms',
  id: 21,
  foreign: [5, murmur3Twice],
  open(file) {
    const { spec, sections } = file;
    spec.want('k m', 'length');
    const k = spec.uint('k', 1, 255), m = spec.uint('m', 1);
    const length = spec.has('length') ? spec.uint('length', m + 1) : m;
    checkSections(file, Math.ceil(length / 64));
    const [words] = sections;
    checkZeros(words, length);
    const modulo = moduloOf(m);
    return {
      has(h) {
        for (let i = 0; i < k; i++) {
          // Starts are the first and the second word of the hash, in turn; steps the third, fourth, fourth, third.
          const start = i & 1 ? 4 : 0, step = (i + 1) & 2 ? 2 : 6, low = (h[start] >>> 0) + i * (h[step] >>> 0);
          const at = modulo(low | 0, h[start + 1] + imul(h[step + 1], i) + ((low / 0x100000000) | 0), m);
          if (!((words[(at / 32) >>> 0] >>> (at & 31)) & 1)) return false;
        }
        return true;
      },
    };
  },
};
