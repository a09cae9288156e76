// The Bloom filter of RedisBloom: a chain of filters, its links.

import { doubly } from '../double.js';
import { CorruptError } from '../errors.js';
import { murmur64aTwice } from '../hash/murmur64a.js';
import { checkSections, checkZeros } from '../sections.js';
import type { Family } from '../types.js';

/** Bytes of the header: of the chain, and of each link. */
const chainHeader = 20, linkHeader = 53;

/** ln 2 with as many digits as RedisBloom has. */
const ln2 = 0.693147180559945;

/** Family 22, in the plain form only. */
export const redisbloom: Family = {
  name: 'redisbloom',
  id: 22,
  foreign: [6, murmur64aTwice],
  open(file) {
    const { spec } = file;
    spec.want('links words');
    const count = spec.uint('links', 1, 2 ** 20), size = spec.uint('words', 1), end = chainHeader + linkHeader * count;
    checkSections(file, Math.ceil(end / 8), size);
    const [header, words] = file.sections;
    checkZeros(header, 8 * end);

    const view = new DataView(new ArrayBuffer(4 * header.length));
    header.forEach((w, i) => view.setUint32(4 * i, w, true));
    const u32 = (at: number) => view.getUint32(at, true);
    const u64 = (at: number) => view.getBigUint64(at, true), f64 = (at: number) => view.getFloat64(at, true);
    const links: ReturnType<typeof doubly>[] = [];
    let bad = u32(8) !== count || (u32(12) !== 5 && u32(12) !== 13), start = 0, keys = 0n;
    for (let at = chainHeader; at < end; at += linkHeader) {
      const bits = u64(at + 8), rate = f64(at + 24), k = u32(at + 40), m = Number(bits);
      bad ||=
        !bits || m % 64 > 0 || bits !== 8n * u64(at) || m > 64 * size - 32 * start || !(rate > 0 && rate < 1) ||
        k < 1 || k > 1075 || k !== Math.ceil(ln2 * f64(at + 32)) || !u64(at + 44) || view.getUint8(at + 52) > 0;
      if (bad) break;
      keys += u64(at + 16);
      links.push(doubly(words, start, m, k, 2 ** 32));
      start += m / 32;
    }
    if (bad || start !== words.length || keys > 1n << 62n || keys !== u64(0) || keys !== file.header.keys) {
      throw new CorruptError('the header of the chain contradicts itself');
    }
    links.reverse(); // the last link has most of the keys
    return {
      has(h) {
        for (const covers of links) if (covers(h[0], h[1], h[2], h[3])) return true;
        return false;
      },
    };
  },
};
