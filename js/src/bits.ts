// Bits, fields and counts. Bit i of words is bit i mod 32 of word ⌊i/32⌋. Positions are below 2^32 and count from a
// word of the array, so that those in large arrays are exact.

/** The field of width bits, 1 to 32, from bit at after the given word on. */
export function field(words: Uint32Array, word: number, at: number, width: number): number {
  // The second word is the first one again if the field lies in one: the mask drops it.
  const low = words[word + (at >>> 5)], high = words[word + ((at + width - 1) >>> 5)];
  return (((low >>> (at & 31)) | ((high << 1) << (~at & 31))) << (32 - width)) >>> (32 - width);
}

/** The field of width bits, 1 to 63, from bit at after the given word on. Not exact above 2^53. */
export function wideField(words: Uint32Array, word: number, at: number, width: number): number {
  if (width <= 32) return field(words, word, at, width);
  return field(words, word, at + 32, width - 32) * 0x100000000 + field(words, word, at, 32);
}

/** The number of set bits in the n bits from bit at after the given word on. */
export function ones(words: Uint32Array, word: number, at: number, n: number): number {
  let sum = 0;
  for (; n > 0; n -= 32, at += 32) sum += popcount(field(words, word, at, n < 32 ? n : 32));
  return sum;
}

/** The number of set bits in a word. */
export function popcount(w: number): number {
  w -= (w >>> 1) & 0x55555555;
  w = (w & 0x33333333) + ((w >>> 2) & 0x33333333);
  return Math.imul((w + (w >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The integer of 64 bits in words i and i+1. Not exact above 2^53. */
export function word64(words: Uint32Array, i: number): number {
  return words[i + 1] * 0x100000000 + words[i];
}
