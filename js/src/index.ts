// Entry bloomery: opens filters of all families. WebAssembly answers queries where the page's policy allows it.

import { families, hashes } from './families.js';
import { fetchAny, type FetchOptions as PlainFetchOptions, type FilterAt } from './fetch.js';
import {
  checked, type FileSource, type Filter, openBytes, type OpenOptions as PlainOptions, plainEngine,
} from './filter.js';
import { type ShardedFilter, type ShardLoader, openShards } from './sharded.js';
import { wasmEngine } from './wasm/engine.js';

export * from './errors.js';
export { type FileSource, Filter, type FilterInfo } from './filter.js';
export type { FilterAt } from './fetch.js';
export type { Key } from './key.js';
export { ShardedFilter, type ShardedInfo, type ShardLoader } from './sharded.js';

interface WasmOption {
  /**
   * False: JavaScript answers queries, and the filter takes no memory besides the file. Default: WebAssembly does, in
   * memory of its own. JavaScript still does for filters of Guava, bits-and-blooms, RedisBloom and Spark, for the
   * shards of a set, for filters of 4 GiB and more, and where WebAssembly or its memory is missing or the page's
   * Content-Security-Policy forbids it. Info says which.
   */
  wasm?: boolean;
}

/** How a file is opened. */
export interface OpenOptions extends PlainOptions, WasmOption {}
/** How a file is fetched and opened. */
export interface FetchOptions extends PlainFetchOptions, WasmOption {}

const withEngine = async <Options extends OpenOptions>(options: Options) => ({
  ...checked(options),
  families,
  hashes,
  engine: options.wasm === false ? plainEngine : await wasmEngine(),
});

/**
 * Opens a filter file: its bytes, or a Blob or Response with them. With WebAssembly its sections are copied. Otherwise
 * they are not if the bytes are aligned to 4 bytes: do not change them while the filter is in use. It rejects with
 * FormatError, whose subclass says why.
 */
export async function open(file: FileSource, options: OpenOptions = {}): Promise<Filter> {
  return openBytes(file, await withEngine(options));
}

/** Fetches a filter file, or opens a sharded set. See FetchOptions. It rejects with FormatError or FetchError. */
export async function fetchFilter<At extends string | URL>(url: At, options: FetchOptions = {}): Promise<FilterAt<At>> {
  return (await fetchAny(url, options, await withEngine(options))) as FilterAt<At>;
}

/**
 * Opens a sharded set from the content of its manifest.json. load returns the bytes of a file beside it; they must not
 * change while the set is in use. It rejects with ManifestError.
 */
export async function openSharded(
  manifest: string | Uint8Array, load: ShardLoader, options: PlainOptions = {},
): Promise<ShardedFilter> {
  return openShards(manifest, load, { ...checked(options), families, hashes, engine: plainEngine });
}
