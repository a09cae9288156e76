// The tail of a ribbon: a dense linear system for the last keys, of up to 256 slots.

import { parity, tailSalts } from '../ribbon.js';
import { fold, product } from '../wide.js';

const { clz32, ceil } = Math;

/** Row i has coefficients of eight words from 8·i on; the lowest one that is set is that of slot i. */
interface Dense {
  readonly c: Int32Array;
  readonly results: Int32Array;
}

/** Adds an equation, and returns its result if others leave it no row, or else 0. It changes c. */
function insert(rows: Dense, c: Int32Array, result: number): number {
  for (let i = 0; i < 8; ) {
    if (!c[i]) {
      i++;
      continue;
    }
    const at = 32 * i + 31 - clz32(c[i] & -c[i]), from = 8 * at;
    if (!rows.c[from + i]) {
      rows.c.set(c, from);
      rows.results[at] = result;
      return 0;
    }
    for (let j = i; j < 8; j++) c[j] ^= rows.c[from + j];
    result ^= rows.results[at];
  }
  return result;
}

/** Returns the equations of the keys, or undefined if they contradict each other in the columns of mask. */
function eliminate(keys: Int32Array, seed: number, mask: number): Dense | undefined {
  const n = keys.length / 4, salts = tailSalts(seed), rows = { c: new Int32Array(8 * n), results: new Int32Array(n) };
  const c = new Int32Array(8);
  for (let k = 0; k < keys.length; k += 4) {
    const hl = keys[k + 2], hh = keys[k + 3], xl = hl ^ keys[k], xh = hh ^ keys[k + 1];
    c.fill(0);
    for (let i = 0; i < ceil(n / 64); i++) {
      const [sl, sh] = salts[i];
      fold(xl ^ sl, xh ^ sh, 0x3010cd85, 0x7ea8b443);
      fold(product[0] ^ hl, product[1] ^ hh, 0x2cbdf5c9, 0x80b5ac43);
      c[2 * i] = product[0];
      c[2 * i + 1] = product[1];
    }
    for (let i = 0; i < 8; i++) if (n < 32 * i + 32) c[i] &= n > 32 * i ? 2 ** (n % 32) - 1 : 0;
    fold(xl, xh, 0xe7770cbf, 0x50a89a3b);
    if (insert(rows, c, product[0]) & mask) return;
  }
  return rows;
}

/** Returns the section of the tail of these keys, with the given number of columns, and its seed. */
export function solveTail(keys: Int32Array, columns: number): { words: Uint32Array; seed: number } {
  const n = keys.length / 4, words = new Uint32Array(2 * ceil((n * columns) / 64)), mask = 2 ** columns - 1;
  for (let seed = 0; seed < 65_536; seed++) {
    const rows = eliminate(keys, seed, mask);
    if (!rows) continue;
    const solved = new Int32Array(8 * columns);
    for (let i = n; i-- > 0; ) {
      for (let column = 0; column < columns; column++) {
        let sum = 0;
        for (let k = 0; k < 8; k++) sum ^= rows.c[8 * i + k] & solved[8 * column + k];
        if (!(parity(sum) ^ ((rows.results[i] >>> column) & 1))) continue;
        solved[8 * column + (i >>> 5)] |= 1 << (i & 31);
        words[(column * n + i) >>> 5] |= 1 << ((column * n + i) & 31);
      }
    }
    return { words, seed };
  }
  throw new RangeError('keys: ribbon has no tail for them; take another seed');
}
