// The records of a store that several followers share.

import { want } from '../options.js';

/**
 * Returns what makes the path NAME/FILE of a record. It throws TypeError unless name is a text, and URIError for half
 * of a surrogate pair.
 */
export function named(name: string): (file: string) => string {
  want('name', name, name && typeof name === 'string', 'the name of a follower');
  const folder = encodeURIComponent(name);
  return (file) => `${folder}/${encodeURIComponent(file)}`;
}

/**
 * Settles as an answer of the browser, but rejects after a minute and calls late: IndexedDB of some browsers never
 * calls back. Followers lose patience long before, and must: for them a call that rejects is one that was answered.
 */
export const answered = <T>(name: string, answer: Promise<T>, late?: () => void): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`${name} does not answer`));
      late?.();
    }, 60_000);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
