// MurmurHash64A (Austin Appleby, in the public domain): the hash function of RedisBloom.

import type { Hash } from '../types.js';
import { int, mulUpper } from '../wide.js';

const { imul } = Math;

/** The multiplier, 0xc6a4a7935bd1e995. It is also the seed of the first hash. */
const ml = 0x5bd1e995, mh = 0xc6a4a793;

/** Hash 6: Lo is the hash of the first n bytes of view with a fixed seed, Hi is the hash with the seed Lo. */
export function murmur64aTwice(view: DataView, n: number, out: Hash): void {
  murmur64a(view, n, ml, mh, out, 0);
  murmur64a(view, n, out[0], out[1], out, 2);
}

/** Sets words at and at+1 of out to the hash of the first n bytes of view with a seed. */
function murmur64a(view: DataView, n: number, seedLow: number, seedHigh: number, out: Hash, to: number): void {
  let l = imul(n, ml) ^ seedLow, h = mulUpper(n, n / 0x100000000, ml, mh) ^ seedHigh, at = 0, x = 0, y = 0;
  for (; at + 8 <= n; at += 8) {
    x = int(view, at);
    y = mulUpper(x, int(view, at + 4), ml, mh);
    x = imul(x, ml) ^ (y >>> 15);
    l ^= imul(x, ml);
    h = mulUpper(l, h ^ mulUpper(x, y, ml, mh), ml, mh);
    l = imul(l, ml);
  }
  if (at < n) {
    for (let i = at; i < n; i++) {
      const c = view.getUint8(i) << (8 * (i & 3));
      if (i - at < 4) l ^= c;
      else h ^= c;
    }
    h = mulUpper(l, h, ml, mh);
    l = imul(l, ml);
  }
  x = l ^ (h >>> 15);
  y = mulUpper(x, h, ml, mh);
  out[to] = imul(x, ml) ^ (y >>> 15);
  out[to + 1] = y;
}
