// The Bloom filter: m bits, k probes a key. See docs/format/standard.md.

import { checkSections, checkZeros } from '../sections.js';
import type { Family, Hash } from '../types.js';
import { fold, position, position32, product } from '../wide.js';

const { imul } = Math, down = 2 ** -32;

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
    /** Probe 0 is x0 = Lo, probe i is x_i = fold(x_(i-1) · (Hi with its lowest bit set)), each scaled to m. */
    const exact = (h: Hash): boolean => {
      let l = h[0], u = h[1];
      for (let i = 1; ; i++) {
        const at = position(l, u, m);
        if (!((words[(at / 32) >>> 0] >>> (at & 31)) & 1)) return false;
        if (i === k) return true;
        fold(l, u, h[2] | 1, h[3]);
        l = product[0];
        u = product[1];
      }
    };
    /** The same for m below 2^32, with the steps of fold: after a call in the loop, V8 would load all values again. */
    const fast = (h: Hash): boolean => {
      let l = h[0], u = h[1];
      const scale = m * down, limit = -m >>> 0;
      const bl = h[2] | 1, bh = h[3], low = (bl >>> 0) * down, b = ((bh >>> 0) + low) * down, c = b * down;
      for (let i = 1; ; i++) {
        const x = l >>> 0, y = u >>> 0, at = imul(u, m) >>> 0 <= limit ? (y * scale) >>> 0 : position32(l, u, m);
        if (!((words[at >>> 5] >>> (at & 31)) & 1)) return false;
        if (i === k) return true;
        const w0 = imul(l, bl), w1 = (imul(l, bh) + imul(u, bl) + ((x * low) | 0)) | 0;
        const w2 = (imul(u, bh) + ((x * b + y * low) | 0)) | 0;
        if ((w0 + 8192) >>> 0 < 16384 || (w1 + 8192) >>> 0 < 16384 || (w2 + 8192) >>> 0 < 16384) return exact(h);
        l = w0 ^ w2;
        u = w1 ^ (y * b + x * c);
      }
    };
    return {
      has: m > 0xffffffff ? exact : fast,
      core: { numbers: [BigInt(m), k], sections: file.sections },
    };
  },
};
