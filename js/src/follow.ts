// Entry bloomery/follow: keeps a filter or a set current with a publisher, by deltas where they are smaller.

import { append, apply } from './apply.js';
import type { ExactSet } from './exact.js';
import type { Filter } from './filter.js';
import { type Followed, type Follower, type Open, polling, type PollOptions, start } from './follower.js';
import type { Key } from './key.js';
import { callback, check, want } from './options.js';
import type { ShardedFilter, ShardLoader } from './sharded.js';

export { type Followed, type Follower, type FollowStore, type PollOptions, type Published, StoreError, type Update }
  from './follower.js';
export { type OlderRelease, type Release, ReleaseError, type ReleaseObject, type ReleaseReason, type Trust }
  from './release.js';

/** How a publisher of a filter is followed. */
export interface FollowOptions extends PollOptions {
  /** Opens a filter file: `open` of an entry of this package, or a function that calls it with options. */
  open: (file: Uint8Array) => Promise<Filter>;
}

/** How a publisher of a sharded set is followed. */
export interface FollowShardedOptions extends PollOptions {
  /** Opens a sharded set: `openSharded` of an entry of this package, or a function that calls it with options. */
  open: (manifest: Uint8Array, load: ShardLoader) => Promise<ShardedFilter>;
}

/** How a publisher of an exact set is followed. */
export interface FollowExactOptions extends PollOptions {
  /** Opens an exact set: `openExact` of bloomery/exact, or a function that calls it with options. */
  open: (file: Uint8Array) => Promise<ExactSet>;
}

/** Follows a publisher of an exact set. */
export interface ExactFollower extends Follower<ExactSet> {
  /** `hasIn` of the current set. */
  hasIn(partition: string | Uint8Array, key: Key): boolean;
}

/** Follows a publisher of a sharded set. */
export interface ShardedFollower extends Followed<ShardedFilter> {
  /** `lookup` of the current set. */
  lookup(key: Key): Promise<boolean>;
}

/**
 * Loads the filter of a publisher, a folder or its release.json, and polls for new releases until `close`. The promise
 * is fulfilled with the filter of the store, or else as soon as a release is loaded. Until then errors that may pass
 * are given to onError, and it tries again after 1 s, 2 s, 4 s, ..., up to 10 intervals, until `signal` is aborted.
 * It rejects with errors that do not pass: of arguments, of the release (signature, format, name, an older one), of a
 * file that `open` refuses or that is larger than maxBytes, and of release.json if the server answers with a status
 * from 400 to 499, except 408, 416, 425 and 429. An exact set and a sharded set are a TypeError.
 *
 * In a browser it also polls when the connection comes back, and when the page is shown again and the last poll failed
 * or is an interval ago: timers run late in the background.
 *
 * Memory: that of the filters held and loaded, and during an update 3 times the bytes that arrived.
 */
export async function follow(url: string | URL, options: FollowOptions): Promise<Follower> {
  const own = check(options, polling), { open } = own;
  want('open', open, callback[1](open), 'open of bloomery, or a function that calls it');
  return start(url, own, { file: (file) => open(file) }, apply);
}

/**
 * As `follow`, for a publisher of a sharded set. Shards are loaded when they are first needed. Those that a new release
 * has, too, are kept. It rejects with TypeError for other kinds.
 */
export async function followSharded(url: string | URL, options: FollowShardedOptions): Promise<ShardedFollower> {
  const own = check(options, polling), { open } = own;
  want('open', open, callback[1](open), 'openSharded of bloomery, or a function that calls it');
  return start(url, own, { set: ofShards(open) });
}

/**
 * As `follow`, for a publisher of an exact set, of which it loads what updates have appended. It rejects with TypeError
 * for a filter.
 */
export async function followExact(url: string | URL, options: FollowExactOptions): Promise<ExactFollower> {
  const own = check(options, polling), { open } = own;
  want('open', open, callback[1](open), 'openExact of bloomery/exact, or a function that calls it');
  return start(url, own, { exact: (file) => open(file) }, append);
}

/** Opens the manifests of a sharded set, one after the other. Shards that the next one has, too, stay in memory. */
function ofShards(openSharded: FollowShardedOptions['open']): Open {
  /** The shards that are loaded, by SHA-256. */
  const shards = new Map<string, Uint8Array>();
  return async (content, load) => {
    const sums = new Map<string, string>();
    const set = await openSharded(content, async (file, bytes) => {
      const sha256 = sums.get(file)!, shard = shards.get(sha256) ?? await load({ sha256, bytes });
      shards.set(sha256, shard);
      return shard;
    });
    for (const { file, sha256 } of JSON.parse(new TextDecoder().decode(content)).shards) sums.set(file, sha256);
    const current = new Set(sums.values());
    for (const shard of shards.keys()) if (!current.has(shard)) shards.delete(shard);
    return set;
  };
}
