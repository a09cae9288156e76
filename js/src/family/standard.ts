// The Bloom filter: m bits, k probes a key. See docs/format/standard.md.

import { checkSections, checkZeros } from '../sections.js';
import type { Family, Hash } from '../types.js';
import { fold, position, product } from '../wide.js';

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
    return { has: (h) => has(words, m, k, h), core: { numbers: [BigInt(m), k], sections: file.sections } };
  },
};

/** Probe 0 is x0 = Lo, probe i is x_i = fold(x_(i-1) · (Hi with its lowest bit set)), each scaled to m. */
function has(words: Uint32Array, m: number, k: number, h: Hash): boolean {
  let l = h[0], u = h[1];
  const bl = h[2] | 1, bh = h[3];
  for (;;) {
    const at = position(l, u, m);
    if (!((words[Math.floor(at / 32)] >>> (at & 31)) & 1)) return false;
    if (--k === 0) return true;
    fold(l, u, bl, bh);
    l = product[0];
    u = product[1];
  }
}
