// The files of a publisher over HTTP: bounded, resumed if the connection breaks, and from one host.

import { FetchError, TooLargeError } from './errors.js';
import { faultOf, mayRecover, reasonOf, retried } from './response.js';

/** How files are loaded. */
export interface TransportOptions {
  /** Used instead of the global fetch, for headers and credentials. It gets the URL and an object for its options. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** How often a download that breaks is tried again within a poll. Default: 3. */
  retries?: number;
  /** The time without a byte after which a request has failed, in milliseconds. Default: 30,000. */
  timeout?: number;
  /**
   * Bytes a second. A poll fails if it takes longer than 2 * timeout + the bytes of its files / minRate. The next one
   * goes on with the whole file that this one began. Default: 65,536.
   */
  minRate?: number;
}

/** What asks whether a file has changed: headers, which a response sets. */
export type Since = Record<string, string>;

/** What is there of a file. */
export interface Part {
  chunks: Uint8Array<ArrayBuffer>[];
  have: number;
}

/** A file that was loaded, and its content type. */
export type Loaded = [bytes: Uint8Array<ArrayBuffer>, type: string];

/**
 * Loads a file of at most `most` bytes, all of which must come if `whole`. With since it rejects with FetchError of
 * status 304 if the file has not changed. loaded is called with the bytes that arrive. part has the bytes that an
 * earlier call has loaded, and then those that this call has loaded before its error.
 *
 * Redirects must stay on the host. A browser follows all itself: the response of another host is then refused before
 * it is read.
 */
export async function load(
  url: URL, most: number, whole: boolean, options: TransportOptions, end: AbortSignal, loaded: (n: number) => void,
  since?: Since, part: Part = { chunks: [], have: 0 },
): Promise<Loaded> {
  const { retries = 3 } = options, inBrowser = 'location' in globalThis;
  let tries = 0, at = url, status = 0;
  return retried(options, end, async (send) => {
    at = url;
    for (let hops = 0; ; hops++) {
      const { have } = part;
      const { headers } = await send(at.href, {
        // A browser asks with what it has in its cache, which headers of ours would forbid.
        headers: whole && have ? { range: `bytes=${have}-` } : inBrowser ? {} : { ...since },
        ...(inBrowser ? since && { cache: 'no-cache' } : { redirect: 'manual' }),
      }, (response) => {
        status = response.status;
        const location = status > 300 && status < 400 && response.headers.get('location');
        const to = new URL(location || response.url || at, at);
        if (to.host !== url.host || (to.protocol !== url.protocol && to.protocol !== 'https:') || hops > 5) {
          throw new Error(`a redirect to ${to.href} is refused`);
        }
        at = to;
        if (location) return false;
        if (status !== 206) {
          part.chunks = [];
          part.have = 0;
          if (status !== 200) throw new Error(faultOf(response));
        }
        status = 0;
        return true;
      }, (chunk) => {
        loaded(chunk.length);
        if ((part.have += chunk.length) > most) throw new TooLargeError(`${at.href}: more than ${most} bytes`);
        part.chunks.push(chunk);
      });
      if (status) continue; // a redirect
      if (!part.have) throw new Error('a response with no body');
      if (whole && part.have < most) throw new Error(`only ${part.have} of ${most} bytes came`);
      const tag = headers.get('etag'), time = headers.get('last-modified');
      // Servers make tags of the second of the change, in which the file may change again.
      if (since && !(Date.parse(headers.get('date')!) - Date.parse(time!) < 2000)) {
        if (tag) since['if-none-match'] = tag;
        if (time) since['if-modified-since'] = time;
      }
      return [new Uint8Array(await new Blob(part.chunks).arrayBuffer()), headers.get('content-type') ?? ''];
    }
  }, (e) => {
    if (e instanceof TooLargeError) throw e;
    if (!whole) [part.chunks, part.have] = [[], 0];
    if (tries++ >= retries || !mayRecover(status)) {
      throw e instanceof FetchError ? e : new FetchError(at.href, status, reasonOf(e), e);
    }
    return tries;
  });
}
