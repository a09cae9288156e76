// How a follower polls, verifies releases, and replaces what it holds: the same for filters and for sets.

import type { Apply } from './apply.js';
import { CorruptError, FetchError, TooLargeError } from './errors.js';
import type { ExactSet } from './exact.js';
import type { Filter } from './filter.js';
import type { Key } from './key.js';
import {
  digest, maxRelease, type OlderRelease, parseHistory, parseRelease, publicKey, type Release,
  ReleaseError, type ReleaseObject, type Trust,
} from './release.js';
import type { ShardedFilter } from './sharded.js';
import { load, type Since, type TransportOptions } from './transport.js';

/** Where a follower keeps what it holds, so that the next one resumes from there: for example files, or IndexedDB. */
export interface FollowStore {
  /** Returns what was put under the name, or undefined. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Replaces what is under the name, all or nothing: it rejects if it cannot. */
  put(name: string, bytes: Uint8Array): Promise<void>;
}

/** What a publisher can have. */
export type Published = Filter | ShardedFilter | ExactSet;

/** Whom a follower trusts, and how it loads and polls. */
export interface PollOptions extends Trust, TransportOptions {
  /** The time between two polls in milliseconds. Default: a minute. After errors it doubles, up to 10 times. */
  interval?: number;
  /** Ends the follower, as `close` does. */
  signal?: AbortSignal;
  /** The largest length of a file, manifest or shard in bytes. Default: 2^30. */
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
  /** Why a delta was not used; undefined if there was none, or if it was. */
  readonly failure: unknown;
}

/** Follows a publisher. An error never changes the filter: the last good one stays. "Filter" stands for sets, too. */
export interface Follower<F extends Published = Published> {
  /** The current filter. A new release replaces it; a filter itself never changes. */
  readonly filter: F;
  /** The file of the filter, or the manifest of a sharded set: do not change it. */
  readonly bytes: Uint8Array;
  /** The release of the filter. */
  readonly release: Release;
  /** Why the last poll failed, or that the release has expired; undefined if neither. */
  readonly error: unknown;
  /** The bytes that were loaded since the start, without headers. */
  readonly loaded: number;
  /** `has` of the current filter. For a sharded set it returns a promise. */
  has(key: Key): ReturnType<F['has']>;
  /**
   * Asks for a new release now. It returns whether the filter was replaced, and rejects with the error of the poll,
   * which is that of expiry if the filter is current, but old.
   */
  poll(): Promise<boolean>;
  /** Ends the polls. The filter remains usable, but a set loads no more shards. */
  close(): void;
}

/** Opens what is published, a file or a manifest, given what loads and verifies the objects of shards. */
export type Open = (content: Uint8Array, load: (object: ReleaseObject) => Promise<Uint8Array>) => Promise<Published>;

