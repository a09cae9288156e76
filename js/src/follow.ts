// Entry bloomery/follow: keeps a filter current with a publisher, by deltas where they are smaller.

import { apply } from './apply.js';
import { CorruptError, FetchError, TooLargeError } from './errors.js';
import type { Filter } from './filter.js';
import type { Key } from './key.js';
import { maxManifest } from './manifest.js';
import {
  hashOf, maxHistory, maxRelease, type OlderRelease, parseHistory, parseRelease, publicKey, type Release,
  ReleaseError, type ReleaseObject, type Trust,
} from './release.js';
import type { ShardedFilter, ShardLoader } from './sharded.js';
import { type Since, Transport, type TransportOptions } from './transport.js';

export { type OlderRelease, type Release, ReleaseError, type ReleaseObject, type ReleaseReason, type Trust }
  from './release.js';

/** Where a follower keeps what it holds, so that the next one resumes from there: for example files, or IndexedDB. */
export interface FollowStore {
  /** Returns what was put under the name, or undefined. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Replaces what is under the name, all or nothing: it rejects if it cannot. */
  put(name: string, bytes: Uint8Array): Promise<void>;
}

/** How a publisher is followed. */
export interface FollowOptions extends Trust, TransportOptions {
  /** Opens a filter file: `open` of an entry of this package, or a function that calls it with options. */
  open: (file: Uint8Array) => Promise<Filter>;
  /** The same of sharded sets: `openSharded`. Without it they are an error. */
  openSharded?: (manifest: Uint8Array, load: ShardLoader) => Promise<ShardedFilter>;
  /** The time between two polls in milliseconds. Default: an hour. After errors it doubles, up to 10 times. */
  interval?: number;
  /** Ends the follower, as `close` does. */
  signal?: AbortSignal;
  /** The largest length of a filter, manifest or shard in bytes. Default: 2^30. */
  maxBytes?: number;
  store?: FollowStore;
  /** Called after the filter was replaced. */
  onUpdate?: (update: Update) => void;
  /** Called after a poll that failed, and when a release has expired. */
  onError?: (error: unknown) => void;
}

/** A change of the filter. */
export interface Update {
  readonly release: Release;
  /** True if a delta was applied. */
  readonly delta: boolean;
  /** The bytes that were loaded for it: of release.json, history, delta and whole file. */
  readonly loaded: number;
  /** Why the whole file was loaded, although there was a delta. */
  readonly failure?: unknown;
}

/** The kind of filters that a follower with these options has. */
type FilterOf<Options> = Options extends { openSharded: object } ? Filter | ShardedFilter : Filter;

/**
 * Loads the filter of a publisher, a folder or its release.json, and polls for new releases until `close`. The promise
 * is fulfilled with the filter of the store, or else after the first poll. It rejects with the error of that, or with
 * TypeError for a URL or key that is none. A sharded set loads its shards when they are first needed, and keeps those
 * that a new release has, too.
 *
 * Memory: that of the filters held and loaded, and during an update 3 times the bytes that arrived.
 */
export async function follow<Options extends FollowOptions>(
  url: string | URL, options: Options,
): Promise<Follower<FilterOf<Options>>> {
  const at = new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href);
  at.pathname = at.pathname.replace(/\/(release\.json)?$/, '') + '/';
  options.keys?.forEach(publicKey);
  if (!options.keys?.length === !options.insecure) throw new TypeError('want either keys or insecure: true');
  const follower = new Follower<FilterOf<Options>>(at, options);
  await follower.start();
  return follower;
}

/** Follows a publisher. An error never changes the filter: the last good one stays. */
export class Follower<F extends Filter | ShardedFilter = Filter | ShardedFilter> {
  /** Why the last poll failed, or that the release has expired; undefined if neither. */
  error: unknown;

