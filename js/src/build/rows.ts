// The linear equations of a segment of a ribbon: Gaussian elimination as keys come, then substitution.

import { parity } from '../ribbon.js';
import type { Layer } from './geometry.js';

const { clz32 } = Math;

/** Where no row was free: the equation follows from others. */
export const none = -1;

/** The equations of the slots of a segment. The first coefficient of a row is 1 and belongs to its slot. */
export class Rows {
  /** Four words of coefficients a row, of which width 64 uses two. */
  readonly #c: Int32Array;
  readonly #results: Int32Array;
  readonly #words: number;
  /** The bits of the result that contradict other equations, after insert returned none. */
  rest = 0;

  constructor(readonly slots: number, readonly width: number) {
    this.#words = width / 32;
    this.#c = new Int32Array(slots * this.#words);
    this.#results = new Int32Array(slots);
  }

  /** Adds an equation whose coefficients, from the lowest word on, begin at a slot. It returns the row, or none. */
  insert(at: number, a: number, b: number, c: number, d: number, result: number): number {
    const all = this.#c, size = this.#words;
    for (;;) {
      const i = size * at;
      if (!all[i]) { // the first coefficient of a row is bit 0
        all[i] = a;
        all[i + 1] = b;
        if (size > 2) {
          all[i + 2] = c;
          all[i + 3] = d;
        }
        this.#results[at] = result;
        return at;
      }
      result ^= this.#results[at];
      a ^= all[i];
      b ^= all[i + 1];
      if (size > 2) {
        c ^= all[i + 2];
        d ^= all[i + 3];
      }
      if (!(a | b | c | d)) {
        this.rest = result;
        return none;
      }
      while (!a) {
        a = b;
        b = c;
        c = d;
        d = 0;
        at += 32;
      }
      const n = 31 - clz32(a & -a), up = 31 - n;
      a = (a >>> n) | ((b << 1) << up);
      b = (b >>> n) | ((c << 1) << up);
      c = (c >>> n) | ((d << 1) << up);
      d >>>= n;
      at += n;
    }
  }

  remove(at: number): void {
    this.#c.fill(0, this.#words * at, this.#words * (at + 1));
    this.#results[at] = 0;
  }

  /** Computes the slots, from the last one to the first, and writes the columns of each block. No row makes it 0. */
  substitute(words: Uint32Array, l: Layer, base: number, r: number, wide: boolean): void {
    const columns = r + +wide, all = this.#c, size = this.#words;
    // The slots behind the one to compute, of each column: bit i of the words is slot at+1+i.
    const behind = new Int32Array(columns * size);
    for (let block = this.slots / 64; block-- > 0; ) {
      for (let column = 0; column < columns; column++) {
        const from = column * size;
        let a = behind[from], b = behind[from + 1], c = 0, d = 0;
        if (size > 2) [c, d] = [behind[from + 2], behind[from + 3]];
        for (let slot = 64 * block + 63; slot >= 64 * block; slot--) {
          const i = size * slot;
          let sum = ((a << 1) & all[i]) ^ (((b << 1) | (a >>> 31)) & all[i + 1]);
          if (size > 2) sum ^= (((c << 1) | (b >>> 31)) & all[i + 2]) ^ (((d << 1) | (c >>> 31)) & all[i + 3]);
          d = (d << 1) | (c >>> 31);
          c = (c << 1) | (b >>> 31);
          b = (b << 1) | (a >>> 31);
          a = (a << 1) | (parity(sum) ^ ((this.#results[slot] >>> column) & 1));
        }
        behind[from] = a;
        behind[from + 1] = b;
        if (size > 2) {
          behind[from + 2] = c;
          behind[from + 3] = d;
        }
        const place = base + block;
        if (column === r && place >= l.wider) continue;
        const to = 2 * (l.first + place * r + Math.min(place, l.wider) + column);
        words[to] = a;
        words[to + 1] = b;
      }
    }
  }
}
