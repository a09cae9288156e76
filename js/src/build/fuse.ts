// Builds binary fuse filters: internal/family/fuse of the Go package solves in the same order.

import { bitsAt } from '../sections.js';
import { wasmSystems } from '../wasm/fuse.js';
import { carry, mulLow, position32, product } from '../wide.js';
import { pieces } from './hashes.js';
import { type Built, type Keys, type Maker, noSuchRate } from './maker.js';
import type { Steps } from './steps.js';

const { ceil, floor, log, log2, max, min, round } = Math;

const mostWidth = 32, mostSegment = 2 ** 18;

/** How many seeds are tried. One fails with a probability of a few percent. */
const attempts = 1024;

/** The slots of a segment for n keys (Graf and Lemire, section 4). */
const segmentOf = (n: number) => min(mostSegment, 2 ** floor(log(n) / log(3.33) + 2.25));

/** The slots for n keys. */
function slotsOf(n: number): number {
  const segment = segmentOf(n);
  const capacity = n > 1 ? round(n * max(1.125, 0.875 + (0.25 * log(1e6)) / log(n))) : 0;
  return max(3, ceil(capacity / segment)) * segment;
}

/** The output function of SplitMix64. */
function splitMix(z: bigint): bigint {
  for (const [shift, by] of [[30n, 0xbf58476d1ce4e5b9n], [27n, 0x94d049bb133111ebn]]) {
    z = BigInt.asUintN(64, (z ^ (z >> shift)) * by);
  }
  return z ^ (z >> 31n);
}

/**
 * A system of equations, one a key: its fingerprint is the XOR of three slots. It is solved by peeling: a slot that
 * only one key uses is set last, and the key is left out.
 */
interface System {
  /** Adds the keys of parts and reports whether each slot has less than 64: counts have six bits. */
  add(parts: Keys['parts'], seed: bigint): Steps<boolean>;
  /** Leaves keys out, and reports whether none is left: the last slot that was found to have one key comes first. */
  peel(): Steps<boolean>;
  /** Returns the slots. */
  fill(width: number): Steps<Uint32Array>;
}

/** Returns a new system. Each takes the memory of the one before. */
export type SystemMaker = (segment: number, segments: number) => System;

/** A system in JavaScript. */
class PlainSystem implements System {
  /** For each slot: the XOR of the mixed keys that use it, their number times 4 and the XOR of their places. */
  readonly #low: Int32Array;
  readonly #high: Int32Array;
  readonly #uses: Uint8Array;
  /** In the order of peeling: the mixed keys, and which of their slots each one sets. */
  readonly #keys: Int32Array;
  readonly #places: Uint8Array;
  readonly #count: number;

