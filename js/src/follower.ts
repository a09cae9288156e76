// How a follower polls, verifies releases, and replaces what it holds: the same for filters and for sets.

import type { Apply } from './apply.js';
import { CorruptError, FetchError, TooLargeError } from './errors.js';
import type { ExactSet } from './exact.js';
import { instead, loading } from './fetch.js';
import type { Filter } from './filter.js';
import type { Key } from './key.js';
import { absolute, any, callback, flag, milliseconds, positive, type Rule, texts, want } from './options.js';
import {
  digest, keyId, maxRelease, type OlderRelease, parseHistory, parseRelease, type Release, ReleaseError,
  type ReleaseObject, type Trust, unchecked,
} from './release.js';
import { mayRecover, reasonOf } from './response.js';
import type { ShardedFilter } from './sharded.js';
import { decode, encode, mayFollow, remember, type Seen } from './state.js';
import { load, type Part, type Since, type TransportOptions } from './transport.js';
import { onWake } from './wake.js';
import { longest, type Timer, watch, within } from './watch.js';

/**
 * Where a follower keeps what it holds, so that the next one resumes from there: indexedDBStore or cacheStore in a
 * browser, files elsewhere. It must be for this follower alone. It has 1.5 s to answer: then the follower goes on
 * without it, ignores what it reads late, and does not ask again until it has answered.
 */
export interface FollowStore {
  /** Returns what was put under the name, or undefined. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Replaces the bytes under the name completely, or rejects and leaves them unchanged. */
  put(name: string, bytes: Uint8Array): Promise<void>;
}

/** A store that failed, or whose content cannot be used, for the reason in `cause`. The follower goes on without it. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** What a publisher can have. */
export type Published = Filter | ShardedFilter | ExactSet;

/** Whom a follower trusts, and how it loads and polls. */
export interface PollOptions extends Trust, TransportOptions {
  /**
   * The time between two polls in milliseconds. Default: a minute. After errors it doubles, up to 10 times. A page also
   * polls when it is online again, and when it is shown again and the last poll failed or is an interval ago, for
   * these reasons at most every 5 s.
   */
  interval?: number;
  /** Ends the follower, as `close` does. */
  signal?: AbortSignal;
  /** The largest length of a file, manifest or shard in bytes. Default: 2^30. */
  maxBytes?: number;
  /** Refuses releases of another name. Default: the name of the first release that was accepted. */
  name?: string;
  store?: FollowStore;
  /**
   * Called after a filter from the server was loaded or replaced the current one: for the first one before `follow`
   * returns. It is not called for a filter from the store. What it throws goes to onError and changes nothing.
   */
  onUpdate?: (update: Update) => void;
  /** Called after a poll or a store that failed, and when a release has expired. */
  onError?: (error: unknown) => void;
}

/** What onUpdate gets: the first load of the filter, or its replacement. */
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
export interface Followed<F extends Published> {
  /** The current filter. A new release replaces it; a filter itself never changes. */
  readonly filter: F;
  /** The file of the filter, or the manifest of a sharded set: do not change it. */
  readonly bytes: Uint8Array;
  /** The release of the filter. */
  readonly release: Release;
  /** Why the last poll failed, or else the store, or that the release has expired, with the failure as its `cause`. */
  readonly error: unknown;
  /** The bytes that were loaded since the start, without headers. */
  readonly loaded: number;
  /**
   * Asks for a new release now. It returns whether the filter was replaced, and rejects with the error of the poll,
   * which is that of expiry if the filter is current, but old.
   */
  poll(): Promise<boolean>;
  /** Ends the polls. The filter remains usable, but a set loads no more shards. */
  close(): void;
}

/** Follows a publisher of a filter or of an exact set. */
export interface Follower<F extends Filter | ExactSet = Filter> extends Followed<F> {
  /** `has` of the current filter. */
  has(key: Key): boolean;
}

/** Opens what is published, a file or a manifest, given what loads and verifies the objects of shards. */
export type Open = (content: Uint8Array, load: (object: ReleaseObject) => Promise<Uint8Array>) => Promise<Published>;

/** Loads and verifies an object. */
type Get = (object: ReleaseObject) => Promise<Uint8Array>;

const isStore: Rule = ['an object with get and put', (v) =>
  typeof v?.get === 'function' && typeof v.put === 'function'];
/** The options of followers. Openers of each kind check open. */
export const polling = {
  open: any, keys: texts, insecure: flag, ...loading, interval: milliseconds, minRate: positive, store: isStore,
  name: ['the name of a release', (v) => v && typeof v === 'string'], onUpdate: callback, onError: callback,
} satisfies Record<string, Rule>;

