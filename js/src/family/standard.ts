// The Bloom filter: m bits, k probes a key. See docs/format/standard.md.

import { checkSections, checkZeros } from '../sections.js';
import type { Family } from '../types.js';
import { down, foldExact, position, position32, product } from '../wide.js';

const { imul } = Math;

export const standard: Family = {
  name: 'standard',
  id: 1,
  open(file) {
    const { spec } = file;
    spec.want('k m');
    const m = spec.uint('m', 1), k = spec.uint('k', 1, 64);
    checkSections(file, Math.ceil(m / 64));
    const words = file.sections[0];
    checkZeros(words, m);
    // Factors of a position, and of products: see fold.
    const place = m > 0xffffffff ? position : position32;
    return {
      /** Probe 0 is x0 = Lo, probe i is x_i = fold(x_(i-1) · (Hi with its lowest bit set)), each scaled to m. */
      has(h) {
        let l = h[0], u = h[1];
        const bl = h[2] | 1, bh = h[3], low = (bl >>> 0) * down, b = ((bh >>> 0) + low) * down;
        for (let i = 1; ; i++) {
          const at = place(l, u, m);
          if (!((words[(at / 32) >>> 0] >>> (at & 31)) & 1)) return false;
          if (i === k) return true;
          const x = l >>> 0, y = u >>> 0, w0 = imul(l, bl), w1 = (imul(l, bh) + imul(u, bl) + ((x * low) | 0)) | 0;
          const w2 = (imul(u, bh) + ((x * b + y * low) | 0)) | 0;
          if ((w0 + 8192) >>> 14 && (w1 + 8192) >>> 14 && (w2 + 8192) >>> 14) {
            l = w0 ^ w2;
            u = w1 ^ (y * b + x * (b * down));
          } else {
            foldExact(l, u, bl, bh);
            l = product[0];
            u = product[1];
          }
        }
      },
      core: { numbers: [BigInt(m), k], sections: file.sections },
    };
  },
};