  constructor(readonly n: number, readonly segment: number, readonly segments: number) {
    const slots = (segments + 2) * segment;
    this.#count = segments * segment;
    [this.#low, this.#high] = [new Int32Array(slots), new Int32Array(slots)];
    [this.#uses, this.#keys, this.#places] = [new Uint8Array(slots), new Int32Array(2 * n), new Uint8Array(n)];
  }

  /** The slot of a mixed key in place 0, 1 or 2. */
  #slot(l: number, h: number, place: number): number {
    const { segment } = this, at = position32(l, h, this.#count) + place * segment, mask = segment - 1;
    if (!place) return at;
    return at - (at & mask) + ((at ^ (place === 1 ? (l >>> 18) | (h << 14) : l)) & mask);
  }

  #change(slot: number, l: number, h: number): void {
    this.#low[slot] ^= l;
    this.#high[slot] ^= h;
  }

  *add(parts: Keys['parts'], seed: bigint): Steps<boolean> {
    const sl = Number(BigInt.asIntN(32, seed)), sh = Number(BigInt.asIntN(32, seed >> 32n)), uses = this.#uses;
    let fits = true, done = 0;
    for (const part of pieces(parts)) {
      for (let i = 0; i < part.length; i += 4) {
        // Murmur3's last mix of Lo + seed
        const a = (part[i] + sl) | 0, b = (part[i + 1] + sh + carry(a, sl)) | 0;
        mulLow(a ^ (b >>> 1), b, 0xed558ccd, 0xff51afd7);
        mulLow(product[0] ^ (product[1] >>> 1), product[1], 0x1a85ec53, 0xc4ceb9fe);
        const h = product[1], l = product[0] ^ (h >>> 1);
        for (let place = 0; place < 3; place++) {
          const slot = this.#slot(l, h, place);
          uses[slot] = (uses[slot] + 4) ^ place;
          fits &&= uses[slot] > 3;
          this.#change(slot, l, h);
        }
      }
      yield (done += part.length) / this.n / 8;
    }
    return fits;
  }

  *peel(): Steps<boolean> {
    const uses = this.#uses, keys = this.#keys, stack = new Uint32Array(uses.length + 1);
    let top = 0, n = 0;
    for (let i = 0; i < uses.length; i++) if (uses[i] >> 2 === 1) stack[top++] = i;
    while (top > 0) {
      const slot = stack[--top], u = uses[slot];
      if (u >> 2 !== 1) continue;
      const l = this.#low[slot], h = this.#high[slot], place = u & 3;
      keys[2 * n] = l;
      keys[2 * n + 1] = h;
      this.#places[n] = place;
      if (++n % 16_384 === 0) yield 0.5 + n / this.n / 4;
      for (let other = place + 1; other < place + 3; other++) {
        const at = other % 3, i = this.#slot(l, h, at), left = uses[i] - 4;
        uses[i] = left ^ at;
        this.#change(i, l, h);
        if (left >> 2 === 1) stack[top++] = i;
      }
    }
    return n === this.n;
  }

  *fill(width: number): Steps<Uint32Array> {
    const words = new Uint32Array(2 * floor((this.#uses.length * width) / 64) + 4), mask = 2 ** width - 1;
    for (let n = this.n; n-- > 0; ) {
      const l = this.#keys[2 * n], h = this.#keys[2 * n + 1];
      let v = l ^ h; // its own slot is 0 yet
      for (let place = 0; place < 3; place++) v ^= bitsAt(words, this.#slot(l, h, place) * width);
      const at = this.#slot(l, h, this.#places[n]) * width, i = floor(at / 32), s = at & 31;
      v &= mask;
      words[i] |= v << s;
      words[i + 1] |= (v >>> 1) >>> (31 - s);
      if (n % 16_384 === 0) yield 1 - n / this.n / 4;
    }
    return words;
  }
}

/** Returns the distinct keys: those whose Lo differs. */
function distinct({ parts, length }: Keys): Keys {
  const all = new BigUint64Array(length);
  let n = 0;
  for (const part of parts) {
    const words = new BigUint64Array(part.buffer, part.byteOffset, part.length / 2);
    for (let i = 0; i < words.length; i += 2) all[n++] = words[i];
  }
  all.sort();
  n = 0;
  for (let i = 0; i < length; i++) if (!i || all[i] !== all[i - 1]) all[n++] = all[i];
  const words = new BigUint64Array(2 * n);
  for (let i = 0; i < n; i++) words[2 * i] = all[i];
  return { parts: [new Int32Array(words.buffer)], length: n };
}

/** Builds fuse(seed=,segment=,segments=,width=). */
export const fuse: Maker = {
  id: 3,
  *make(given, rate, start): Steps<Built> {
    const width = max(1, ceil(-log2(rate)));
    if (width > mostWidth) throw noSuchRate(rate, 'the lowest rate of fuse is 2.3e-10');
    if (!given.length) { // no slots that a key could match by chance
      const words = new Uint32Array(2 * floor((2 * width) / 64) + 4);
      return { keys: 0, spec: `fuse(seed=0,segment=1,segments=0,width=${width})`, sections: [words] };
    }
    let keys = given, segment = 0, segments = 0, state = 1n, make: SystemMaker;
    const begin = () => {
      const n = keys.length, slots = slotsOf(n);
      segment = segmentOf(n);
      segments = slots / segment - 2;
      make = wasmSystems(n, slots, start) ?? ((...shape) => new PlainSystem(n, ...shape));
    };
    begin();
    for (let attempt = 1; attempt <= attempts; attempt++) {
      // For some numbers of keys the segments are too long: each fourth attempt has more of them, of half the length.
      if (keys.length > 4 && keys.length < 1_000_000) {
        if (attempt % 4 === 2) [segment, segments] = [segment / 2, 2 * segments + 2];
        if (attempt % 4 === 3) [segment, segments] = [2 * segment, segments / 2 - 1];
      }
      state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
      const system = make!(segment, segments), seed = splitMix(state);
      if ((yield* system.add(keys.parts, seed)) && (yield* system.peel())) {
        const spec = `fuse(seed=${seed},segment=${segment},segments=${segments},width=${width})`;
        return { keys: keys.length, spec, sections: [yield* system.fill(width)] };
      }
      if (keys !== given) continue;
      keys = distinct(given); // two equal keys are never left out
      if (keys.length === given.length) continue;
      begin();
      [attempt, state] = [0, 1n];
    }
    throw new RangeError('keys: no seed of fuse has a solution for them; take another seed');
  },
};
