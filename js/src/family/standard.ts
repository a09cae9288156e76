// The Bloom filter: m bits, k probes a key. See docs/format/standard.md.

import { checkSections, checkZeros } from '../sections.js';
import type { Family, Hash } from '../types.js';
import { carry, position } from '../wide.js';

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
    // Up to limit, position32 needs one product. For m from 2^32 on no word is: position computes all.
    const scale = m * down, limit = m <= 0xffffffff ? -m >>> 0 : -1;
    /**
     * Probe 0 is x0 = Lo, probe i is x_i = rotl(9·x_(i-1), 25) + Hi, each scaled to m. The steps are those of position
     * and next: after a call in the loop, V8 would load all values again.
     */
    const has = (h: Hash): boolean => {
      let l = h[0], u = h[1];
      const bl = h[2], bh = h[3];
      for (let i = 1; ; i++) {
        const at = imul(u, m) >>> 0 <= limit ? ((u >>> 0) * scale) >>> 0 : position(l, u, m);
        if (!((words[(at / 32) >>> 0] >>> (at & 31)) & 1)) return false;
        if (i === k) return true;
        const low = imul(l, 9), high = imul(u, 9) + (((l >>> 0) * 9 * down) | 0);
        const turned = (low << 25) | (high >>> 7);
        l = (turned + bl) | 0;
        u = (((high << 25) | (low >>> 7)) + bh + carry(l, turned)) | 0;
      }
    };
    return {
      has,
      core: { numbers: [BigInt(m), k], sections: file.sections },
    };
  },
};
