// Bumped ribbon retrieval: the smallest static filter, also with values. See docs/format/ribbon.md.

import { ribbonOf } from '../ribbon.js';
import { checkSections, checkZeros } from '../sections.js';
import type { Family, Hash } from '../types.js';

/** Family 10. CoreSetup: bloomery_ribbon; sections: those of the file. */
export const ribbon: Family = {
  name: 'ribbon',
  id: 10,
  open(file) {
    const { header, spec } = file, optional = 'seed tail tail_seed value_bits wide';
    spec.want('r w', `${optional} starts`);
    const text = spec.params.get('starts'), starts = text?.split('-').map(Number) ?? [];
    const r = spec.uint('r', 0, 32), w = spec.uint('w', 64, 128), wide = spec.uint('wide', 0, r < 32 ? 1023 : 0);
    const values = spec.uint('value_bits', +!r, 32), tail = spec.uint('tail', 0, 256);
    const seed = spec.uint('seed', 0, 65_535), tailSeed = spec.uint('tail_seed', 0, 65_535);
    if (
      w % 64 || starts.length > 16 || starts.some((n) => n < 64 || n % 64 !== 0) ||
      (text && starts.join('-') !== text) || (seed && !text) || (tailSeed && !tail) ||
      !header.keys !== !(text || tail) || // keys without slots, or slots without keys
      optional.split(' ').some((name) => spec.params.get(name) === '0')
    ) throw spec.bad();
    const { bits, open, layers } = ribbonOf({ r, values, w, wide, seed, starts, tail, tailSeed });
    checkSections(file, ...bits.map((n) => Math.ceil(n / 64)));
    bits.forEach((n, i) => checkZeros(file.sections[i], n));
    const find = open(file.sections), empty = r > 0 && !header.keys;
    return {
      has: (h) => !empty && find(h) >= 0,
      ...(values && {
        get(h: Hash) {
          const value = empty ? -1 : find(h, true);
          return value < 0 ? undefined : BigInt(value);
        },
      }),
      core: {
        numbers: [
          layers.length, values, r, +(wide > 0), tail, tailSeed, (176 * seed) & 63,
          ...layers.flatMap((l) => [
            BigInt(l.starts), l.low, l.high, BigInt(l.first / 2), BigInt(l.wider), BigInt(l.firstBucket), l.kind,
          ]),
        ],
        sections: file.sections,
      },
    };
  },
};
