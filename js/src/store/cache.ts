// Entry bloomery/store/cache: a store of followers in the caches of the browser (Cache API), for pages and workers.

import type { FollowStore } from '../follower.js';
import { answered, named } from './named.js';

/** The cache of all followers of an origin. */
const cacheName = 'bloomery';

/**
 * The URL of records. No page can ask for it, so that a service worker that answers from all caches never serves a
 * record.
 */
const base = 'https://bloomery.invalid/';

/** A record in the cache: its URL is BASE/NAME/FILE?NUMBER-LENGTH-RANDOM. */
interface Entry {
  request: Request;
  number: number;
  length: number;
}

/**
 * Returns a store in the cache `bloomery` of the page's origin. Each follower needs a name of its own. The pages and
 * workers of an origin may share a name if they follow the same publisher: the last record that is put stays.
 *
 * A put writes a record beside the old one, which it deletes when all bytes of the new one are written: a browser that
 * is closed in the middle has one of them. Both methods reject with the browser's error, which the follower reports as
 * a StoreError: QuotaExceededError if the origin has no more space, SecurityError where settings forbid it. Without the
 * Cache API, as in Node and on pages without HTTPS, they reject, too, and if it takes more than 60 s to open
 * or to list its records.
 *
 * A record takes the length of the filter and about 1 kB, and during a put twice that. It throws TypeError for a name
 * that is none.
 */
export function cacheStore(name: string): FollowStore {
  const path = named(name), url = (file: string) => base + path(file);
  return {
    async get(file) {
      const cache = await open();
      for (const { request, length } of await entries(cache, url(file))) {
        const content = await (await cache.match(request))?.arrayBuffer();
        if (content?.byteLength === length) return new Uint8Array(content);
      }
      return undefined;
    },
    async put(file, bytes) {
      const cache = await open(), old = await entries(cache, url(file)), number = (old[0]?.number ?? 0) + 1;
      // A URL of its own: a browser drops what is under the same URL before it has the new bytes.
      const at = `${url(file)}?${number}-${bytes.length}-${Math.random()}`;
      await cache.put(at, new Response(bytes as Uint8Array<ArrayBuffer>));
      for (const { request } of old) await cache.delete(request);
    },
  };
}

/** Begins errors. */
const what = 'the Cache API';

async function open(): Promise<Cache> {
  if (!globalThis.caches) throw new Error(`${what} is missing: it needs HTTPS or localhost`);
  return answered(what, caches.open(cacheName)); // a late one writes nothing: its bytes may be old by then
}

/** Returns the records under a URL, the last one first. */
async function entries(cache: Cache, url: string): Promise<Entry[]> {
  const requests = await answered(what, cache.keys(url, { ignoreSearch: true }));
  return requests.map((request) => {
    const [number, length] = new URL(request.url).search.slice(1).split('-').map(Number);
    return { request, number, length };
  }).sort((a, b) => b.number - a.number);
}
