// Arguments of callers: an error says what is wanted, and what came.

/** Describes a value that came. */
export const came = (v: unknown): string =>
  typeof v === 'string' ? JSON.stringify(v.slice(0, 40))
  : Object(v) === v ? {}.toString.call(v).slice(8, -1)
  : String(v);

/** Describes the first bytes of a file that is of another kind, and says what opens it. */
export function beginning(file: Uint8Array): string {
  const text = String.fromCharCode(...file.subarray(0, 16));
  const opens = /^\s*{/.test(text) ? 'openSharded or fetchSharded'
    : /^.BLM/.test(text) ? 'open or fetchFilter'
    : /^.BLX/.test(text) && 'openExact';
  return came(text) + (opens ? `: use ${opens}` : '');
}

/** Throws TypeError unless ok. */
export function want(name: string, v: unknown, ok: unknown, wanted: string): asserts ok {
  if (!ok) throw new TypeError(`${name}: want ${wanted}, and got ${came(v)}`);
}

/** What an option must be, and whether a value is. */
export type Rule = readonly [wanted: string, ok: (v: any) => unknown];

/** For options that their user checks. */
export const any: Rule = ['', () => true];
export const flag: Rule = ['a boolean', (v) => v === !!v];
export const callback: Rule = ['a function', (v) => typeof v === 'function'];
export const count: Rule = ['a whole number', (v) => v >= 0 && (Number.isInteger(v) || v === Infinity)];
export const positive: Rule = ['a number above 0', (v) => typeof v === 'number' && v > 0];
/** For timers. */
export const milliseconds: Rule = ['milliseconds from 1', (v) => typeof v === 'number' && v >= 1];
export const abortSignal: Rule = ['an AbortSignal', (v) => v?.aborted != null];
export const texts: Rule = ['an array of strings', (v) => Array.isArray(v) && v.every((s) => typeof s === 'string')];
/** For arrays of objects with a member. */
const withMember = (member: string) => (v: any) => v?.every?.((o: any) => o?.[member]);
export const someFamilies: Rule = ['an array such as [blocked]', withMember('open')];
export const someHashes: Rule = ['an array such as [siphash]', withMember('make')];

/**
 * Returns a copy of options without a prototype, so that nobody reads what a polluted Object.prototype has. It throws
 * unless options is an object, and each of its members has a rule and is undefined, which counts as absent, or obeys
 * the rule. The error of an unknown name, also of one that is undefined, lists the known names. The first one has
 * the most letters of it.
 */
export function check<Options extends object>(options: Options, rules: Readonly<Record<string, Rule>>): Options {
  want('options', options, Object(options) === options, 'an object');
  const own: any = { __proto__: null, ...options }, known = Object.keys(rules);
  for (const name in own) {
    const v = own[name], rule = rules[name]!, near = (k: string) => [...k].filter((c) => name.includes(c)).length;
    want('options', name, known.includes(name), `${known.sort((a, b) => near(b) - near(a))}`);
    want(name, v, v === undefined || rule[1](v), rule[0]);
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
