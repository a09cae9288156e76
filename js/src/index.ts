// Entry bloomery: opens filters of all families. WebAssembly answers queries where the page's policy allows it.

import { families, hashes } from './families.js';
import { fetchFile, fetching, type FetchOptions as PlainFetchOptions, fetchSet } from './fetch.js';
import {
  checked, type FileSource, type Filter, openBytes, type OpenOptions as PlainOptions, plainEngine,
} from './filter.js';
import { type ShardedFilter, type ShardLoader, openShards } from './sharded.js';
import { wasmEngine } from './wasm/engine.js';

export * from './errors.js';
export { type FileSource, Filter, type FilterInfo } from './filter.js';
export type { Key } from './key.js';
export { ShardedFilter, type ShardedInfo, type ShardLoader } from './sharded.js';

interface WasmOption {
  /**
   * False: JavaScript answers queries, and the filter takes no memory besides the file. Default: WebAssembly does, in
   * memory of its own. JavaScript still does for filters of Guava, bits-and-blooms, RedisBloom, Spark and
   * DCSO, for the shards of a set, for filters of 4 GiB and more, and where WebAssembly or its memory is missing or
   * the page's Content-Security-Policy forbids it. Info says which.
   */
  wasm?: boolean;
}

/** How a file is opened. */
export interface OpenOptions extends PlainOptions, WasmOption {}
/** How a file is fetched and opened. */
export interface FetchOptions extends PlainFetchOptions, WasmOption {}

const withEngine = async <Options extends OpenOptions>(options: Options, more?: typeof fetching) => {
  const own = checked(options, more), engine = own.wasm === false ? plainEngine : await wasmEngine();
  return Object.assign(own, { families, hashes, engine });
};

const plainly = <Options extends PlainOptions>(options: Options, more?: typeof fetching) =>
  Object.assign(checked(options, more), { families, hashes, engine: plainEngine });

/**
 * Opens a filter file: its bytes, or a Blob or Response with them. With WebAssembly its sections are copied. Otherwise
 * they are not if the bytes are aligned to 4 bytes: do not change them while the filter is in use. It rejects with
 * FormatError, whose subclass says why.
 */
export async function open(file: FileSource, options: OpenOptions = {}): Promise<Filter> {
  return openBytes(file, await withEngine(options));
}

/** Fetches and opens a filter file. See FetchOptions. It rejects with FormatError or FetchError. */
export async function fetchFilter(url: string | URL, options: FetchOptions = {}): Promise<Filter> {
  return fetchFile(url, await withEngine(options, fetching));
}

/**
 * Opens a sharded set by the URL of its folder, with a slash at the end, or of its manifest. Shards are fetched when
 * they are first needed. It rejects with FormatError or FetchError.
 */
export async function fetchSharded(url: string | URL, options: PlainFetchOptions = {}): Promise<ShardedFilter> {
  return fetchSet(url, plainly(options, fetching));
}

/**
 * Opens a sharded set from the content of its manifest.json. load returns the bytes of a file beside it; they must not
 * change while the set is in use. It rejects with ManifestError.
 */
export async function openSharded(
  manifest: string | Uint8Array, load: ShardLoader, options: PlainOptions = {},
): Promise<ShardedFilter> {
  return openShards(manifest, load, plainly(options));
}
