// Builds Bloom filters: internal/family/standard and internal/probe of the Go package compute the same sizes.

import { setBits } from '../wasm/bits.js';
import { next, position, product } from '../wide.js';
import { type Built, type Maker, zeros } from './maker.js';
import { search } from './search.js';
import type { Steps } from './steps.js';

const { ceil, exp, expm1, log1p, pow } = Math;

/** The most probes of a key. */
const mostProbes = 64;

/** The scatter that sizes do not count. */
const noScatter = 1.05;

/** The predicted rate of m bits with n keys of k probes. */
const rateOf = (n: number, m: number, k: number) => (m === 1 ? 1 : pow(-expm1(k * n * log1p(-1 / m)), k));

/** The real number m for which rateOf is p. */
const bitsFor = (n: number, p: number, k: number) => -1 / expm1(log1p(-pow(p, 1 / k)) / (k * n));

/** The mean rate over that of a filter with the mean number of set bits. Few keys set more or fewer by chance. */
function scatter(n: number, m: number, k: number): number {
  const load = (k * n) / m, empty = exp(-load), variance = (empty * (1 - (1 + load) * empty)) / m;
  return exp((((k * (k - 1)) / 2) * variance) / ((1 - empty) * (1 - empty)));
}

/** Returns the fewest bits for n keys at a rate, and the number of probes of a key. */
function sizeOf(keys: number, rate: number): { m: number; k: number } {
  const n = keys || 1;
  let m = Infinity, k = 1;
  const fewest = (bits: (k: number) => number) => {
    m = Infinity;
    for (let i = 1; i <= mostProbes; i++) {
      const b = bits(i);
      if (b < m) [m, k] = [b, i];
    }
  };
  fewest((i) => bitsFor(n, rate, i));
  if (scatter(n, m, k) > noScatter) {
    fewest((i) => {
      const least = ceil(bitsFor(n, rate, i));
      if (least > 2 ** 49) return Infinity; // the search would not end; more probes need fewer bits
      return least + search(9 * least, (more) => rateOf(n, least + more, i) * scatter(n, least + more, i) <= rate);
    });
  }
  return { m: ceil(m) || 1, k };
}

/** Builds standard(k=,m=). */
export const standard: Maker = {
  id: 1,
  *make(keys, rate, start): Steps<Built> {
    const { parts, length } = keys, { m, k } = sizeOf(length, rate), size = 2 * ceil(m / 64);
    const spec = `standard(k=${k},m=${m})`;
    const set = yield* setBits(keys, m < 2 ** 32 ? start : undefined, size, (run, from, to, at) =>
      run.standard(from, to, at, m, k));
    if (set) return { keys: length, spec, sections: [set] };
    const words = zeros(size, rate);
    let done = 0;
    for (const part of parts) {
      for (let i = 0; i < part.length; i += 4) {
        const hiLow = part[i + 2], hiHigh = part[i + 3];
        let l = part[i], h = part[i + 1];
        for (let probe = 1; ; probe++) {
          const at = position(l, h, m);
          words[(at / 32) >>> 0] |= 1 << (at & 31);
          if (probe === k) break;
          next(l, h, hiLow, hiHigh);
          l = product[0];
          h = product[1];
        }
      }
      yield ++done / parts.length;
    }
    return { keys: length, spec, sections: [words] };
  },
};
