// Domains in what people type: which keys of the list an address stands for.

/** The longest text of a line that is looked at, in UTF-16 code units. A mail address has at most 254 bytes. */
const longest = 1000;

/** A domain in ASCII: at least two labels of 1 to 63 letters, digits and inner hyphens; the last one has a letter. */
const shape = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/**
 * Returns the domain of a mail address, or of a text that is a domain, in lower case; undefined if there is none.
 * It takes "Alex <alex@example.com>," and "alex@example.com." too.
 *
 * @param {string} text
 * @returns {{domain: string, keys: string[]} | undefined} keys are the forms that the list may have: a domain with
 *   letters outside ASCII is listed as it is or in its ASCII form ("xn--…")
 */
export function domainOf(text) {
  if (text.length > longest) return undefined;
  const name = text.slice(text.lastIndexOf('@') + 1).trim().replace(/[>,;.\s]+$/, '').toLowerCase().normalize('NFC');
  const ascii = toASCII(name);
  if (ascii === undefined || ascii.length > 253 || !shape.test(ascii)) return undefined;
  return { domain: name, keys: name === ascii ? [name] : [name, ascii] };
}

/** Returns the ASCII form of a domain as the URL standard defines it, undefined if it has none. */
function toASCII(name) {
  if (/^[a-z0-9.-]*$/.test(name)) return name;
  if (/[\u0000-\u002c\u002f\u003a-\u0060\u007b-\u007f]/.test(name)) return undefined; // no domain has these
  try {
    return new URL(`http://${name}/`).hostname;
  } catch {
    return undefined;
  }
}

/** Reports whether the filter holds the domain in one of its forms. */
export function isListed(filter, { keys }) {
  return keys.some((key) => filter.has(key));
}
