// Arguments of callers: an error says what is wanted, and what came.

/** Describes a value that came. */
export const came = (v: unknown): string =>
  typeof v === 'string' ? JSON.stringify(v.slice(0, 40))
  : Object(v) === v ? Object.prototype.toString.call(v).slice(8, -1)
  : String(v);

/** Describes the first bytes of a file that is of another kind, and says what opens it. */
export function beginning(file: Uint8Array): string {
  const text = String.fromCharCode(...file.subarray(0, 16));
  const opens = /^\s*{/.test(text) ? 'openSharded or fetchSharded'
    : text.startsWith('\x89BLMRY') ? 'open or fetchFilter'
    : text.startsWith('\x89BLX') && 'openExact';
  return came(text) + (opens ? `: use ${opens}` : '');
}

/** Throws TypeError unless ok. */
export function want(name: string, v: unknown, ok: unknown, wanted: string): asserts ok {
  if (!ok) throw new TypeError(`${name}: want ${wanted}, and got ${came(v)}`);
}

/** What an option must be, and whether a value is. */
export type Rule = readonly [wanted: string, ok: (v: any) => unknown];

export const flag: Rule = ['true or false', (v) => v === true || v === false];
export const callback: Rule = ['a function', (v) => typeof v === 'function'];
export const count: Rule = ['a whole number, 0 or more', (v) => v >= 0 && (Number.isInteger(v) || v === Infinity)];
export const positive: Rule = ['a number above 0', (v) => typeof v === 'number' && v > 0];
/** For timers. */
export const milliseconds: Rule = ['milliseconds, 1 or more', (v) => typeof v === 'number' && v >= 1];
export const abortSignal: Rule = ['an AbortSignal', (v) => v && 'aborted' in Object(v)];
export const texts: Rule = ['an array of strings', (v) => Array.isArray(v) && v.every((s) => typeof s === 'string')];
/** For arrays of objects with a member. */
const withMember = (member: string) => (v: any) => Array.isArray(v) && v.every((o) => Object(o) === o && member in o);
export const someFamilies: Rule = ['an array of families, such as [blocked]', withMember('open')];
export const someHashes: Rule = ['an array of hash functions, such as [siphash]', withMember('make')];

/**
 * Returns a copy of options without a prototype, so that nobody reads what a polluted Object.prototype has. It throws
 * unless options is an object, and each of its members that has a rule is undefined or obeys it.
 */
export function check<Options extends object>(options: Options, rules: Readonly<Record<string, Rule>>): Options {
  want('options', options, Object(options) === options, 'an object');
  const own = Object.assign(Object.create(null), options);
  for (const [name, [wanted, ok]] of Object.entries(rules)) {
    const v = own[name];
    want(name, v, v === undefined || ok(v), wanted);
  }
  return own;
}

/** Returns the absolute URL of one that may be relative to the page. It throws TypeError. */
export function absolute(url: string | URL): URL {
  want('url', url, typeof url === 'string' || url instanceof URL, 'a string or a URL');
  try {
    return new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href);
  } catch (cause) {
    throw new TypeError(`url: ${came(url)} is not an absolute URL`, { cause });
  }
}
