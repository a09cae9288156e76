// Integers of 64 bits as two words of 32. Words are taken as 32 bits of either sign and returned signed, unless a
// function says otherwise: `x >>> 0` makes a word unsigned.
//
// Upper words of products come from doubles where a check shows that the rounding did not change them: an engine of
// JavaScript has no wider product of integers, and 16 bits at a time take twice as many operations.

const { imul } = Math;

/** The factor that moves a word down by one. */
const down = 2 ** -32;

/** The word of v from byte i on, little endian. */
export function int(v: DataView, i: number): number {
  return v.getInt32(i, true);
}

/** The upper word of the 64-bit product of two unsigned words. */
export function mulHigh(a: number, b: number): number {
  // No sum exceeds 2^32-1. Engines see that, and multiply and add integers.
  const al = a & 0xffff, ah = a >>> 16, bl = b & 0xffff, bh = b >>> 16;
  const t = ah * bl + ((al * bl) >>> 16);
  return (ah * bh + (t >>> 16) + ((al * bh + (t & 0xffff)) >>> 16)) | 0;
}

/**
 * The upper word of a sum of products of two unsigned words, of at most 2^68, that doubles have computed. Their rounding
 * does not matter: low is the lowest word of the exact sum. Later than mulHigh, but less to inline.
 */
export function above(sum: number, low: number): number {
  return ((sum - (low >>> 0)) * down + 0.5) | 0;
}

/** The upper word of the lower half of a·b. The lower word is imul(al, bl). */
export function mulUpper(al: number, ah: number, bl: number, bh: number): number {
  return (mulHigh(al, bl) + imul(al, bh) + imul(ah, bl)) | 0;
}

/** 1 if the unsigned word sum is below the unsigned word part: the carry of sum = part + another word. */
export function carry(sum: number, part: number): number {
  return +((sum >>> 0) < (part >>> 0)); // compiled without a branch, unlike ?:
}

const p = new Int32Array(4);

/** The results of mul and fold, lowest word first. Engines know more about `p`, which is not exported. */
export const product = p;

/** Sets product to the four words of a·b, whatever they are. */
function mulExact(al: number, ah: number, bl: number, bh: number): void {
  const h00 = mulHigh(al, bl), h01 = mulHigh(al, bh), h10 = mulHigh(ah, bl);
  const p01 = imul(al, bh), p10 = imul(ah, bl), p11 = imul(ah, bh);
  const s = (h00 + p01) | 0, w1 = (s + p10) | 0;
  const c = carry(s, p01) + carry(w1, p10);
  const t = (h01 + h10) | 0, u = (t + p11) | 0, w2 = (u + c) | 0;
  p[0] = imul(al, bl);
  p[1] = w1;
  p[2] = w2;
  p[3] = mulHigh(ah, bh) + carry(t, h01) + carry(u, p11) + carry(w2, c);
}

/** Sets product to the four words of a·b. */
export function mul(al: number, ah: number, bl: number, bh: number): void {
  const x = al >>> 0, y = ah >>> 0, low = (bl >>> 0) * down, b = ((bh >>> 0) + low) * down;
  const w0 = imul(al, bl), w1 = (imul(al, bh) + imul(ah, bl) + ((x * low) | 0)) | 0;
  const w2 = (imul(ah, bh) + ((x * b + y * low) | 0)) | 0;
  if (!((w0 + 8192) >>> 14 && (w1 + 8192) >>> 14 && (w2 + 8192) >>> 14)) return mulExact(al, ah, bl, bh);
  p[0] = w0;
  p[1] = w1;
  p[2] = w2;
  p[3] = y * b + x * (b * down);
}

/** Sets words 0 and 1 of product to the lower half of a·b. */
export function mulLow(al: number, ah: number, bl: number, bh: number): void {
  p[1] = mulUpper(al, ah, bl, bh);
  p[0] = imul(al, bl);
}

/** Adds the 64-bit number (l, h) to that in words at and at+1 of a. */
export function add(a: Int32Array, at: number, l: number, h: number): void {
  const s = (a[at] + l) | 0;
  a[at + 1] += h + carry(s, l);
  a[at] = s;
}

/** Rotates the 64-bit number in words at and at+1 of a left by s, 0 to 31. */
export function rotate(a: Int32Array, at: number, s: number): void {
  const l = a[at], h = a[at + 1];
  a[at] = (l << s) | ((h >>> 1) >>> (31 - s));
  a[at + 1] = (h << s) | ((l >>> 1) >>> (31 - s));
}

/** Sets words 0 and 1 of product to the exclusive or of the two halves of the 128-bit product a·b. */
export function fold(al: number, ah: number, bl: number, bh: number): void {
  const x = al >>> 0, y = ah >>> 0, low = (bl >>> 0) * down, b = ((bh >>> 0) + low) * down;
  const w0 = imul(al, bl), w1 = (imul(al, bh) + imul(ah, bl) + ((x * low) | 0)) | 0;
  const w2 = (imul(ah, bh) + ((x * b + y * low) | 0)) | 0;
  if (!((w0 + 8192) >>> 14 && (w1 + 8192) >>> 14 && (w2 + 8192) >>> 14)) return foldExact(al, ah, bl, bh);
  p[0] = w0 ^ w2;
  p[1] = w1 ^ (y * b + x * (b * down));
}

/** Does the same, whatever the words are. */
function foldExact(al: number, ah: number, bl: number, bh: number): void {
  mulExact(al, ah, bl, bh);
  p[0] ^= p[2];
  p[1] ^= p[3];
}

/** ⌊x·m / 2^64⌋ for an integer m of 0 to 2^32-1: a number of 0 to m-1, exactly. */
export function position32(xl: number, xh: number, m: number): number {
  const l = imul(xh, m);
  // The product of xl and m has no carry, nor does the rounding of that of xh and m reach the next integer.
  if (l >>> 0 <= -m >>> 0) return ((xh >>> 0) * (m * down)) >>> 0;
  const s = (l + mulHigh(xl, m)) | 0;
  return (mulHigh(xh, m) + carry(s, l)) >>> 0;
}

/** ⌊x·m / 2^64⌋ for an integer m of 0 to 2^53: a number of 0 to m-1, exactly. */
export function position(xl: number, xh: number, m: number): number {
  if (m <= 0xffffffff) return position32(xl, xh, m);
  mul(xl, xh, m | 0, Math.floor(m / 0x100000000));
  return (p[3] >>> 0) * 0x100000000 + (p[2] >>> 0);
}

/**
 * Sets words 0 and 1 of product to 64 further bits from Lo, for families that use Hi only to choose a block: Remix of
 * docs/format.md with a round of 1 or more.
 */
export function remix(lo: number, hi: number, round: number): void {
  // round·0x9E3779B97F4A7C15
  const gl = imul(round, 0x7f4a7c15), gh = (mulHigh(round, 0x7f4a7c15) + imul(round, 0x9e3779b9)) | 0;
  const l = (lo + gl) | 0;
  fold(l, (hi + gh + carry(l, gl)) | 0, 0xf3bcc909, 0x6a09e667);
  fold(p[0], p[1], 0x7f4a7c15, 0x9e3779b9);
}
