// Solves the equations of ribbon in WebAssembly: ../build/ribbon.ts, rows.ts and sorted.ts are the specification.

import { segmentStarts } from '../build/geometry.js';
import { pieces, room } from '../build/hashes.js';
import type { Keys } from '../build/maker.js';
import { inverse, type Solver } from '../build/ribbon.js';
import { Places, type Start } from './builder.js';

const { ceil, floor, log2, max, min } = Math;

/** The number of 64 bits that two words make. */
const whole = ([low, high]: readonly number[]) => (BigInt(high) << 32n) | BigInt(low >>> 0);

/** Returns a solver of n keys, duplicates included, or undefined if there is no memory for it. */
export function wasmSolver({ parts, length: n }: Keys, start: Start | undefined): Solver | undefined {
  // Keys are written in the order of some of their first bits, then those are sorted that have these in common.
  const bits = max(1, min(11, floor(log2(n / 256)))), most = min(segmentStarts, n) + 256;
  const places = new Places(), keys = places.add(16 * n), other = places.add(16 * n), ends = places.add(4 << bits);
  const rows = places.add(16 * most), results = places.add(4 * most), pivots = places.add(4 * most);
  const instance = start?.(places.bytes);
  if (!instance) return;
  const { run, buffer } = instance, counts = new Uint32Array(buffer, ends, 2 ** bits);
  let left = n, sorted = false; // whether all keys are, by their own Hi

  return {
    get left() {
      return left;
    },

    *sort(by, all) {
      const factor = whole(by), own = all && factor === 1n;
      if (own && sorted) return;
      counts.fill(0);
      for (const to of [0, other]) {
        const spread = (from: number, end: number) => run.spread(from, end, ends, 64 - bits, factor, to);
        if (all) {
          for (const piece of pieces(parts)) {
            new Int32Array(buffer, keys).set(piece);
            spread(keys, keys + piece.byteLength);
            yield 0;
          }
        } else {
          for (let i = 0; i < left; i += room) {
            spread(keys + 16 * i, keys + 16 * min(i + room, left));
            yield 0;
          }
        }
        if (!to) counts.reduce((sum, count, i) => ((counts[i] = sum), sum + count), 0);
      }
      left = 0;
      for (let i = 0; i < counts.length; i++) {
        left = run.order(other, keys, i && counts[i - 1], counts[i], left);
        yield 0;
      }
      sorted = own;
    },

    *solve({ r, wide }, l) {
      const { starts, width, bucket, thresholds } = l, all = left, broad = width >> 7, shift = log2(bucket);
      // The solution and the classes take the room of the keys that sorting needs.
      const words = 2 * (l.blocks * r + l.wider), classes = other + 4 * words;
      const level = new Uint8Array(buffer, classes, ceil(starts / bucket)).fill(0);
      sorted = false;
      run.layer(
        whole(inverse(l.factor)), starts, l.turn, broad, shift, thresholds[1], thresholds[2], r, r + +(wide > 0),
        l.wider, rows, results, pivots, keys, keys + 16 * all,
      );
      for (let first = 0; first < starts; first += segmentStarts) {
        const end = ceil(min(first + segmentStarts, starts) / bucket), some = 32;
        const slot = first + width * (first / segmentStarts), slots = min(starts - first, segmentStarts) + width;
        const blocks = slots / 64;
        new Uint8Array(buffer, rows, slots * (8 << broad)).fill(0);
        new Uint8Array(buffer, results, 4 * slots).fill(0);
        for (let b = first / bucket; b < end; b += some) {
          left = run.solve(b, min(b + some, end), first, slot, classes);
          yield 1 - left / all;
        }
        for (let i = blocks; i > 0; i -= some) {
          run.substitute(max(0, i - some), i, +(i === blocks), slot / 64, other);
          yield 1 - left / all;
        }
      }
      left = run.bumped(keys);
      return { words: new Uint32Array(buffer, other, words).slice(), classes: level.slice() };
    },

    keys: () => new Int32Array(buffer, keys, 4 * left).slice(),
  };
}
