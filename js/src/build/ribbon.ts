// Builds bumped ribbon retrieval filters: internal/family/ribbon of the Go package solves the same equations.

import { factor } from '../ribbon.js';
import { fold, mulLow, position, product, rotate } from '../wide.js';
import { wasmSolver } from '../wasm/ribbon.js';
import { correct, forRate, Geometry, type Layer, mostLayers, mostTail, segmentStarts, startsFor } from './geometry.js';
import type { Built, Keys, Maker } from './maker.js';
import { none, Rows } from './rows.js';
import { sort, type Sorted } from './sorted.js';
import type { Steps } from './steps.js';
import { solveTail } from './tail.js';

const { ceil, floor, min, sqrt } = Math;

/** How many filters a build tries to keep its rate. */
const tries = 8;

/** Up to how many keys most builds try several variants of the layers. */
const fewKeys = 20_000;

/** Multiplies Hi of all keys by an odd number. */
function turn(keys: Int32Array, [low, high]: readonly number[]): void {
  for (let i = 2; i < keys.length; i += 4) {
    mulLow(keys[i], keys[i + 1], low, high);
    keys[i] = product[0];
    keys[i + 1] = product[1];
  }
}

/** The inverse of an odd number modulo 2^64: each step of Newton's iteration doubles the number of right bits. */
export function inverse([low, high]: readonly number[]): number[] {
  const a = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  let x = a;
  for (let i = 0; i < 5; i++) x = BigInt.asUintN(64, x * (2n - a * x));
  return [x, x >> 32n].map((w) => Number(BigInt.asIntN(32, w)));
}

/** A layer: words of its solution, and the class of each bucket. */
interface Solved {
  readonly words: Uint32Array;
  readonly classes: Uint8Array;
}

/** A filter without its tail, and the keys that no layer has taken. */
interface Attempt extends Solved {
  readonly g: Geometry;
  readonly tail: Sorted;
}

/** The distinct keys of a build, and what layers leave of them. */
export interface Solver {
  /** The number of keys that are left; before the first sort also duplicates. */
  readonly left: number;
  /** Multiplies Hi of the keys that are left, or of all, by a factor, and sorts them. */
  sort(by: readonly number[], all: boolean): Steps<void>;
  /** Solves a layer for sorted keys. Those that it bumps are left, with their own Hi. */
  solve(g: Geometry, l: Layer): Steps<Solved>;
  /** Returns the keys that are left. */
  keys(): Sorted;
}

/** The equations of the keys of a segment. */
class Segment {
  readonly #rows: Rows;
  readonly #pivots: number[] = [];

  constructor(readonly g: Geometry, readonly l: Layer, readonly number: number) {
    this.#rows = new Rows(min(l.starts - number * segmentStarts, segmentStarts) + l.width, l.width);
  }

  /** Inserts the equation of a key at a start in the segment, and reports whether it agrees with the others. */
  #insert(keys: Sorted, at: number, back: readonly number[], start: number): boolean {
    const { l, g } = this, { width } = l;
    mulLow(keys[at + 2], keys[at + 3], back[0], back[1]);
    const xl = product[0] ^ keys[at], xh = product[1] ^ keys[at + 1], swap = l.turn >> 5;
    let c = 0, d = 0;
    if (width > 64) {
      fold(xl, xh, 0x2545ae33, 0x04666d53);
      rotate(product, 0, l.turn & 31);
      c = product[swap];
      d = product[1 - swap];
    }
    fold(xl, xh, 0x5460b8e9, 0x71bf41d6);
    rotate(product, 0, l.turn & 31);
    const a = product[swap] | 1, b = product[1 - swap];
    fold(xl, xh, 0xe7770cbf, 0x50a89a3b);
    const pivot = this.#rows.insert(start, a, b, c, d, product[0]);
    if (pivot !== none) {
      this.#pivots.push(pivot);
      return true;
    }
    const block = floor((this.number * (segmentStarts + width) + start) / 64) + width / 64;
    return !(this.#rows.rest & (2 ** (g.r + +(block < l.wider)) - 1));
  }

  /**
   * Inserts the keys of a bucket, from word begin to end, whose starts are given. The highest starts come first, in
   * groups between thresholds. If a group contradicts others, it and those below it are bumped. It returns the class of
   * the bucket, and sets end to the first word of the keys that stay.
   */
  bucket(keys: Sorted, begin: number, end: number, back: readonly number[], starts: Uint32Array): [number, number] {
    const { bucket, thresholds } = this.l;
    let first = end;
    for (let level = 3; level > 0; level--) {
      const last = first;
      while (first > begin && starts[first / 4 - 1] % bucket >= thresholds[level - 1]) first -= 4;
      this.#pivots.length = 0;
      let agree = true;
      for (let i = last - 4; i >= first && agree; i -= 4) agree = this.#insert(keys, i, back, starts[i / 4]);
      if (agree) continue;
      for (const pivot of this.#pivots) this.#rows.remove(pivot);
      return [level, last];
    }
    return [0, begin];
  }

  write(words: Uint32Array): void {
    const { g, l, number } = this;
    this.#rows.substitute(words, l, (number * (segmentStarts + l.width)) / 64, g.r, g.wide > 0);
  }
}

/** Solves in JavaScript. */
class PlainSolver implements Solver {
  #all: Sorted | undefined;
  #left: Int32Array = new Int32Array();

