// Builds blocked Bloom filters of 512-bit lines: internal/family/blocked of the Go package computes the same sizes.

import { setBits } from '../wasm/bits.js';
import { position, product, remix } from '../wide.js';
import { type Built, type Maker, noSuchRate, zeros } from './maker.js';
import { Bins, binomialMean, powers } from './occupancy.js';
import type { Steps } from './steps.js';

const { expm1, floor, log1p, log2, max, min, pow, sqrt } = Math;

const lineBits = 512, mostProbes = 32;

/** By how many standard deviations sizes stay below the rate, and by which factor a filter may exceed it. */
const sure = 3, firm = 1.01;

/** Predicted rates for n keys. It keeps what many sizes have in common. */
class Formula {
  readonly #bins = new Bins(lineBits);
  /** Of each exponent: powers of the shares of set bits, and their means with 0, 1, ... throws of so many a key. */
  readonly #powers: Float64Array[] = [];
  readonly #means: number[][] = [];

  constructor(readonly n: number) {}

  /** Returns E[(X/B)^e] of a block with j keys of k probes. e is k or 2k: one k belongs to each slot. */
  #mean(j: number, k: number, e: number, slot: number): number {
    const means = (this.#means[slot] ??= []), of = (this.#powers[slot] ??= powers(lineBits, e));
    while (means.length <= j) means.push(this.#bins.mean(means.length * k, of));
    return means[j];
  }

  /** The predicted rate. */
  rate(blocks: number, k: number): number {
    return binomialMean(this.n, 1 / blocks, (j) => this.#mean(j, k, k, k));
  }

  /** The standard deviation of the rates of filters: see scatter.go. */
  scatter(blocks: number, k: number): number {
    const { n } = this, p = 1 / blocks, load = n / blocks, all = this.rate(blocks, k);
    const known = this.#means[k].length, rate = (j: number) => (j < known ? this.#means[k][j] : all);
    const mean = binomialMean(n, p, rate);
    const product = binomialMean(n, p, (j) => (j / n) * rate(j)), cov = (product - mean * p) * n;
    let variance = binomialMean(n, p, (j) => this.#mean(j, k, 2 * k, k + mostProbes)) - mean * mean;
    const vary = load * (1 - p);
    if (vary > 0) variance -= (cov * cov) / vary;
    return sqrt(max(0, variance) * p);
  }

  /** The number of probes with the lowest rate. */
  probes(blocks: number): number {
    let k = max(1, min(mostProbes, floor((0.5 * lineBits) / max(this.n / blocks, 1)))), best = this.rate(blocks, k);
    for (const step of [1, -1]) {
      for (; k + step >= 1 && k + step <= mostProbes; k += step) {
        const rate = this.rate(blocks, k + step);
        if (rate >= best) break;
        best = rate;
      }
    }
    return k;
  }
}

/** Returns a lower bound of the rate with the given number of bits: the best rate of a standard filter. */
function leastRate(n: number, bits: number): number {
  const empty = n * log1p(-1 / bits);
  let least = 1;
  for (let k = 1; k <= mostProbes; k++) least = min(least, pow(-expm1(k * empty), k));
  return least * (1 - 1e-9);
}

/** Returns the smallest of low+1 to high for which kept holds, or up to 0.1% more. It holds for high. */
function bisect(low: number, high: number, kept: (blocks: number) => boolean): number {
  while (high - low > 1 + floor(high / 1000)) {
    const middle = low + floor((high - low) / 2);
    if (kept(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Returns the number of blocks and of probes with which nearly every filter of n keys keeps a rate. */
function sizeOf(keys: number, p: number): { blocks: number; k: number } {
  const n = keys || 1, formula = new Formula(n);
  const kept = (blocks: number) =>
    leastRate(n, blocks * lineBits) <= p && formula.rate(blocks, formula.probes(blocks)) <= p;
  // 1 / p may be infinite
  let low = floor(min(2 ** 52, max(1, ((1.44 * log2(1 / p) * n) / lineBits) * 0.5))), high = low;
  while (!kept(high)) {
    if (high * lineBits > 4096 * max(n, 64) || high > 2 ** 52) {
      throw noSuchRate(p, 'a blocked filter needs more than 4096 bits per key for this rate; take standard or fuse');
    }
    low = high;
    high += floor(high / 2) + 1;
  }
  const least = bisect(low, high, kept), most = least + floor(least / 4) + 1;
  const firmly = (blocks: number) => {
    const k = formula.probes(blocks);
    return formula.rate(blocks, k) + sure * formula.scatter(blocks, k) <= firm * p;
  };
  const blocks = firmly(least) || !firmly(most) ? least : bisect(least, most, firmly);
  return { blocks, k: formula.probes(blocks) };
}

/** Builds blocked(blocks=,k=,layout=line). */
export const blocked: Maker = {
  id: 2,
  *make(keys, rate, start): Steps<Built> {
    const { parts, length } = keys, { blocks, k } = sizeOf(length, rate);
    const spec = `blocked(blocks=${blocks},k=${k},layout=line)`;
    const set = yield* setBits(keys, start, 16 * blocks, (run, from, to, at) => run.blocked(from, to, at, blocks, k));
    if (set) return { keys: length, spec, sections: [set] };
    const words = zeros(16 * blocks, rate);
    let done = 0;
    for (const part of parts) {
      for (let i = 0; i < part.length; i += 4) {
        const at = 16 * position(part[i + 2], part[i + 3], blocks);
        let l = part[i], h = part[i + 1];
        for (let probe = 0; probe < k; ) {
          words[at + ((h >>> 28) & 14) + ((l >>> 5) & 1)] |= 1 << l;
          const t = (l << 9) | (h >>> 23);
          h = (h << 9) | (l >>> 23);
          l = t;
          if (++probe % 7 || probe === k) continue;
          remix(part[i], part[i + 1], probe / 7);
          l = product[0];
          h = product[1];
        }
      }
      yield ++done / parts.length;
    }
    return { keys: length, spec, sections: [words] };
  },
};
