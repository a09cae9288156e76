// Means over the number of bits that are set in a block, and over the number of keys in a block. internal/stat of the
// Go package computes the same.

const { floor, max, min, pow, sqrt } = Math;

/** The distributions of the number of set bits, of m, after 0, 1, ... throws. States below 1e-20 are left out. */
export class Bins {
  readonly #rows: Float64Array[] = [Float64Array.of(1)];
  /** The number of set bits of the first state of each row. */
  readonly #low = [0];

  constructor(readonly m: number) {}

  /** Returns the mean of of[X], where X is the number of set bits after the given number of throws. */
  mean(throws: number, of: Float64Array): number {
    while (this.#rows.length <= throws) this.#throw();
    const row = this.#rows[throws], low = this.#low[throws];
    let mean = 0;
    for (let i = 0; i < row.length; i++) mean += row[i] * of[low + i];
    return mean;
  }

  #throw(): void {
    const last = this.#rows.length - 1, { m } = this, low = this.#low[last], before = this.#rows[last];
    const n = min(low + before.length, m) - low + 1, next = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const x = low + i;
      if (i < before.length) next[i] = before[i] * (x / m);
      if (i) next[i] += before[i - 1] * ((m - x + 1) / m);
    }
    let from = 0, to = n;
    while (from < to - 1 && next[from] < 1e-20) from++;
    while (to > from + 1 && next[to - 1] < 1e-20) to--;
    this.#rows.push(next.slice(from, to));
    this.#low.push(low + from);
  }
}

/** Returns (x/m)^k of every x from 0 to m. */
export const powers = (m: number, k: number) => Float64Array.from({ length: m + 1 }, (_, x) => pow(x / m, k));

/**
 * Returns the mean of f(J), where J is binomial with n trials of probability p and f is in [0, 1]. It calls f with
 * increasing numbers, and leaves out those more than 12 standard deviations and 60 from the mean. The mean must be
 * below 100,000.
 */
export function binomialMean(n: number, p: number, f: (j: number) => number): number {
  if (p >= 1 || !n) return f(n);
  const mean = n * p, spread = 12 * sqrt(mean * (1 - p)) + 60, odds = p / (1 - p);
  const low = floor(max(0, mean - spread)), high = mean + spread < n ? floor(mean + spread) : n, middle = floor(mean);
  const weights = new Float64Array(middle - low + 1);
  weights[middle - low] = 1;
  for (let j = middle; j > low; j--) weights[j - low - 1] = weights[j - low] * (j / (n - j + 1) / odds);
  let sum = 0, weight = 0, last = 1;
  for (let i = 0; i < weights.length; i++) {
    if (!(weights[i] > 0)) continue;
    sum += weights[i] * f(low + i);
    weight += weights[i];
  }
  for (let j = middle; j < high && last > 1e-17 * sum; j++) {
    last *= ((n - j) / (j + 1)) * odds;
    sum += last * f(j + 1);
    weight += last;
  }
  return sum / weight;
}
