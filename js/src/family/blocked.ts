// The blocked Bloom filter: all bits of a key are in one block, of 512 bits (line) or 256 bits (split, as in Parquet).
// See docs/format/blocked.md.

import { salts } from '../salts.js';
import { checkSections } from '../sections.js';
import type { Family, Hash } from '../types.js';
import { position, product, remix } from '../wide.js';

export const blocked: Family = {
  name: 'blocked',
  id: 2,
  open(file) {
    const { spec } = file;
    spec.want('blocks k layout');
    const split = spec.params.get('layout') === 'split';
    if (!split && spec.params.get('layout') !== 'line') throw spec.bad();
    const blocks = spec.uint('blocks', 1), k = spec.uint('k', split ? 8 : 1, split ? 8 : 32);
    checkSections(file, (split ? 4 : 8) * blocks);
    const words = file.sections[0];
    const block = (h: Hash) => position(h[2], h[3], blocks);
    /** The hash of a key of Parquet has a bit in each of the 8 words of a block. */
    const hasSplit = (h: Hash) => {
      const at = 8 * block(h);
      let all = 1;
      for (let i = 0; i < 8; i++) all &= words[at + i] >>> (Math.imul(h[0], salts[i]) >>> 27);
      return all === 1;
    };
    /** Probe i of 7 is bit x mod 64 of word x>>61, where x is Lo rotated left by 9·i; 7 more come from remix. */
    const hasLine = (h: Hash) => {
      const at = 16 * block(h);
      let l = h[0], u = h[1], all = 1;
      for (let i = 0; i < k && all; ) {
        all &= words[at + ((u >>> 28) & 14) + ((l >>> 5) & 1)] >>> l;
        const t = (l << 9) | (u >>> 23);
        u = (u << 9) | (l >>> 23);
        l = t;
        if (++i % 7 || i === k) continue;
        remix(h[0], h[1], i / 7);
        l = product[0];
        u = product[1];
      }
      return all === 1;
    };
    return {
      has: split ? hasSplit : hasLine,
      core: { numbers: [BigInt(blocks), k, split ? 1 : 0], sections: file.sections },
    };
  },
};
