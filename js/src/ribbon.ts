// The queries of a bumped ribbon: a system of linear equations over bits, one for each bit of a key's fingerprint and
// value, whose solution is stored. Families and exact sets share them. See docs/format/ribbon.md.

import { field } from './bits.js';
import type { Hash } from './types.js';
import { fold, mulLow, position, product, rotate } from './wide.js';

const { ceil, floor, min } = Math;
const golden = 0x9e3779b97f4a7c15n;

/** The parameters of a ribbon, as docs/format/ribbon.md has them. */
export interface Shape {
  r: number;
  values: number;
  /** 64 or 128. */
  w: number;
  wide: number;
  seed: number;
  /** The start positions of each layer: multiples of 64. */
  starts: number[];
  /** The slots of the tail: 0 to 256. */
  tail: number;
  tailSeed: number;
}

/** The sizes and the queries of a ribbon. */
export interface Ribbon {
  /** How many bits its three sections hold. Zeros fill the last word of each. */
  bits: number[];
  /** Returns the query of three sections, which the caller has checked against bits. */
  open(sections: Uint32Array[]): Find;
  layers: Layer[];
}

/** A layer, with names of docs/format/ribbon.md. */
interface Layer {
  /** T. */
  starts: number;
  /** The lower and the upper word of M(j). */
  low: number;
  high: number;
  /** w'. */
  width: number;
  /** The row of the table of shapes. */
  kind: number;
  /** How many blocks are wide. */
  wider: number;
  /** The first word of 32 bits of the solution, and the first bucket. */
  first: number;
  firstBucket: number;
  /** Coefficients are rotated by 11·j modulo 64. */
  turn: number;
}

/** Returns -1 if a key is absent, else its value, or 0 unless that is asked for. */
export type Find = (h: Hash, value?: boolean) => number;

/** Of each kind of layer: the starts of a bucket, and the thresholds of its classes. */
export const kinds: readonly (readonly number[])[] =
  /* @__PURE__ */ [[32, 0, 6, 13, 32], [128, 0, 17, 38, 128], [256, 0, 20, 51, 256], [512, 0, 41, 102, 512]];

/** Returns the kind of a layer with the given number of starts in a filter of width w. */
export const kindOf = (starts: number, w: number) => (starts < 2048 ? 0 : w < 128 ? 1 : starts < 49_152 ? 2 : 3);

/** The lower and the upper word of v. */
export const halves = (v: bigint): number[] => [v, v >> 32n].map((w) => Number(BigInt.asIntN(32, w)));

/** The factor of layer j, M of docs/format/ribbon.md: its lower and its upper word. */
export function factor(j: number): number[] {
  const mix = (z: bigint, by: bigint, shift: bigint) => {
    z = BigInt.asUintN(64, z * by);
    return z ^ (z >> shift);
  };
  return halves(mix(mix(mix(BigInt(j), golden, 30n), 0xbf58476d1ce4e5b9n, 27n), 0x94d049bb133111ebn, 31n) | 1n);
}

/** What the four words of coefficients in the tail are salted with. */
export const tailSalts = (seed: number) => [1, 2, 3, 4].map((k) => halves(BigInt(4 * seed + k) * golden));

/** 1 if an odd number of bits of v is set, else 0. */
export function parity(v: number): number {
  v ^= v >>> 16;
  v ^= v >>> 8;
  return (0x6996 >>> ((v ^ (v >>> 4)) & 15)) & 1;
}

/** Returns the ribbon of a shape. */
export function ribbonOf(shape: Shape): Ribbon {
  const { r, values, wide, tail } = shape, columns = values + r;
  let word = 0, buckets = 0;
  const layers = shape.starts.map((starts, i) => {
    const j = i + 16 * shape.seed, kind = kindOf(starts, shape.w);
    const width = kind > 1 ? 128 : 64;
    const blocks = starts / 64 + (width / 64) * ceil(starts / 2 ** 18), wider = ceil((blocks * wide) / 1024);
    const turn = (11 * j) & 63, [low, high] = factor(j), first = word, firstBucket = buckets;
    word += 2 * (blocks * columns + wider);
    buckets += ceil(starts / kinds[kind][0]);
    return { starts, low, high, width, kind, wider, first, firstBucket, turn };
  });
  const tailColumns = columns + +(wide > 0);
  const salts = tailSalts(shape.tailSeed);

  return {
    bits: [32 * word, 2 * buckets, tailColumns * tail],
    layers,
    open: ([words, classes, tails]) => (h, value) => {
      const hl = h[2], hh = h[3], xl = hl ^ (values ? 0 : h[0]), xh = hh ^ h[1];
      // The layer of the key, or undefined: the tail.
      let layer, slot = 0, top = tailColumns, parts = ceil(tail / 32) || 1;
      for (let i = 0; i < layers.length; i++) {
        const l = layers[i], { width } = l, kind = kinds[l.kind], bucket = kind[0];
        mulLow(hl, hh, l.low, l.high);
        const start = position(product[0], product[1], l.starts), b = l.firstBucket + floor(start / bucket);
        if ((start & (bucket - 1)) >= kind[1 + ((classes[b >>> 4] >>> (2 * (b & 15))) & 3)]) {
          layer = l;
          slot = start + width * floor(start / 2 ** 18);
          parts = width / 64;
          top = columns + +(floor(slot / 64) + parts < l.wider);
          break;
        }
      }
      fold(xl, xh, 0xe7770cbf, 0x50a89a3b);
      let print = product[0], v = 0;
      for (let part = 0; part < parts; part++) {
        // The coefficients of a part, m0 to m2, and the words of the first column that they belong to, from w0 to w2.
        let m0 = 0, m1 = 0, m2 = 0, w0 = 0, w1 = 0, w2 = 0;
        if (layer) {
          const { first, turn, wider } = layer, swap = turn >> 5, s = slot & 31, odd = (slot >>> 5) & 1;
          const block = floor(slot / 64) + part;
          fold(xl, xh, part ? 0x2545ae33 : 0x5460b8e9, part ? 0x04666d53 : 0x71bf41d6);
          rotate(product, 0, turn & 31);
          const l = product[swap] | (1 - part), u = product[1 - swap];
          m0 = l << s;
          m1 = (u << s) | ((l >>> 1) >>> (31 - s));
          m2 = (u >>> 1) >>> (31 - s);
          w0 = first + 2 * (block * columns + min(block, wider)) + odd;
          w2 = first + 2 * ((block + 1) * columns + min(block + 1, wider)) + odd;
          w1 = odd ? w2 - 1 : w0 + 1;
        } else {
          const [sl, sh] = salts[part >>> 1];
          fold(xl ^ sl, xh ^ sh, 0x3010cd85, 0x7ea8b443);
          fold(product[0] ^ hl, product[1] ^ hh, 0x2cbdf5c9, 0x80b5ac43);
          m0 = product[part & 1];
        }
        for (let k = top - 1, end = value ? 0 : values; k >= end; k--) {
          const bit = parity(layer ? (words[w0 + 2 * k] & m0) ^ (words[w1 + 2 * k] & m1) ^ (words[w2 + 2 * k] & m2)
            : m0 & field(tails, 0, k * tail + 32 * part, min(32, tail - 32 * part)));
          if (k < values) v ^= bit << k;
          else {
            print ^= bit << (k - values);
            if (part === parts - 1 && (print >>> (k - values)) & 1) return -1;
          }
        }
      }
      return v >>> 0;
    },
  };
}
