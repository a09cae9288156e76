// Entry bloomery/plain: opens filters of all families, without WebAssembly.

import { families, hashes } from './families.js';
import { fetchFile, fetching, type FetchOptions, fetchSet } from './fetch.js';
import {
  checked, type FileSource, type Filter, openBytes, type OpenOptions, plainEngine as engine,
} from './filter.js';
import { type ShardedFilter, type ShardLoader, openShards } from './sharded.js';

export * from './errors.js';
export type { FetchOptions } from './fetch.js';
export { type FileSource, Filter, type FilterInfo, type OpenOptions } from './filter.js';
export type { Key } from './key.js';
export { ShardedFilter, type ShardedInfo, type ShardLoader } from './sharded.js';

const opener = <Options extends OpenOptions>(options: Options, more?: typeof fetching) =>
  Object.assign(checked(options, more), { families, hashes, engine });

/**
 * Opens a filter file: its bytes, or a Blob or Response with them. The sections are not copied if the bytes are aligned
 * to 4 bytes: do not change them while the filter is in use. It rejects with FormatError, whose subclass says why.
 */
export async function open(file: FileSource, options: OpenOptions = {}): Promise<Filter> {
  return openBytes(file, opener(options));
}

/** Fetches and opens a filter file. See FetchOptions. It rejects with FormatError or FetchError. */
export async function fetchFilter(url: string | URL, options: FetchOptions = {}): Promise<Filter> {
  return fetchFile(url, opener(options, fetching));
}

/**
 * Opens a sharded set by the URL of its folder, with a slash at the end, or of its manifest. Shards are fetched when
 * they are first needed. It rejects with FormatError or FetchError.
 */
export async function fetchSharded(url: string | URL, options: FetchOptions = {}): Promise<ShardedFilter> {
  return fetchSet(url, opener(options, fetching));
}

/**
 * Opens a sharded set from the content of its manifest.json. load returns the bytes of a file beside it; they must not
 * change while the set is in use. It rejects with ManifestError.
 */
export async function openSharded(
  manifest: string | Uint8Array, load: ShardLoader, options: OpenOptions = {},
): Promise<ShardedFilter> {
  return openShards(manifest, load, opener(options));
}