/** How long a store may take to answer in milliseconds. */
const patience = 1500;

/** The least time between two polls because the page woke, in milliseconds, unless the interval is less. */
const wakeGap = 5000;

/** The functions that follow the kinds of releases. */
const followerOf = { file: 'follow', exact: 'followExact', set: 'followSharded' };

/** Starts a follower, with options that are checked, of the kinds of releases that have an opener. Others are an error. It needs apply for deltas. */
export async function start<F extends Followed<Published>>(
  url: string | URL, options: PollOptions, openers: Partial<Record<Release['kind'], Open>>, apply?: Apply,
): Promise<F> {
  const {
    interval = 60_000, maxBytes = 2 ** 30, timeout = 30_000, minRate = 65_536, signal, store, keys = [],
    insecure = false, onUpdate, onError,
  } = options;
  const wanted = 'the public keys of the publisher or insecure: true';
  want('keys', options.keys, keys.length || insecure, wanted);
  want('insecure', insecure, !keys.length || !insecure, 'false beside keys');
  const folder = absolute(url), pinned = insecure ? [unchecked] : await Promise.all(keys.map(keyId));
  folder.pathname = folder.pathname.replace(/\/?(release\.json)?$/, '/');

  const end = new AbortController();
  let filter: Published | undefined, release: Release | undefined, bytes = new Uint8Array(0) as Uint8Array;
  /** The SHA-256 of the bytes. */
  let sum = '';
  /** The text of release.json, and the one that is stored. */
  let news = '', stored = '';
  let { name } = options, seen: Seen = {}, restored = !store;
  /** The number of the stored release, if it is higher than that of the filter: the record must stay. */
  let kept = 0;
  /** What asks whether release.json has changed. */
  let since: Since = {};
  /** What a poll that failed has loaded of an object. */
  let begun: Part & { sha256?: string } | undefined;
  /** The errors of the last poll and of the store. */
  let error: unknown, fault: unknown;
  let loaded = 0, failures = 0, polling: Promise<boolean> | undefined;
  /** Whether the error of the poll will not pass by itself. */
  let lasting = false;
  let timer: Timer | undefined, expiry: Timer | undefined;
  /** When the last poll began whose reason was that the page woke, and whether another one waits. */
  let wokenAt = 0, woken = false;
  /** Ends the calls of wake. */
  let asleep: (() => void) | undefined;
  let ready!: () => void, dead!: (reason: unknown) => void;
  const first = new Promise<void>((resolve, reject) => ([ready, dead] = [resolve, reject]));
  first.catch(() => {});

  /** Calls onError. What it throws is an unhandled rejection, not an error of the poll. */
  const tell = (e: unknown): void => {
    try {
      onError?.(e);
    } catch (own) {
      void Promise.reject(own);
    }
  };

  const isExpired = () => !!release && Date.parse(release.expires) <= Date.now();
  const expired = (cause?: unknown) => {
    const what = `the release expired at ${release!.expires}: its publisher or a mirror stopped`;
    const e = new ReleaseError('expired', what);
    if (cause) e.cause = cause;
    return e;
  };

  const failed = (e: unknown): void => {
    const is = e instanceof ReleaseError && e.reason === 'expired';
    tell((error = isExpired() && !is ? expired(e) : e));
  };

  /** The call of the store that has no answer yet. */
  let asked: Promise<unknown> | undefined;

  /**
   * Asks the store, and waits up to a limit of time. A call that is late goes on. There must be no other one until it
   * ends: the older of two records could be written last.
   */
  const ask = <T>(call: () => Promise<T>): Promise<T> => {
    const most = Math.min(timeout, patience);
    const { signal, set, free } = watch(end.signal, () => new Error(`no answer for ${most} ms`));
    const answer = (async () => call())(), done = () => (asked = undefined);
    (asked = answer).then(done, done);
    set(most);
    return within(signal, answer).finally(free);
  };

  /** Reports an error of the store, which is not one of the poll. */
  const unstored = (what: string, cause: unknown): void => {
    if (!end.signal.aborted) tell((fault = new StoreError(`${what}: ${reasonOf(cause)}`, { cause })));
  };

  /** Stores what is held, unless it is there. The next poll repeats what fails. */
  const save = async (): Promise<void> => {
    if (!store || !restored || asked || stored === news || release!.release < kept) return;
    const text = news;
    try {
      await ask(async () => {
        await store.put('filter', encode({ name: name!, seen, news, content: bytes }));
        stored = text; // also if it is late
        fault = undefined;
      });
    } catch (e) {
      unstored('the filter cannot be stored', e);
    }
  };

  /** Notices the expiry of the release, also during a poll that hangs. */
  const watchExpiry = (): void => {
    clearTimeout(expiry);
    if (isExpired() || end.signal.aborted) return;
    expiry = setTimeout(() => {
      if (isExpired()) failed(expired(error));
      else watchExpiry();
    }, Math.min(Date.parse(release!.expires) - Date.now() + 1, longest));
  };

  /**
   * Runs work with functions that load release.json and objects. It ends work that takes longer than 2 * timeout +
   * bytes / minRate.
   */
  const limited = async <T>(work: (get: Get, getNews: (since: Since) => ReturnType<typeof load>) => Promise<T>) => {
    let most = 2 * timeout;
    const began = performance.now(), { signal: over, set, free } = watch(end.signal, () => {
      const what = `not loaded within ${Math.round(most / 1000)} s, which is less than ${minRate} bytes per second`;
      return new FetchError(folder.href, 0, what);
    });
    const get = (path: string, length: number, since?: Since, part?: Part) => {
      const at = new URL(path, folder);
      at.search = folder.search;
      most += (1000 * length) / minRate;
      set(began + most - performance.now());
      return load(at, length, !since, options, over, (n) => (loaded += n), since, part);
    };
    const object: Get = async ({ sha256, bytes: length }) => {
      if (length > maxBytes) throw new TooLargeError(`${length} bytes are more than maxBytes, ${maxBytes}`);
      const part = begun?.sha256 === sha256 ? begun : { sha256, chunks: [], have: 0 };
      begun = undefined; // two loads must not share it
      try {
        const [content] = await get(`objects/${sha256}`, length, undefined, part);
        if ((await digest(content)) !== sha256) throw new CorruptError(`object ${sha256} is damaged`);
        return content;
      } catch (e) {
        if (e instanceof FetchError && part.have) begun = part;
        throw e;
      }
    };
    return work(object, (since) => get('release.json', maxRelease, since)).finally(free);
  };

  const openerOf = (kind: Release['kind']): ((content: Uint8Array) => Promise<Published>) => {
    const open = openers[kind];
    if (open) return (content) => open(content, (object) => limited((get) => get(object)));
    throw new TypeError(`a release of kind ${kind}: use ${followerOf[kind]}`);
  };

  /** Returns the delta from the file that is held, if there is one. */
  const deltaOf = async ({ previous, history }: Release, get: Get): Promise<ReleaseObject | undefined> => {
    const isHeld = (old?: OlderRelease) => old?.sha256 === sum;
    const older = isHeld(previous) ? previous : history && parseHistory(await get(history)).find(isHeld);
    return older?.delta;
  };

  /** Loads and verifies the filter of another release. It returns why there is no delta, if there should be one. */
  const replacement = async (next: Release, get: Get) => {
    let failure: unknown;
    try {
      const delta = apply && filter && await deltaOf(next, get);
      if (delta && delta.bytes < next.bytes) {
        const content = apply!(bytes, await get(delta), next.bytes, sum);
        if ((await digest(content)) !== next.sha256) throw new CorruptError('the delta is damaged');
        return { content, delta: true, failure };
      }
    } catch (e) {
      end.signal.throwIfAborted();
      failure = e;
    }
    return { content: await get(next), delta: false, failure };
  };

  /** Loads release.json, and the filter if it is another one. */
  const update = async (get: Get, getNews: (since: Since) => ReturnType<typeof load>): Promise<Update | undefined> => {
    const before = loaded, headers = { ...since };
    let text: Uint8Array, type: string, done: Update | undefined;
    try {
      [text, type] = await getNews(headers);
    } catch (e) {
      const status = e instanceof FetchError ? e.status : 0;
      if (status === 304 && sum) return undefined;
      lasting = status >= 400 && !mayRecover(status);
      throw e;
    }
    lasting = true;
    const { signers, ...next } = await parseRelease(text, { keys, insecure }).catch((e) => {
      if (e instanceof ReleaseError && e.reason === 'format') {
        e.message = `${folder.href}: ${e.message}${instead(type, text)}`;
      }
      throw e;
    });
    if (name && name !== next.name) throw new ReleaseError('name', `its name is ${next.name}, not ${name}`);
    mayFollow(seen, pinned, next);
    const open = openerOf(next.kind);
    if (next.bytes > maxBytes) throw new TooLargeError(`${next.bytes} bytes are more than maxBytes, ${maxBytes}`);
    let content = bytes, now = filter;
    if (next.sha256 !== sum) {
      lasting = false;
      const { content: other, ...how } = await replacement(next, get);
      lasting = true;
      now = await open((content = other));
      done = { release: next, ...how, loaded: loaded - before };
    }
    end.signal.throwIfAborted();
    [filter, bytes, sum, release, name, since] = [now, content, next.sha256, next, next.name, headers];
    news = decoder.decode(text);
    remember(seen, signers, next);
    return done;
  };

  /** Continues with what the store has, if a key that is pinned now has signed it. */
  const restore = async (): Promise<void> => {
    if (asked) return;
    let record: Uint8Array | undefined;
    try {
      record = await ask(() => store!.get('filter'));
    } catch (e) {
      return unstored('the store cannot be read', e);
    }
    restored = true;
    since = {}; // what it has may refuse what the server has
    try {
      if (!record) return;
      const { name: its, seen: newest, news: text, content } = decode(record);
      if (name && name !== its) throw new Error(`it has ${its}, not ${name}`);
      name = its;
      for (const [id, release] of Object.entries(newest)) remember(seen, [id], release);
      const { signers, ...was } = await parseRelease(encoder.encode(text), { keys, insecure });
      remember(seen, signers, was);
      if (filter && was.release <= release!.release) return;
      const sha256 = await digest(content);
      if (sha256 !== was.sha256) throw new CorruptError(`its file is not that of release ${was.release}`);
      if (filter) return void (kept = was.release); // the server had an older one while the store was silent
      [filter, bytes, sum, release] = [await openerOf(was.kind)(content), content, sha256, was];
      news = stored = text;
    } catch (e) {
      unstored('what the store has is not used', e);
    }
  };

  /** Polls once. Errors of the store and of onUpdate are not errors of the poll. */
  const attempt = async (): Promise<boolean> => {
    let done: Update | undefined, failure: unknown;
    lasting = false;
    try {
      end.signal.throwIfAborted();
      if (!restored && ended) await restore(); // not in the first poll: start has just tried
      done = await limited(update);
    } catch (e) {
      end.signal.throwIfAborted();
      failure = e ?? new Error('unknown');
    }
    const saving = save();
    try {
      if (done) onUpdate?.(done);
    } catch (own) {
      if (onError) tell(own);
      else void Promise.reject(own);
    }
    await saving;
    if (filter) {
      ready();
      watchExpiry();
    }
    failures = failure ? failures + 1 : 0;
    if (!failure) {
      error = fault;
      if (!isExpired()) return !!done;
      failure = expired(fault); // no reason to poll less often
    }
    failed(failure);
    if (!filter && lasting) {
      dead(failure);
      close();
    }
    throw error;
  };

  /** When the last poll ended. */
  let ended = 0;
  const poll = (): Promise<boolean> => (polling ??= attempt().finally(() => {
    polling = undefined;
    ended = Date.now();
    if (woken) return wake();
    // Without a filter the first polls follow soon.
    schedule(Math.min((filter ? interval : Math.min(interval, 1000)) * 2 ** failures, 10 * interval));
  }));

  /** Polls after a time, which is up to a tenth shorter so that followers do not poll at once. */
  const schedule = (wait: number): void => {
    clearTimeout(timer);
    if (end.signal.aborted) return;
    timer = setTimeout(() => {
      if (woken) wokenAt = Date.now();
      woken = false;
      poll().catch(() => {});
    }, Math.min(wait * (1 - Math.random() / 10), longest));
  };

  /** Polls soon. A poll that runs may have begun before the page woke: another one follows. */
  const wake = (): void => {
    woken = true;
    if (!polling) schedule(Math.max(0, Math.min(wokenAt - Date.now(), 0) + Math.min(interval, wakeGap)));
  };

  const close = (): void => {
    clearTimeout(timer);
    clearTimeout(expiry);
    asleep?.();
    signal?.removeEventListener('abort', close);
    end.abort(signal?.reason);
    dead(end.signal.reason);
  };
  signal?.addEventListener('abort', close);
  if (signal?.aborted) close();

  if (store) await restore();
  if (filter) watchExpiry();
  if (isExpired()) failed(expired());
  else error = fault;
  poll().catch(() => {});
  if (!end.signal.aborted) asleep = onWake(wake, () => failures > 0 || Date.now() - ended >= interval);
  if (!filter) await first;
  return {
    get filter() { return filter; },
    get bytes() { return bytes; },
    get release() { return release; },
    get error() { return error; },
    get loaded() { return loaded; },
    has: (key: Key) => (filter as Filter).has(key),
    lookup: (key: Key) => (filter as ShardedFilter).lookup(key),
    hasIn: (partition: string | Uint8Array, key: Key) => (filter as ExactSet).hasIn(partition, key),
    poll,
    close,
  } as Followed<Published> as F;
}

const encoder = /* @__PURE__ */ new TextEncoder();
/** Keeps all bytes of valid UTF-8. */
const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true });
