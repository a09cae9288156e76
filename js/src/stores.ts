// Stores of followers in a browser, for pages and workers.

import type { FollowStore } from './follower.js';
import { want } from './options.js';

const checked = (name: string): string => {
  want('name', name, name && typeof name === 'string', 'a name for the files of one follower');
  return encodeURIComponent(name);
};

/** Settles as a request of IndexedDB does. */
const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/**
 * Returns a store in IndexedDB: the database `bloomery` of the origin, in which each follower has a name of its own.
 * It throws TypeError if that is no name. If the browser has no IndexedDB or no room, the follower reports a StoreError
 * and goes on.
 */
export function indexedDBStore(name: string): FollowStore {
  const prefix = `${checked(name)}/`, table = 'files';
  const use = async <T>(mode: IDBTransactionMode, work: (files: IDBObjectStore) => IDBRequest<T>): Promise<T> => {
    const opening = indexedDB.open('bloomery', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(table);
    const db = await settled(opening);
    try {
      const transaction = db.transaction(table, mode);
      const complete = new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
      const [result] = await Promise.all([settled(work(transaction.objectStore(table))), complete]);
      return result;
    } finally {
      db.close();
    }
  };
  return {
    get: (file) => use('readonly', (files) => files.get(prefix + file)),
    put: async (file, bytes) => void (await use('readwrite', (files) => files.put(bytes, prefix + file))),
  };
}

/**
 * Returns a store in the Cache API: the cache `bloomery` of the origin, in which each follower has a name of its own.
 * It throws TypeError if that is no name. The Cache API needs HTTPS or localhost.
 */
export function cacheStore(name: string): FollowStore {
  const prefix = `https://bloomery.invalid/${checked(name)}/`, cache = async () => caches.open('bloomery');
  return {
    async get(file) {
      const found = await (await cache()).match(prefix + file);
      return found && new Uint8Array(await found.arrayBuffer());
    },
    async put(file, bytes) {
      await (await cache()).put(prefix + file, new Response(bytes as Uint8Array<ArrayBuffer>));
    },
  };
}
