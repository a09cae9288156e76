// Entry bloomery/store/indexeddb: a store of followers in IndexedDB, for pages and workers.

import type { FollowStore } from '../follower.js';
import { answered, named } from './named.js';

/** Begins errors. */
const what = 'IndexedDB';

/** The database of all followers of an origin, and its table. The key of a record is NAME/FILE. */
const database = 'bloomery', table = 'files';

/**
 * Returns a store in the database `bloomery` of the page's origin. Each follower needs a name of its own. The pages and
 * workers of an origin may share a name if they follow the same publisher: the last record that is put stays.
 *
 * A put is one transaction: a crash, a closed tab or a full disk leaves the old record whole. Its promise is fulfilled
 * when the browser has told the system to write it. Both methods reject with the browser's error, which the follower
 * reports as a StoreError: QuotaExceededError if the origin has no more space, InvalidStateError or SecurityError where
 * private windows or settings forbid IndexedDB. Without IndexedDB, as in Node, they reject, too, and if it does not
 * open, or end a transaction, within 60 s: nothing is written after that, unless the browser was already committing it.
 *
 * A record takes the length of the filter and about 1 kB, and during a put twice that. It throws TypeError for a name
 * that is none.
 */
export function indexedDBStore(name: string): FollowStore {
  const path = named(name);
  return {
    async get(file) {
      const bytes: unknown = await transact('readonly', (files) => files.get(path(file)));
      return bytes instanceof Uint8Array ? bytes : undefined;
    },
    put: async (file, bytes) => void (await transact('readwrite', (files) => files.put(bytes, path(file)))),
  };
}

/**
 * Makes one request in a transaction of its own, and returns its result after the transaction is complete. The
 * connection is closed then: an open one would keep others from deleting the database.
 */
async function transact<T>(
  mode: IDBTransactionMode, request: (files: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  if (!globalThis.indexedDB) throw new Error('IndexedDB is missing');
  const opening = indexedDB.open(database, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(table);
  const opened = new Promise<IDBDatabase>((resolve, reject) => {
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  // A late connection must not write: its bytes may be old by then.
  const connection = await answered(what, opened, () => opened.then((late) => late.close(), () => {}));
  try {
    const transaction = connection.transaction(table, mode, { durability: 'strict' });
    const asked = request(transaction.objectStore(table));
    const done = new Promise<T>((resolve, reject) => {
      transaction.oncomplete = () => resolve(asked.result);
      // An abort without a cause is that of a browser that closes, or that has no more space.
      transaction.onabort = () => reject(transaction.error ?? asked.error ?? new Error('the transaction was aborted'));
    });
    return await answered(what, done, () => {
      try {
        transaction.abort();
      } catch {
        // It is committing, and cannot be stopped.
      }
    });
  } finally {
    connection.close();
  }
}
