// MurmurHash64A (Austin Appleby, in the public domain): the hash function of RedisBloom.

import type { Hash } from '../types.js';
import { int, mulLow, product } from '../wide.js';

/** The multiplier, 0xc6a4a7935bd1e995. It is also the seed of the first hash. */
const ml = 0x5bd1e995, mh = 0xc6a4a793;

/** Hash 6: Lo is the hash of the first n bytes of view with a fixed seed, Hi is the hash with the seed Lo. */
export function murmur64aTwice(view: DataView, n: number, out: Hash): void {
  murmur64a(view, n, ml, mh);
  out[0] = product[0];
  out[1] = product[1];
  murmur64a(view, n, out[0], out[1]);
  out[2] = product[0];
  out[3] = product[1];
}

/** Sets words 0 and 1 of product to the hash of the first n bytes of view with a seed. */
function murmur64a(view: DataView, n: number, seedLow: number, seedHigh: number): void {
  mulLow(n, (n / 0x100000000) | 0, ml, mh);
  let l = product[0] ^ seedLow, h = product[1] ^ seedHigh, at = 0;
  for (; at + 8 <= n; at += 8) {
    mulLow(int(view, at), int(view, at + 4), ml, mh);
    mulLow(product[0] ^ (product[1] >>> 15), product[1], ml, mh);
    mulLow(l ^ product[0], h ^ product[1], ml, mh);
    l = product[0];
    h = product[1];
  }
  if (at < n) {
    for (let i = at; i < n; i++) {
      const c = view.getUint8(i) << (8 * (i & 3));
      if (i - at < 4) l ^= c;
      else h ^= c;
    }
    mulLow(l, h, ml, mh);
    l = product[0];
    h = product[1];
  }
  mulLow(l ^ (h >>> 15), h, ml, mh);
  product[0] ^= product[1] >>> 15;
}
