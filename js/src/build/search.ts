/** Returns the smallest of 0 to n-1 for which is holds, or n. Where it holds once, it must hold from there on. */
export function search(n: number, is: (i: number) => boolean): number {
  let from = 0, to = n;
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (is(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
