// The file of a built filter. See docs/format.md.

import { crc32c } from '../crc32c.js';
import { littleEndian } from '../sections.js';
import type { Built } from './maker.js';

const align = (n: number) => Math.ceil(n / 64) * 64;

/** What the header says besides the filter. */
export interface About {
  readonly family: number;
  readonly hash: number;
  /** Hash 1: the seed. Hash 2: the key check. */
  readonly seed: bigint;
  readonly rate: number;
}

/** Returns the bytes of a file. */
export function write({ keys, spec, sections }: Built, { family, hash, seed, rate }: About): Uint8Array {
  const specAt = 64 + 24 * sections.length, end = specAt + spec.length;
  let length = align(end);
  const places = sections.map((s) => {
    const at = align(length);
    length = at + 4 * s.length;
    return at;
  });
  const file = new Uint8Array(length), view = new DataView(file.buffer);
  const u16 = (at: number, v: number) => view.setUint16(at, v, true);
  const u32 = (at: number, v: number) => view.setUint32(at, v, true);
  const u64 = (at: number, v: number | bigint) => view.setBigUint64(at, BigInt(v), true);
  [...'\x89BLMRY\r\n'].forEach((c, i) => (file[i] = c.charCodeAt(0)));
  [1, family, hash, sections.length].forEach((v, i) => u16(8 + 2 * i, v));
  [seed, 0, keys, length].forEach((v, i) => u64(16 + 8 * i, v));
  view.setFloat64(48, rate, true);
  u32(56, spec.length);
  sections.forEach((s, i) => {
    const at = places[i], n = 4 * s.length;
    if (littleEndian) new Uint32Array(file.buffer, at, s.length).set(s);
    else s.forEach((w, j) => u32(at + 4 * j, w));
    u64(64 + 24 * i, at);
    u64(72 + 24 * i, n);
    u32(80 + 24 * i, crc32c(file.subarray(at, at + n)));
  });
  for (let i = 0; i < spec.length; i++) file[specAt + i] = spec.charCodeAt(i);
  u32(60, crc32c(file.subarray(64, end), crc32c(file.subarray(0, 60))));
  return file;
}