  readonly #options: FollowOptions;
  readonly #end = new AbortController();
  readonly #transport: Transport;
  readonly #close = () => this.close();
  #filter: F | undefined;
  #bytes: Uint8Array = new Uint8Array(0);
  /** The SHA-256 of the bytes. */
  #sum = '';
  #release: Release | undefined;
  /** The release.json of that, and the headers that ask whether it has changed. */
  #text: Uint8Array | undefined;
  #since: Since = {};
  /** The shards of the set that are loaded, by SHA-256. */
  readonly #shards = new Map<string, Uint8Array>();
  #failures = 0;
  #polling: Promise<boolean> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @internal */
  constructor(url: URL, options: FollowOptions) {
    this.#options = options;
    this.#transport = new Transport(url, options, this.#end.signal);
    options.signal?.addEventListener('abort', this.#close);
    if (options.signal?.aborted) this.close();
  }

  /** @internal */
  async start(): Promise<void> {
    await this.#resume().catch((e: unknown) => this.#failed(e));
    const first = this.poll().catch((e: unknown) => {
      if (this.#filter) return;
      this.close();
      throw e;
    });
    if (!this.#filter) await first;
  }

  /** The current filter. A new release replaces it; a filter itself never changes. */
  get filter(): F {
    return this.#filter!;
  }

  /** The file of the filter, or the manifest of a set: do not change it. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** The release of the filter. */
  get release(): Release {
    return this.#release!;
  }

  /** The bytes that were loaded since the start, without headers. */
  get loaded(): number {
    return this.#transport.loaded;
  }

  /** Reports whether the key may be in the current filter. For a sharded set it returns a promise. */
  has(key: Key): ReturnType<F['has']> {
    return this.filter.has(key) as ReturnType<F['has']>;
  }

  /**
   * Asks for a new release now. It returns whether the filter was replaced, and rejects with the error of the poll,
   * which is that of expiry if the filter is current, but old.
   */
  poll(): Promise<boolean> {
    return (this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined;
      if (this.#end.signal.aborted) return;
      const { interval = 3_600_000 } = this.#options, factor = Math.min(2 ** this.#failures, 10);
      const wait = Math.min(interval * factor * (1 - Math.random() / 10), 2 ** 31 - 1);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.poll().catch(() => {}), wait);
    }));
  }

  /** Ends the polls. The filter remains usable, but a set loads no more shards. */
  close(): void {
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#close);
    this.#end.abort(this.#options.signal?.reason);
  }

  #failed(e: unknown): void {
    this.error = e;
    this.#options.onError?.(e);
  }

