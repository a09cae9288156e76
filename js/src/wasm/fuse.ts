// Solves the equations of fuse in WebAssembly: ../build/fuse.ts is the specification.

import type { SystemMaker } from '../build/fuse.js';
import { pieces, room } from '../build/hashes.js';
import { Places, type Start } from './builder.js';

const { floor, max, min } = Math;

/** Keys are written in the order of their first bits, about that of their segments, so that adding stays in caches. */
const bits = 10;

/** Returns the maker of systems of n keys in the given slots, or undefined if there is no memory for them. */
export function wasmSystems(n: number, slots: number, start: Start | undefined): SystemMaker | undefined {
  const places = new Places(), window = places.add(16 * min(n, room)), starts = places.add(4 << bits);
  const xors = places.add(8 * slots + 32), mixed = places.add(8 * n), singles = places.add(4 * slots + 4);
  const uses = places.add(slots), which = places.add(n), instance = start?.(places.bytes);
  if (!instance) return;
  const { run, buffer } = instance, keys = new Int32Array(buffer, window);
  const counts = new Uint32Array(buffer, starts, 2 ** bits), clear = (at: number, bytes: number) =>
    new Uint8Array(buffer, at, bytes).fill(0);

  return (segment, segments) => ({
    *add(parts, seed) {
      for (const [at, bytes] of [[starts, 4 << bits], [xors, 8 * slots], [uses, slots]]) clear(at, bytes);
      run.fuse(seed, segment, segment * segments, xors, uses, mixed, which, singles);
      let done = 0, fits = 1;
      for (const placed of [0, 1]) {
        for (const piece of pieces(parts)) {
          keys.set(piece);
          run.part(window, window + piece.byteLength, starts, 64 - bits, placed);
          yield 0.25 * min(1, (done += piece.length) / (8 * n));
        }
        if (!placed) counts.reduce((sum, count, i) => ((counts[i] = sum), sum + count), 0);
      }
      for (let i = 0; i < n; i += room) {
        fits &= run.enter(i, min(i + room, n));
        yield 0.25 + 0.25 * i / n;
      }
      return !!fits;
    },
    *peel() {
      for (let i = 0; i < slots; i += room) {
        run.find(i, min(i + room, slots));
        yield 0.5;
      }
      for (let last = 0; ; ) {
        const peeled = run.peel(room);
        if (peeled - last < room) return peeled === n;
        last = peeled;
        yield 0.5 + peeled / n / 4;
      }
    },
    *fill(width) {
      const length = 2 * floor((slots * width) / 64) + 4;
      clear(xors, 4 * length); // not needed any more, and at least as long
      for (let end = n; end > 0; end -= room) {
        run.fill(max(0, end - room), end, xors, width);
        yield 1 - end / n / 4;
      }
      return new Uint32Array(buffer, xors, length);
    },
  });
}
