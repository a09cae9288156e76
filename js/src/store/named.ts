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
