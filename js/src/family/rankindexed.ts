// Rank-indexed hashing: a hash table of remainders with chains but without pointers. See docs/format/rankindexed.md.

import { field, ones, wideField } from '../bits.js';
import { CorruptError, TooLargeError } from '../errors.js';
import { checkSections, checkZeros } from '../sections.js';
import type { Family, Hash } from '../types.js';
import { mulHigh, position32 } from '../wide.js';

const { ceil, floor, imul, min } = Math;
const required = 'buckets cells chains remainder', optional = 'cells2 cells3 counting growth pool2 pool3 value_bits';

/** Family 7. CoreSetup: bloomery_rankindexed; sections: the buckets and the extensions, also of a trimmed file. */
export const rankindexed: Family = {
  name: 'rankindexed',
  id: 7,
  open({ header, spec, sections }) {
    spec.want(`${required} capacity`, `${optional} trimmed`);
    const names = `${required} ${optional}`.split(' ').sort(), numbers = names.map((name) => spec.uint(name));
    const [buckets, cells, cells2, cells3, chains, counting, growth, pool2, pool3, low, values] = numbers;
    const capacity = spec.uint64('capacity'), payload = counting ? 2 : values, width = growth + low + payload;

    // By level: 0 are the buckets, 1 and 2 their extensions. Positions are in bits from the first word of each.
    const pools = [buckets, pool2, pool3], rooms = [cells, cells2, cells3];
    const pointers = [pool2, pool3, 0].map((pool) => pool && pool.toString(2).length + growth);
    const index = [0, pointers[1], 0], indexBits = [chains + cells, cells2, cells3];
    const first = rooms.map((_, i) => indexBits[i] + pointers[i]); // of the cells
    const strides = rooms.map((room, i) => 2 * ceil((first[i] + room * width) / 64)); // words of 32 bits
    const sizes = pools.map((pool, i) => pool * strides[i]);
    // Other limits of the format are above what sections of 2^32 words hold: the sizes differ.
    if (
      names.some((name, i) => spec.has(name) && !numbers[i]) ||
      rooms.some((room, i) => room > 2 ** 13 || !room !== !pools[i]) || pool3 > pool2 || chains > 2 ** 14 ||
      counting > 1 || (counting && values) || values > 32 || growth > 24 || growth + low > 48 || width > 63 ||
      (growth && (capacity < 1 || capacity > 2 ** (50 - growth)))
    ) throw spec.bad();
    const bad = () => new CorruptError('the table contradicts itself');

    let words = sections;
    // The bucket that queries read: its first word in each level, as far as known.
    const base = [0, 0, 0];
    let known = 1;

    /** Selects a bucket. */
    const enter = (bucket: number): void => {
      base[0] = bucket * strides[0];
      known = 1;
    };
    /** The pointer to the next level: the number of an extension + 1, or 0. Not exact above 2^53. */
    const next = (): number => {
      const i = known - 1;
      return pointers[i] && wideField(words[i], base[i], i ? 0 : indexBits[0], pointers[i]);
    };
    /** Follows the pointer to the next level. It returns false if there is none. */
    const more = (): boolean => {
      const to = next();
      if (to) base[known] = (to - 1) * strides[known++];
      return to > 0;
    };
    /** Bit at of the index, which counts through the levels. Bits behind the end are 0. */
    const bit = (at: number): number => {
      for (let i = 0; i < known || more(); at -= indexBits[i++]) {
        if (at < indexBits[i]) return (words[i][base[i] + ((index[i] + at) >>> 5)] >>> ((index[i] + at) & 31)) & 1;
      }
      return 0;
    };
    /** The number of set bits of the index before bit at. */
    const rank = (at: number): number => {
      let sum = 0;
      for (let i = 0; at > 0 && (i < known || more()); at -= indexBits[i++]) {
        sum += ones(words[i], base[i], index[i], min(at, indexBits[i]));
      }
      return sum;
    };
    /** Returns a field of cell c: its first bit is from, its length bits. The bucket must have the cell. */
    const part = (c: number, from: number, bits: number): number => {
      let i = 0;
      for (; c >= rooms[i]; c -= rooms[i++]) if (i + 1 === known) more();
      return wideField(words[i], base[i], first[i] + c * width + from, bits);
    };
    const remainderOf = (c: number): number => part(c, payload, width - payload);

    /** Fills the table from the first end bits of a trimmed file. It does not check what buckets hold. */
    const untrim = (stream: Uint32Array, end: number): void => {
      let at = 0;
      const free = [0, 0, 0]; // the number of the last extension of each level, + 1
      /** Returns the position of the next n bits. */
      const take = (n: number): number => {
        if (n > end - at) throw bad();
        at += n;
        return at - n;
      };
      const streamBit = (i: number): number => (stream[floor(i / 32)] >>> (i & 31)) & 1;
      /** Sets n bits, 1 to 32, which are 0, from bit to of the bucket in a level on. */
      const put = (i: number, to: number, v: number, n: number): void => {
        words[i][base[i] + (to >>> 5)] |= v << (to & 31);
        words[i][base[i] + ((to + n - 1) >>> 5)] |= (v >>> 1) >>> (~to & 31); // 0 if that is the same word
      };
      /** Copies n bits of the stream from bit from on. */
      const copy = (i: number, to: number, from: number, n: number): void => {
        for (const end = from + n; from < end; from += 32, to += 32) {
          const some = min(end - from, 32);
          put(i, to, field(stream, floor(from / 32), from & 31, some), some);
        }
      };
      for (let b = 0; b < buckets; b++) {
        enter(b);
        let from = take(chains), used = 0;
        for (let c = 0; c < chains; c++) used += streamBit(from + c);
        for (let c = 0; c < used; c++) used += streamBit(take(1));
        let cell = take(used * width), left = used + chains;
        for (let i = 0; ; i++) {
          const some = min(used, rooms[i]), bits = min(left, indexBits[i]);
          copy(i, index[i], from, bits);
          copy(i, first[i], cell, some * width);
          from += bits;
          cell += some * width;
          left -= bits;
          used -= some;
          if (!used) break;
          if (free[i] >= (pools[i + 1] ?? 0)) throw bad();
          put(i, i ? 0 : indexBits[0], ++free[i], min(pointers[i], 32));
          more();
        }
      }
      if (at !== end) throw bad();
    };

    /** Checks the selected bucket, whose levels are known, and returns the number of its keys. */
    const checkBucket = (): number => {
      const used = rank(Infinity);
      let keys = used, left = used;
      for (let i = 0; i < known; i++) {
        const some = min(left, rooms[i]), end = first[i] + some * width;
        if ((i && !some) || ones(words[i], base[i], end, 32 * strides[i] - end)) throw bad(); // not needed, not free
        left -= some;
      }
      // Each set bit must have its cell, each cell must be in a chain, and chains must be in order.
      let to = rank(chains);
      if (left || rank(chains + used) !== used) throw bad();
      for (let c = 0; c < to; c++) if (bit(chains + c) && remainderOf(to++) < remainderOf(c)) throw bad();
      if (to !== used) throw bad();
      for (let c = 0; counting && c < used; c++) keys += part(c, 0, 2);
      return keys;
    };

    if (spec.has('trimmed')) {
      const end = buckets * chains + spec.uint('trimmed') * (1 + width);
      const size = ceil(end / 64), total = sizes[0] + sizes[1] + sizes[2];
      checkSections({ spec, sections }, size);
      checkZeros(sections[0], end);
      if (total > min(128 * size + 2 ** 18, 2 ** 32)) throw new TooLargeError('a table above 64 times its file');
      try {
        words = sizes.map((n) => new Uint32Array(n));
      } catch {
        throw new TooLargeError('memory');
      }
      untrim(sections[0], end);
    } else {
      checkSections({ spec, sections }, ...sizes.map((n) => n / 2));
    }
    // No two buckets have the same extension, those of none are 0. An extension has eight bytes, a mark one.
    const taken = pools.map((pool, i) => new Uint8Array(i && pool));
    let keys = 0;
    for (let b = 0; b < buckets; b++) {
      enter(b);
      for (let to; (to = next()); more()) if (to > pools[known] || taken[known][to - 1]++) throw bad();
      keys += checkBucket();
    }
    taken.forEach((own, i) => own.forEach((mark, e) => {
      if (!mark && ones(words[i], e * strides[i], 0, 32 * strides[i])) throw bad();
    }));
    if (BigInt(keys) !== header.keys) throw bad();

    /** The first cell with a key's remainder, or -1; with all, the number of additions that all such cells hold. */
    const find = (h: Hash, all?: boolean): number => {
      enter(position32(h[2], h[3], buckets));
      // The upper words of the lower halves of Hi·buckets and Lo·chains begin the remainder.
      const top = growth && (mulHigh(h[2], buckets) + imul(h[3], buckets)) >>> (32 - growth);
      const rest = mulHigh(h[0], chains) + imul(h[1], chains);
      const remainder =
        top * 2 ** low +
        (low > 32 ? (rest >>> 0) * 2 ** (low - 32) + (imul(h[0], chains) >>> (64 - low)) : rest >>> (32 - low));
      let n = 0;
      for (let at = position32(h[0], h[1], chains); bit(at); ) {
        const c = rank(at), r = remainderOf(c);
        if (r > remainder) break;
        if (r === remainder) {
          if (!all) return c;
          n += counting ? 1 + part(c, 0, 2) : 1;
        }
        at = chains + c;
      }
      return all ? n : -1;
    };
    return {
      has: (h) => find(h) >= 0,
      count: (h) => find(h, true),
      ...(values && {
        get(h: Hash) {
          const c = find(h);
          return c < 0 ? undefined : BigInt(part(c, 0, values));
        },
      }),
      core: {
        numbers: [
          ...pools.map(BigInt), ...strides.map((n) => 4 * n), ...rooms, ...pointers, chains, low, growth, payload,
          width, counting,
        ],
        sections: words,
      },
    };
  },
};
