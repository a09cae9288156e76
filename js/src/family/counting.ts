// The counting Bloom filter: m counters of 4 bits, k probes a key. A counter of 15 is stuck: it no longer changes. See
// docs/format/counting.md.

import { CorruptError } from '../errors.js';
import { checkSections, checkZeros } from '../sections.js';
import type { Family, Hash } from '../types.js';
import { next, position, product } from '../wide.js';

export const counting: Family = {
  name: 'counting',
  id: 8,
  open(file) {
    const { spec, header } = file;
    spec.want('k m');
    const m = spec.uint('m', 1), k = spec.uint('k', 1, 64);
    checkSections(file, Math.ceil(m / 16));
    const words = file.sections[0];
    checkZeros(words, 4 * m);
    // Each addition adds k in total, unless a counter is stuck.
    let sum = 0, stuck = 0;
    for (let i = 0; i < words.length; i++) {
      const w = words[i];
      sum += Math.imul((w & 0x0f0f0f0f) + ((w >>> 4) & 0x0f0f0f0f), 0x01010101) >>> 24;
      stuck |= w & (w >>> 1) & (w >>> 2) & (w >>> 3) & 0x11111111;
    }
    if (!stuck && BigInt(sum) !== header.keys * BigInt(k)) throw new CorruptError('sum of the counters');

    const at = new Float64Array(k), counters = new Uint8Array(k);
    /** Sets the places of a key, and their counters. It returns false at the first counter of 0. */
    const probe = (h: Hash): boolean => {
      let l = h[0], u = h[1];
      const bl = h[2], bh = h[3];
      for (let i = 0; ; ) {
        const p = position(l, u, m), c = (words[Math.floor(p / 8)] >>> (4 * (p & 7))) & 15;
        if (!c) return false;
        at[i] = p;
        counters[i] = c;
        if (++i === k) return true;
        next(l, u, bl, bh);
        l = product[0];
        u = product[1];
      }
    };
    return {
      has: probe,
      /** The smallest counter, each divided by the number of probes on it; those that are stuck do not take part. */
      count(h) {
        if (!probe(h)) return 0;
        let least = 16;
        for (let i = 0; i < k; i++) {
          if (counters[i] === 15) continue;
          let times = 0;
          for (let j = 0; j < k; j++) times += at[j] === at[i] ? 1 : 0;
          least = Math.min(least, Math.floor(counters[i] / times));
        }
        return Math.min(least, 15);
      },
      core: { numbers: [BigInt(m), k], sections: file.sections },
    };
  },
};
