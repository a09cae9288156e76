// Changes files as damage does, or as an attacker who mends the checksums.

import { readdirSync, readFileSync } from 'node:fs';
import { internal } from './internal.mjs';

const { crc32c } = internal;
const folder = new URL('../../internal/container/testdata/', import.meta.url);

/** The secret of the golden files. */
export const secret = Uint8Array.of(1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

/** Golden files by name. */
export const golden = Object.fromEntries(readdirSync(folder).filter((f) => f.endsWith('.bloom'))
  .map((name) => [name, new Uint8Array(readFileSync(new URL(name, folder)))]));

/** Computes the checksums of a file anew, as far as its sections lie in it. */
export function mend(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.length), n = Math.min(file[14], 8);
  for (let i = 0, at = 64; i < n && at + 24 <= file.length; i++, at += 24) {
    const from = Number(view.getBigUint64(at, true)), size = Number(view.getBigUint64(at + 8, true));
    if (from + size <= file.length) view.setUint32(at + 16, crc32c(file.subarray(from, from + size)), true);
  }
  const end = 64 + 24 * n + view.getUint32(56, true);
  if (end <= file.length) view.setUint32(60, crc32c(file.subarray(64, end), crc32c(file.subarray(0, 60))), true);
  return file;
}

/** Returns a copy of a file, changed and mended. */
export function forge(file, change) {
  const copy = file.slice();
  change(new DataView(copy.buffer), copy);
  return mend(copy);
}
