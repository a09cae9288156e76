// Integers of 64 bits as two words of 32. Words are taken as 32 bits of either sign and returned signed, unless a
// function says otherwise: `x >>> 0` makes a word unsigned.
//
// mul and fold take the upper words of products from doubles, because integers of JavaScript have no wider product, and
// 16 bits at a time take twice as many operations. A double has 53 bits: rounded down to an integer it is wrong by 1 if
// the bits below that integer are close to those of another one. They are the word before, which is known exactly. The
// errors of all roundings are below 2^-19, so words from 2^13 to 2^32 - 2^13 prove that the next word is right. BigInts
// compute the others, once in 87,000 products.

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
 * The upper word of the product of two unsigned words, from its double and its lower word: the rounding does not
 * matter. The result comes later than that of mulHigh, but there is less to inline.
 */
export function above(double: number, low: number): number {
  return ((double - (low >>> 0)) * down + 0.5) | 0;
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

/** The results of mul and fold, lowest word first. V8 treats `p` as a constant, but not what is exported. */
export const product = p;

/** The unsigned number of 64 bits (l, h). */
const big = (l: number, h: number) => (BigInt(h >>> 0) << 32n) | BigInt(l >>> 0);

/** Sets product to the four words of a·b, whatever they are. */
function mulExact(al: number, ah: number, bl: number, bh: number): void {
  const v = big(al, ah) * big(bl, bh);
  for (let i = 0; i < 4; i++) p[i] = Number(BigInt.asIntN(32, v >> BigInt(32 * i)));
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

/** Sets words 0 and 1 of product to the word of the probe of a key after that of (l, h): rotl(9·x, 25) + Hi. */
export function next(l: number, h: number, hiLow: number, hiHigh: number): void {
  const low = imul(l, 9), high = imul(h, 9) + (((l >>> 0) * 9 * down) | 0);
  const turned = (low << 25) | (high >>> 7), sum = (turned + hiLow) | 0;
  p[0] = sum;
  p[1] = ((high << 25) | (low >>> 7)) + hiHigh + carry(sum, turned);
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
