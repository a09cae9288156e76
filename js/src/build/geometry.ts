// The sizes of ribbon filters: internal/family/ribbon of the Go package computes the same.

import { factor, kindOf, kinds } from '../ribbon.js';
import { noSuchRate } from './maker.js';
import { search } from './search.js';

const { ceil, floor, max, min } = Math;

/** The most keys of a tail, and layers of a filter. */
export const mostTail = 256, mostLayers = 16;

/** The share of wide blocks counts in units of a 1024th, as fingerprints do. */
const unit = 1024, mostBits = 32;

/** The starts of a segment. */
export const segmentStarts = 2 ** 18;

/** A layer, with names of docs/format/ribbon.md. */
export interface Layer {
  /** T. */
  readonly starts: number;
  /** The lower and the upper word of M(j). */
  readonly factor: readonly number[];
  /** The number of bits by which coefficients are rotated. */
  readonly turn: number;
  /** w'. */
  readonly width: number;
  readonly bucket: number;
  readonly thresholds: readonly number[];
  readonly blocks: number;
  readonly wider: number;
  /** The first word of 64 bits of the solution, and the first bucket. */
  readonly first: number;
  readonly firstBucket: number;
}

/** What a filter consists of: a fingerprint of r bits, or r + 1 in the wide blocks. */
export class Geometry {
  readonly layers: Layer[] = [];
  /** The number of slots of the tail. */
  tail = 0;
  tailSeed = 0;

  constructor(readonly w: number, readonly r: number, readonly wide: number, readonly seed: number) {}

  add(starts: number): Layer {
    const j = this.layers.length + mostLayers * this.seed, kind = kindOf(starts, this.w);
    const [bucket, ...thresholds] = kinds[kind], width = kind > 1 ? 128 : 64;
    const blocks = (starts + width * ceil(starts / segmentStarts)) / 64;
    const layer = {
      starts, factor: factor(j), turn: (11 * j) % 64, width, bucket, thresholds, blocks,
      wider: ceil((blocks * this.wide) / unit), first: this.words, firstBucket: this.buckets,
    };
    this.layers.push(layer);
    return layer;
  }

  get words(): number {
    const l = this.layers[this.layers.length - 1];
    return l ? l.first + l.blocks * this.r + l.wider : 0;
  }

  get buckets(): number {
    const l = this.layers[this.layers.length - 1];
    return l ? l.firstBucket + ceil(l.starts / l.bucket) : 0;
  }

  get tailColumns(): number {
    return this.r + +(this.wide > 0);
  }

  get bits(): number {
    return 64 * this.words + 2 * this.buckets + this.tail * this.tailColumns;
  }

  get slots(): number {
    return this.layers.reduce((sum, l) => sum + 64 * l.blocks, this.tail);
  }

  get spec(): string {
    const some = (name: string, v: number | string) => (v ? `,${name}=${v}` : '');
    return `ribbon(r=${this.r}${some('seed', this.seed)}${some('starts', this.layers.map((l) => l.starts).join('-'))}` +
      `${some('tail', this.tail)}${some('tail_seed', this.tailSeed)},w=${this.w}${some('wide', this.wide)})`;
  }
}

/** Returns the number of starts, from the first one on, that belong to keys with one more bit. */
function wideStarts({ wider, width, starts }: Layer): number {
  if (wider <= width / 64) return 0;
  const slots = (wider - width / 64) * 64, segment = segmentStarts + width;
  return min(floor(slots / segment) * segmentStarts + min(slots % segment, segmentStarts), starts);
}

/** The number of starts of a layer for n keys: it has no slots for 62 or 38 of 1024 keys. */
export function startsFor(w: number, n: number): number {
  const overload = w === 128 && n >= 2048 ? 38 : 62;
  const slots = floor((n - floor(n / 1024) * overload - floor(((n % 1024) * overload) / 1024)) / 64) * 64;
  const segments = ceil(slots / segmentStarts), starts = slots - 64 * segments;
  return kindOf(starts, w) < 2 ? starts : max(slots - 128 * segments, 2048);
}

/** The expected rate of a filter of n keys. */
function expected(w: number, n: number, r: number, wide: number): number {
  const g = new Geometry(w, r, wide, 0);
  let left = n, share = 0, reach = 1;
  while (left > mostTail && g.layers.length < mostLayers) {
    const l = g.add(startsFor(w, left)), slots = 64 * l.blocks, kind = kindOf(l.starts, w);
    const next = left - slots + floor(slots / (kind ? (kind > 1 ? 8192 : 2048) : 90)), bumped = next / left;
    share += (reach * (1 - bumped) * wideStarts(l)) / l.starts;
    reach *= bumped;
    left = next;
  }
  if (wide) share += reach;
  return (1 - share / 2) * 2 ** -r;
}

/** Returns the geometry, without layers, that is expected to keep a rate for n keys. It throws RangeError. */
export function forRate(n: number, rate: number): Geometry {
  const w = rate > 1 / 16 ? 128 : 64, make = (r: number, wide: number) => new Geometry(w, r, wide, 0);
  let r = 1;
  while (2 ** -(r + 1) >= rate) r++;
  if (2 ** -r <= rate && r <= mostBits) return make(r, 0);
  if (r >= mostBits) throw noSuchRate(rate, 'the lowest rate of ribbon is 2.3e-10');
  if (n <= mostTail) return make(r + 1, 0);
  // A 1024th more than the expected share makes up for chance.
  let wide = min(floor(2 * (1 - rate * 2 ** r) * unit) + 1, unit);
  while (wide < unit && expected(w, n, r, wide) > rate) wide++;
  return ++wide >= unit ? make(r + 1, 0) : make(r, wide);
}

/** Returns the rate of a filter with these classes of buckets. */
function rateOf(g: Geometry, classes: Uint8Array): number {
  if (!g.layers.length && !g.tail) return 0;
  let rate = 0, reach = 1;
  for (const l of g.layers) {
    const end = wideStarts(l);
    let narrow = 0, wide = 0;
    for (let b = 0; b * l.bucket < l.starts; b++) {
      const from = b * l.bucket + l.thresholds[classes[l.firstBucket + b]], to = min((b + 1) * l.bucket, l.starts);
      wide += min(max(min(to, end), from) - from, max(to, from) - from);
      narrow += max(to, from, end) - max(from, end);
    }
    rate += (reach * 2 ** -g.r * (narrow + wide / 2)) / l.starts;
    reach *= (l.starts - narrow - wide) / l.starts;
  }
  return rate + reach * 2 ** -g.tailColumns;
}

/**
 * Returns undefined if a built filter keeps a rate, or the geometry, without layers, that would if the layers and the
 * classes of buckets stayed as they are.
 */
export function correct(g: Geometry, classes: Uint8Array, rate: number): Geometry | undefined {
  if (rateOf(g, classes) <= rate) return;
  const have = g.r * unit + g.wide + 1, make = (bits: number) => new Geometry(g.w, floor(bits / unit), bits % unit, 0);
  const more = search(2 * unit, (i) => {
    const other = make(have + i);
    other.tail = g.tail;
    for (const l of g.layers) other.add(l.starts);
    return rateOf(other, classes) <= rate;
  });
  return make(min(have + more, mostBits * unit));
}
