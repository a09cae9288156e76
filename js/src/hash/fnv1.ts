// FNV-1 of 64 bits (G. Fowler, L. C. Noll, K.-P. Vo).

import type { Hash } from '../types.js';

const { imul } = Math;

/** Hash 9: FNV-1 of 64 bits of the first n bytes of view. */
export function fnv1(view: DataView, n: number, out: Hash): void {
  let l = 0x84222325 | 0, h = 0xcbf29ce4 | 0;
  for (let i = 0; i < n; i++) {
    const low = (l >>> 0) * 0x1b3;
    h = (imul(h, 0x1b3) + (l << 8) + ((low / 0x100000000) | 0)) | 0; // times 2^40 + 0x1b3
    l = low ^ view.getUint8(i);
  }
  out[0] = l;
  out[1] = out[3] = h;
  out[2] = 0;
}
