// Double hashing modulo a number of bits, as other systems have it.

import { carry } from './wide.js';

const { imul } = Math;

/** The 64-bit number (l, h) modulo m, exactly, for m of 2^13 to 2^30. */
function modulo30(l: number, h: number, m: number): number {
  // The quotient errs by at most 1 after rounding: it is below 2^51. So the rest fits in a word.
  const r = (l - imul(((h >>> 0) * 0x100000000 + (l >>> 0)) / m, m)) | 0;
  return r < 0 ? r + m : r < m ? r : r - m;
}

/** The 64-bit number (l, h) modulo m, exactly, for m of 1 to 2^37. */
export function modulo(l: number, h: number, m: number): number {
  const r = rest(rest(h >>> 0, m) * 0x10000 + (l >>> 16), m);
  return rest(r * 0x10000 + (l & 0xffff), m);
}

/** v modulo m, for v below 2^53: the quotient lies further from the next integer, 1/m, than a division errs. */
function rest(v: number, m: number): number {
  return v - Math.floor(v / m) * m;
}

/** Returns modulo, or modulo30 if it takes m. */
export const moduloOf = (m: number) => (m < 2 ** 13 || m > 2 ** 30 ? modulo : modulo30);

/**
 * Returns a function that reports whether the bits ((x + i·by) mod 2^32·top) mod m are set for i = 0 to k-1, in the
 * array of m bits that begins at a word. m is 1 to 2^37, top is 2^31 or 2^32, x and by are below 2^32·top.
 */
export function doubly(words: Uint32Array, word: number, m: number, k: number, top: number) {
  const wrap = rest(modulo(-1, top - 1, m) + 1, m), reduce = moduloOf(m);
  return (xl: number, xh: number, byl: number, byh: number): boolean => {
    // The position follows from the previous one. The sum of the numbers only tells whether it wraps.
    let at = reduce(xl, xh, m), high = xh >>> 0;
    const step = reduce(byl, byh, m);
    for (let i = 1; (words[word + ((at / 32) >>> 0)] >>> (at & 31)) & 1; i++) {
      if (i === k) return true;
      xl = (xl + byl) | 0;
      high += (byh >>> 0) + carry(xl, byl);
      at += step;
      if (high >= top) {
        high -= top;
        at -= wrap;
      }
      if (at < 0) at += m;
      else if (at >= m) at -= m;
    }
    return false;
  };
}