  constructor(readonly parts: Keys['parts']) {}

  get left(): number {
    return this.#left.length / 4;
  }

  keys(): Sorted {
    return this.#left.slice();
  }

  *sort(by: readonly number[], all: boolean): Steps<void> {
    if (all) this.#left = this.#all ??= yield* sort(this.parts);
    if (by[0] === 1 && !by[1]) return;
    const keys = this.keys();
    turn(keys, by);
    this.#left = yield* sort([keys]);
  }

  *solve(g: Geometry, layer: Layer): Steps<Solved> {
    const keys = this.#left, l = { ...layer, first: 0 }; // places in the words count from those of the layer
    const words = new Uint32Array(2 * (l.blocks * g.r + l.wider)), classes = new Uint8Array(ceil(l.starts / l.bucket));
    const starts = new Uint32Array(keys.length / 4), back = inverse(l.factor), bumped = new Int32Array(keys.length);
    let left = 0, at = 0;
    for (let number = 0; number * segmentStarts < l.starts; number++) {
      const segment = new Segment(g, l, number), first = number * segmentStarts;
      const end = min(first + segmentStarts, l.starts);
      for (let b = floor(first / l.bucket); b * l.bucket < end; b++) {
        const begin = at, next = (b + 1) * l.bucket;
        for (; at < keys.length; at += 4) {
          const start = position(keys[at + 2], keys[at + 3], l.starts);
          if (start >= next) break;
          starts[at / 4] = start - first;
        }
        const [level, stay] = segment.bucket(keys, begin, at, back, starts);
        classes[b] = level;
        bumped.set(keys.subarray(begin, stay), left);
        left += stay - begin;
        if (b % 64 === 0) yield at / keys.length;
      }
      segment.write(words);
      yield at / keys.length;
    }
    this.#left = bumped.slice(0, left);
    turn(this.#left, back);
    return { words, classes };
  }
}

/** Builds the layers of a filter of all keys with the columns of a geometry and a variant. */
function* attempt(solver: Solver, { w, r, wide }: Geometry, seed: number): Steps<Attempt> {
  const g = new Geometry(w, r, wide, seed), solved: Solved[] = [];
  for (let j = mostLayers * seed; ; j++) {
    yield* solver.sort(factor(j), j === mostLayers * seed);
    g.tail = solver.left;
    if (g.tail <= mostTail) {
      const tail = solver.keys();
      turn(tail, inverse(factor(j)));
      const [words, classes] = [solved.map((s) => s.words), solved.map((s) => s.classes)];
      return { g, words: joined(Uint32Array, words), classes: joined(Uint8Array, classes), tail };
    }
    if (g.layers.length === mostLayers) throw new RangeError('keys: ribbon has no layers for them; take another seed');
    solved.push(yield* solver.solve(g, g.add(startsFor(w, g.tail))));
  }
}

/** Returns the elements of arrays one after the other. */
function joined<A extends Uint32Array | Uint8Array>(type: new (n: number) => A, arrays: A[]): A {
  const all = new type(arrays.reduce((sum, a) => sum + a.length, 0));
  let at = 0;
  for (const a of arrays) {
    all.set(a, at);
    at += a.length;
  }
  return all;
}

/** How many variants of the layers a build tries at most. With few keys, or in one column, chance decides the size. */
function variants(n: number, { w, r, wide }: Geometry): number {
  if (n <= mostTail) return 1;
  if (n < fewKeys) return n < 4096 ? 3 : 2;
  return w === 128 && r === 1 && !wide ? 4 : 1;
}

/** The number of slots with which a build tries no other variant. */
function enough(n: number): number {
  if (n < fewKeys) return n + 8 + floor(n / 320);
  const segments = ceil(startsFor(128, n) / segmentStarts);
  return n + 25 + 72 * segments + floor(sqrt(28 * 28 * segments));
}

/** Returns the smallest of some variants for n keys, or the first one with enough or fewer slots. */
function* smallest(solver: Solver, n: number, like: Geometry): Steps<Attempt> {
  let best = yield* attempt(solver, like, 0);
  for (let seed = 1; seed < variants(n, like) && best.g.slots > enough(n); seed++) {
    const other = yield* attempt(solver, like, seed);
    if (other.g.bits < best.g.bits) best = other;
  }
  return best;
}

/** Builds ribbon(r=,seed=,starts=,tail=,tail_seed=,w=,wide=). */
export const ribbon: Maker = {
  id: 10,
  *make(keys, rate, start): Steps<Built> {
    const solver = wasmSolver(keys, start) ?? new PlainSolver(keys.parts);
    yield* solver.sort(factor(0), true); // which is 1
    const n = solver.left;
    let like: Geometry | undefined = forRate(n, rate);
    for (let i = 0; like && i < tries; i++) {
      const { g, words, classes, tail }: Attempt = yield* smallest(solver, n, like);
      const { words: last, seed } = solveTail(tail, g.tailColumns);
      like = correct(g, classes, rate);
      if (like) continue;
      g.tailSeed = seed;
      const packed = new Uint32Array(2 * ceil(classes.length / 32));
      classes.forEach((level, b) => (packed[b >>> 4] |= level << (2 * (b & 15))));
      return { keys: n, spec: g.spec, sections: [words, packed, last] };
    }
    throw new RangeError('keys: no ribbon keeps the rate for them; take another seed');
  },
};
