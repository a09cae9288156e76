// Medians and their intervals.

/** Returns the median of numbers and the 95% interval of it, from the order statistics: no shape is assumed. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b), n = sorted.length;
  // below: the probability that fewer than `rank` of n numbers are below the true median
  let rank = 0;
  for (let term = 0.5 ** n, below = term; below <= 0.025 && rank < n / 2; ) {
    rank++;
    term *= (n - rank + 1) / rank;
    below += term;
  }
  const low = Math.max(rank - 1, 0);
  return { median: (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2, low: sorted[low], high: sorted[n - 1 - low] };
}
