// The table of family rankindexed: buckets with an index of bits and cells, and extensions that continue both. See
// docs/format/rankindexed.md.

import { ones, wideField } from '../bits.js';

/** Where the parts of a bucket (level 0) or of an extension are. Positions are in bits from its first word. */
export interface Level {
  words: Uint32Array;
  /** Words of 32 bits of a bucket or extension. */
  readonly stride: number;
  /** First bit and bits of the pointer to the next level; 0 bits without that. */
  readonly pointer: number;
  readonly pointerBits: number;
  /** First bit and bits of the part of the index. */
  readonly index: number;
  readonly indexBits: number;
  /** First bit and number of the cells. */
  readonly cells: number;
  readonly room: number;
}

/** One bucket of a table at a time: enter selects it. Bits of the index and cells count through its levels. */
export class Table {
  readonly levels: readonly Level[];
  readonly chains: number;
  /** Bits of a cell, and those below its remainder. */
  readonly width: number;
  readonly payload: number;
  /** The first word of the bucket in each level, as far as they are known. */
  readonly base = [0, 0, 0];
  /** The number of levels that are known. */
  known = 1;

  constructor(levels: readonly Level[], chains: number, width: number, payload: number) {
    this.levels = levels;
    this.chains = chains;
    this.width = width;
    this.payload = payload;
  }

  /** Selects a bucket. */
  enter(bucket: number): void {
    this.base[0] = bucket * this.levels[0].stride;
    this.known = 1;
  }

  /** The pointer to the next level: the number of an extension + 1, or 0. Not exact above 2^53. */
  next(): number {
    const i = this.known - 1, { words, pointer, pointerBits } = this.levels[i];
    return pointerBits && wideField(words, this.base[i], pointer, pointerBits);
  }

  /** Follows the pointer to the next level. It returns false if there is none. */
  more(): boolean {
    const to = this.next();
    if (to) {
      this.base[this.known] = (to - 1) * this.levels[this.known].stride;
      this.known++;
    }
    return to > 0;
  }

  /** Bit at of the index. Bits behind the end are 0. */
  bit(at: number): number {
    for (let i = 0; i < this.known || this.more(); i++) {
      const { words, index, indexBits } = this.levels[i], from = index + at;
      if (at < indexBits) return (words[this.base[i] + (from >>> 5)] >>> (from & 31)) & 1;
      at -= indexBits;
    }
    return 0;
  }

  /** The number of set bits of the index before bit at. */
  rank(at: number): number {
    let sum = 0;
    for (let i = 0; at > 0 && (i < this.known || this.more()); i++) {
      const { words, index, indexBits } = this.levels[i];
      sum += ones(words, this.base[i], index, at < indexBits ? at : indexBits);
      at -= indexBits;
    }
    return sum;
  }

  /** The remainder of cell c. The bucket must have that cell. */
  remainder(c: number): number {
    return this.part(c, this.payload, this.width - this.payload);
  }

  /** The counter or value of cell c, 0 without either. */
  content(c: number): number {
    return this.payload && this.part(c, 0, this.payload);
  }

  /** Bits [from, from + bits) of cell c. */
  part(c: number, from: number, bits: number): number {
    let i = 0;
    for (; c >= this.levels[i].room; i++) {
      c -= this.levels[i].room;
      if (i + 1 === this.known) this.more();
    }
    const { words, cells } = this.levels[i];
    return wideField(words, this.base[i], cells + c * this.width + from, bits);
  }
}
