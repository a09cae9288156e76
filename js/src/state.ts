// What a follower remembers: the newest releases that it has seen, and in its store one record of them and the filter.
//
// The number of a release must not decrease: else a mirror could serve an old one. But a thief of a key can sign the
// largest number that there is. So a number counts for the keys that signed it, and the next release must reach the
// numbers of the keys that are pinned now. A reader who unpins the stolen key is free of what only that key has signed.

import { CorruptError } from './errors.js';
import { isObject, type Release, ReleaseError } from './release.js';

/** The newest release that a key has verified. */
export type Newest = Pick<Release, 'release' | 'sha256'>;

/** The newest release by the id of the key that has verified it. */
export type Seen = Record<string, Newest>;

/** Throws ReleaseError unless a release may follow those that the pinned keys have verified. */
export function mayFollow(seen: Seen, pinned: readonly string[], { release: n, sha256 }: Newest): void {
  const all = pinned.flatMap((id) => seen[id] ?? []), most = Math.max(...all.map(({ release }) => release));
  if (n < most) {
    throw new ReleaseError('older', `the server has an older release, ${n}: release ${most} was seen before`);
  }
  if (all.some((old) => old.release === n && old.sha256 !== sha256)) {
    throw new ReleaseError('older', `release ${n} was seen before with other content: two have this number`);
  }
}

/** Remembers a release that keys have verified. */
export function remember(seen: Seen, ids: readonly string[], { release, sha256 }: Newest): void {
  for (const id of ids) if (!(seen[id]?.release > release)) seen[id] = { release, sha256 };
}

/** What a store has. */
export interface Kept {
  /** The name of the releases. */
  name: string;
  seen: Seen;
  /** The text of release.json. */
  news: string;
  /** The file, or the manifest of a set. */
  content: Uint8Array;
}

const format = 'bloomery-follower';

/** Returns the record of a store: JSON in one line, which is filled up with spaces, and the content, aligned. */
export function encode({ name, seen, news, content }: Kept): Uint8Array {
  const line = new TextEncoder().encode(JSON.stringify({ format, version: 1, name, seen, news }));
  const at = Math.ceil((line.length + 1) / 64) * 64, record = new Uint8Array(at + content.length).fill(32, 0, at);
  record.set(line);
  record[at - 1] = 10;
  record.set(content, at);
  return record;
}

/** Returns what a record has. It throws CorruptError. */
export function decode(record: Uint8Array): Kept {
  const end = record.indexOf(10), line = new TextDecoder().decode(record.subarray(0, Math.max(end, 0)));
  try {
    if (!line.startsWith(`{"format":"${format}",`)) throw new Error('it begins like something else');
    const { version, name, seen, news } = JSON.parse(line);
    if (version !== 1) throw new Error(`version ${version}`);
    const isNewest = (v: unknown) => isObject(v) && Number.isSafeInteger(v.release) && typeof v.sha256 === 'string';
    if (typeof name !== 'string' || typeof news !== 'string' || !isObject(seen) ||
      !Object.values(seen).every(isNewest)) throw new Error('a member is missing');
    return { name, seen: seen as Seen, news, content: record.subarray(end + 1) };
  } catch (e) {
    throw new CorruptError(`the record of a follower is damaged: ${(e as Error).message}`);
  }
}
