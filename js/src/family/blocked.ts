// The blocked Bloom filter: all bits of a key are in one block, of 512 bits (line) or 256 bits (split, as in Parquet).
// See docs/format/blocked.md.

import { salts } from '../salts.js';
import { checkSections } from '../sections.js';
import type { Family, Hash } from '../types.js';
import { position, product, remix } from '../wide.js';

const { imul } = Math;

export const blocked: Family = {
  name: 'blocked',
  id: 2,
  open(file) {
    const { spec } = file;
    spec.want('blocks k layout');
    const layout = spec.params.get('layout'), split = layout === 'split';
    if (!split && layout !== 'line') throw spec.bad();
    const blocks = spec.uint('blocks', 1), k = spec.uint('k', split ? 8 : 1, split ? 8 : 32);
    checkSections(file, (split ? 4 : 8) * blocks);
    const words = file.sections[0];
    return {
      has: split ? (h) => hasSplit(words, blocks, h) : (h) => hasLine(words, blocks, k, h),
      core: { numbers: [BigInt(blocks), k, split ? 1 : 0], sections: file.sections },
    };
  },
};

/** Probe i of seven is bit x mod 64 of word x>>61, where x is Lo rotated left by 9·i; seven more come from remix. */
function hasLine(words: Uint32Array, blocks: number, k: number, h: Hash): boolean {
  const block = 16 * position(h[2], h[3], blocks);
  let l = h[0], u = h[1], all = 1;
  for (let round = 1; ; round++) {
    for (let i = k < 7 ? k : 7; i > 0; i--) {
      all &= words[block + ((u >>> 28) & 14) + ((l >>> 5) & 1)] >>> (l & 31);
      const t = (l << 9) | (u >>> 23);
      u = (u << 9) | (l >>> 23);
      l = t;
    }
    k -= 7;
    if (k <= 0 || !all) return all === 1;
    remix(h[0], h[1], round);
    l = product[0];
    u = product[1];
  }
}

function hasSplit(words: Uint32Array, blocks: number, h: Hash): boolean {
  const block = 8 * position(h[2], h[3], blocks);
  let all = 1;
  for (let i = 0; i < 8; i++) all &= words[block + i] >>> (imul(h[0], salts[i]) >>> 27);
  return (all & 1) === 1;
}
