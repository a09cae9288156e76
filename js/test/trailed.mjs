// Trailers of exact sets.

import { internal } from './internal.mjs';

/** Returns records with a trailer of these fields, by default the right ones, and its checksum. */
export function trailed(records, { updates, length = records.length + 20, magic = 0x454c4289 }) {
  const out = new Uint8Array(records.length + 20), view = new DataView(out.buffer), at = records.length;
  out.set(records);
  view.setUint32(at, magic, true);
  view.setBigUint64(at + 4, BigInt(length), true);
  view.setUint32(at + 12, updates, true);
  view.setUint32(at + 16, internal.crc32c(out.subarray(at - 4, at + 16)), true);
  return out;
}
