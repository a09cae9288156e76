// The strict reader of JSON files: releases, histories and manifests. Each value has one form, so that all readers of a
// signed text take the same values out of it.

/**
 * Parses a text. It throws SyntaxError if an object has a name twice, or if a number is not as JSON.stringify writes
 * it: JSON.parse takes the last of several members, and does not tell 1.0 and 1e0 from 1, nor -0 from 0.
 */
export function parseJSON(text: string): unknown {
  const v: unknown = JSON.parse(text);
  // The text without white space, and with strings as JSON.stringify writes them.
  const form = text.replace(/"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g, (s) =>
    s[0] !== '"' ? '' : s.includes('\\') ? JSON.stringify(JSON.parse(s)) : s);
  if (form !== JSON.stringify(v)) throw new SyntaxError('it is not canonical');
  return v;
}

/** Whether an object has no other members than these. */
export const hasOnly = (m: object, names: string): boolean =>
  Object.keys(m).every((name) => ` ${names} `.includes(` ${name} `));