/** Starts a follower of the kinds of releases that have an opener. Others are an error. */
export async function start(
  url: string | URL, options: PollOptions, openers: Partial<Record<Release['kind'], Open>>, apply: Apply,
): Promise<Follower> {
  const { interval = 60_000, maxBytes = 2 ** 30, signal, store, keys, insecure, onUpdate, onError } = options;
  const folder = new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href);
  folder.pathname = folder.pathname.replace(/\/?(release\.json)?$/, '/');
  keys?.forEach(publicKey);
  if (!keys?.length === !insecure) throw new TypeError('want keys or insecure: true');

  const end = new AbortController();
  let filter: Published | undefined, release: Release | undefined, bytes = new Uint8Array(0) as Uint8Array;
  /** The SHA-256 of the bytes. */
  let sum = '';
  /** What asks whether release.json has changed. */
  let since: Since = {};
  let error: unknown, loaded = 0, failures = 0, polling: Promise<boolean> | undefined, timer: Timer | undefined;

  const get = (path: string, most: number, since?: Since): Promise<Uint8Array> => {
    const at = new URL(path, folder);
    at.search = folder.search;
    return load(at, most, !since, options, end.signal, (n) => (loaded += n), since);
  };

  /** Loads and verifies an object. */
  const object = async ({ sha256: sum, bytes: length }: ReleaseObject): Promise<Uint8Array> => {
    if (length > maxBytes) throw new TooLargeError(`more than ${maxBytes} bytes`);
    const content = await get(`objects/${sum}`, length);
    if ((await digest(content)) !== sum) throw new CorruptError(`object ${sum} is damaged`);
    return content;
  };

  const openerOf = (kind: Release['kind']): Open => {
    const open = openers[kind];
    if (open) return open;
    throw new TypeError(`no function opens kind ${kind}: use follow, openSharded or followExact`);
  };

  /** Returns the delta from the file that is held, if there is one. */
  const deltaOf = async ({ previous, history }: Release): Promise<ReleaseObject | undefined> => {
    const isHeld = (old?: OlderRelease) => old?.sha256 === sum;
    const older = isHeld(previous) ? previous : history && parseHistory(await object(history)).find(isHeld);
    return older?.delta;
  };

  /** Loads and verifies the filter of another release. It returns why there is no delta, if there should be one. */
  const replacement = async (next: Release) => {
    let failure: unknown;
    try {
      const delta = filter && next.kind !== 'set' && next.bytes <= maxBytes && await deltaOf(next);
      if (delta && delta.bytes < next.bytes) {
        const content = apply(bytes, await object(delta), next.bytes, sum);
        if ((await digest(content)) !== next.sha256) throw new CorruptError('the delta is damaged');
        return { content, delta: true, failure };
      }
    } catch (e) {
      end.signal.throwIfAborted();
      failure = e;
    }
    return { content: await object(next), delta: false, failure };
  };

  /** Loads release.json, and the filter if it is another one. */
  const update = async (): Promise<boolean> => {
    const before = loaded, headers = { ...since };
    let news: Uint8Array, done: Update | undefined;
    try {
      news = await get('release.json', maxRelease, headers);
    } catch (e) {
      if (e instanceof FetchError && e.status === 304 && sum) return false;
      throw e;
    }
    const next = await parseRelease(news, options), newer = next.release - (release?.release ?? 0);
    if (release && release.name !== next.name) {
      throw new ReleaseError('name', `its name is ${next.name}, not ${release.name}`);
    }
    if (newer < 0 || (!newer && next.sha256 !== release!.sha256)) {
      throw new ReleaseError('older', `release ${next.release} is older than ${release!.release}`);
    }
    const open = openerOf(next.kind);
    let content = bytes, now = filter;
    if (next.sha256 !== sum) {
      const { content: other, ...how } = await replacement(next);
      now = await open((content = other), object);
      done = { release: next, ...how, loaded: loaded - before };
    }
    end.signal.throwIfAborted();
    // The store first, and there the release first, so that its number never decreases.
    if (store && (done || next.expires !== release!.expires)) {
      await store.put('release.json', news);
      await store.put('filter', content);
    }
    [filter, bytes, sum, release] = [now, content, next.sha256, next];
    since = headers;
    if (done) onUpdate?.(done);
    return !!done;
  };

  const failed = (e: unknown): void => {
    error = e;
    onError?.(e);
  };

  const attempt = async (): Promise<boolean> => {
    try {
      const replaced = await update(), { expires } = release!;
      failures = -1; // expiry is no reason to poll less often
      if (Date.parse(expires) < Date.now()) {
        throw new ReleaseError('expired', `the release expired at ${expires}`);
      }
      failures = 0;
      error = undefined;
      return replaced;
    } catch (e) {
      end.signal.throwIfAborted();
      failures++;
      failed(e);
      throw e;
    }
  };

  const poll = (): Promise<boolean> => (polling ??= attempt().finally(() => {
    polling = undefined;
    clearTimeout(timer);
    if (end.signal.aborted) return;
    const wait = interval * Math.min(2 ** failures, 10) * (1 - Math.random() / 10);
    timer = setTimeout(() => poll().catch(() => {}), Math.min(wait, 2e9));
  }));

  const close = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', close);
    end.abort(signal?.reason);
  };
  signal?.addEventListener('abort', close);
  if (signal?.aborted) close();

  // Continues with what the store has. The release was verified before it was put there.
  try {
    const old = await store?.get('release.json'), content = await store?.get('filter');
    if (old) release = await parseRelease(old, { insecure: true });
    if (release && content) {
      filter = await openerOf(release.kind)(content, object);
      bytes = content;
      sum = await digest(content);
    }
  } catch (e) {
    failed(e);
  }
  const first = poll().catch((e) => {
    if (filter) return;
    close();
    throw e;
  });
  if (!filter) await first;
  return {
    get filter() { return filter; },
    get bytes() { return bytes; },
    get release() { return release; },
    get error() { return error; },
    get loaded() { return loaded; },
    has: (key: Key) => filter!.has(key),
    hasIn: (partition: string | Uint8Array, key: Key) => (filter as ExactSet).hasIn(partition, key),
    poll,
    close,
  } as Follower;
}

type Timer = ReturnType<typeof setTimeout>;
