// The binary fuse filter: a key is present if the exclusive or of three slots is its fingerprint. See
// docs/format/fuse.md.

import { bitsAt, checkSections, checkZeros } from '../sections.js';
import type { Family } from '../types.js';
import { carry, mulLow, position, product } from '../wide.js';

export const fuse: Family = {
  name: 'fuse',
  id: 3,
  open(file) {
    const { spec } = file;
    spec.want('seed segment segments width');
    const seed = spec.uint64('seed'), segment = spec.uint('segment', 1, 1 << 18), width = spec.uint('width', 1, 32);
    const segments = spec.uint('segments', segment > 1 ? 1 : 0, 2 ** 32 / segment), mask = segment - 1;
    if (segment & mask || (!segments && file.header.keys)) throw spec.bad();
    const bits = (segments + 2) * segment * width;
    checkSections(file, Math.floor(bits / 64) + 2);
    const words = file.sections[0];
    checkZeros(words, bits);
    if (!segments) return { has: () => false };
    const sl = Number(BigInt.asIntN(32, seed)), sh = Number(BigInt.asIntN(32, seed >> 32n));
    const count = segments * segment, low = 32 - width;
    /** The slot at place i, with the lowest bits of i, those in mask, changed by x. */
    const slot = (i: number, x: number) => bitsAt(words, (i - (i & mask) + ((i ^ x) & mask)) * width);
    return {
      has(h) {
        // Murmur3's last mix of Lo + seed; the upper half changes the lower one after each step
        const a = (h[0] + sl) | 0, b = (h[1] + sh + carry(a, sl)) | 0;
        mulLow(a ^ (b >>> 1), b, 0xed558ccd, 0xff51afd7);
        mulLow(product[0] ^ (product[1] >>> 1), product[1], 0x1a85ec53, 0xc4ceb9fe);
        const u = product[1], l = product[0] ^ (u >>> 1), at = position(l, u, count);
        const found = bitsAt(words, at * width) ^ slot(at + segment, (l >>> 18) | (u << 14)) ^
          slot(at + 2 * segment, l);
        return (l ^ u ^ found) << low === 0;
      },
      core: { numbers: [seed, BigInt(segment), BigInt(segments), width], sections: file.sections },
    };
  },
};