  async #poll(): Promise<boolean> {
    try {
      const replaced = await this.#update();
      this.#failures = 0;
      const { expires } = this.release;
      if (Date.parse(expires) < Date.now()) {
        throw new ReleaseError('expired', `the release expired at ${expires}: the publisher may have stopped`);
      }
      this.error = undefined;
      return replaced;
    } catch (e) {
      this.#end.signal.throwIfAborted();
      if (!(e instanceof ReleaseError && e.reason === 'expired')) this.#failures++;
      this.#failed(e);
      throw e;
    }
  }

  /** Loads release.json, and the filter if it is another one. */
  async #update(): Promise<boolean> {
    const before = this.loaded, held = this.#text, since: Since = {};
    let text: Uint8Array;
    try {
      text = await this.#transport.ask('release.json', maxRelease, this.#since, since);
    } catch (e) {
      if (held && e instanceof FetchError && e.status === 304) return false;
      throw e;
    }
    let update: Update | undefined;
    if (text.length !== held?.length || text.some((b, i) => b !== held[i])) {
      const release = await parseRelease(text, this.#options);
      const last = this.#release;
      if (last && last.name !== release.name) {
        throw new ReleaseError('name', `a release of ${release.name}, not of ${last.name}`);
      }
      const newer = last ? release.release - last.release : 1;
      if (newer < 0 || (!newer && release.sha256 !== last!.sha256)) {
        throw new ReleaseError('older', `release ${release.release} is not newer than ${last!.release}, which was seen`);
      }
      if (release.sha256 === this.#sum) await this.#keep(release, text);
      else update = await this.#replace(release, text, before);
    }
    this.#since = since;
    if (update) this.#options.onUpdate?.(update);
    return !!update;
  }

  /** Makes a release the current one, in the store first, so that its number never decreases. */
  async #keep(release: Release, text: Uint8Array, bytes?: Uint8Array): Promise<void> {
    const { store } = this.#options;
    await store?.put('release.json', text);
    if (bytes) await store?.put('filter', bytes);
    this.#release = release;
    this.#text = text;
  }

  /** Loads and verifies another filter, then replaces the current one. */
  async #replace(release: Release, text: Uint8Array, before: number): Promise<Update> {
    const { sha256: sum, bytes: length, kind } = release, { maxBytes = 2 ** 30 } = this.#options;
    const most = kind === 'set' ? Math.min(maxBytes, maxManifest) : maxBytes;
    if (length > most) throw new TooLargeError(`${length} bytes are more than the limit of ${most}`);
    let bytes: Uint8Array | undefined, failure: unknown;
    try {
      const delta = this.#filter && kind === 'file' ? await this.#delta(release) : undefined;
      if (delta && delta.bytes < length) {
        const patched = apply(this.#bytes, await this.#object(delta), length);
        if ((await hashOf(patched)) !== sum) throw new CorruptError('the delta leads to another file');
        bytes = patched;
      }
    } catch (e) {
      this.#end.signal.throwIfAborted();
      failure = e;
    }
    const delta = !!bytes;
    bytes ??= await this.#object(release);
    const { filter, shards } = await this.#open(kind, bytes);
    await this.#keep(release, text, bytes);
    this.#filter = filter;
    this.#bytes = bytes;
    this.#sum = sum;
    for (const shard of this.#shards.keys()) if (!shards.has(shard)) this.#shards.delete(shard);
    return { release, delta, loaded: this.loaded - before, ...(failure !== undefined && { failure }) };
  }

  /** Returns the delta from the file that is held, if there is one. */
  async #delta({ previous, history }: Release): Promise<ReleaseObject | undefined> {
    const from = (old?: OlderRelease) => old?.sha256 === this.#sum;
    if (from(previous) || !history) return from(previous) ? previous!.delta : undefined;
    return parseHistory(await this.#object(history, maxHistory)).find(from)?.delta;
  }

  /** Opens a file or a set, and returns the hashes of its shards. */
  async #open(kind: Release['kind'], bytes: Uint8Array): Promise<{ filter: F; shards: Set<string> }> {
    const { open, openSharded, maxBytes = 2 ** 30 } = this.#options, sums = new Map<string, string>();
    if (kind === 'file') return { filter: (await open(bytes)) as F, shards: new Set() };
    if (!openSharded) throw new TypeError('the release is a sharded set: give openSharded, too');
    const filter = await openSharded(bytes, async (file, length) => {
      const sum = sums.get(file)!;
      let shard = this.#shards.get(sum);
      if (!shard) {
        if (length > maxBytes) throw new TooLargeError(`${length} bytes are more than the limit of ${maxBytes}`);
        shard = await this.#object({ sha256: sum, bytes: length });
        this.#shards.set(sum, shard);
      }
      return shard;
    });
    for (const { file, sha256 } of JSON.parse(new TextDecoder().decode(bytes)).shards) sums.set(file, sha256);
    return { filter: filter as F, shards: new Set(sums.values()) };
  }

  /** Continues with what the store has. The release was verified before it was put there. */
  async #resume(): Promise<void> {
    const { store } = this.#options, text = await store?.get('release.json'), bytes = await store?.get('filter');
    if (!text || !bytes) return;
    const release = (this.#release = await parseRelease(text, { insecure: true })), sum = await hashOf(bytes);
    this.#filter = (await this.#open(release.kind, bytes)).filter;
    this.#bytes = bytes;
    this.#sum = sum;
    if (sum === release.sha256) this.#text = text;
  }

  /** Loads and verifies an object. */
  async #object({ sha256: sum, bytes: length }: ReleaseObject, most = length): Promise<Uint8Array> {
    const bytes = await this.#transport.load(`objects/${sum}`, most, length);
    if ((await hashOf(bytes)) !== sum) throw new CorruptError(`object ${sum}: its content is another`);
    return bytes;
  }
}
