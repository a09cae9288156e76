// The files of a publisher over HTTP: bounded, resumed if the connection breaks, and from one host.

import { FetchError, TooLargeError } from './errors.js';
import { mayRecover, pause } from './fetch.js';

/** How files are loaded. */
export interface TransportOptions {
  /** Used instead of the global fetch, for headers and credentials. It gets the URL and an object for its options. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** How often a download that breaks is tried again within a poll. Default: 3. */
  retries?: number;
  /** The time without a byte after which a request has failed, in milliseconds. Default: 30,000. */
  timeout?: number;
}

/** What asks whether a file has changed: headers, which a response sets. */
export type Since = Record<string, string>;

/**
 * Loads a file of at most `most` bytes, all of which must come if `whole`. With since it rejects with FetchError of
 * status 304 if the file has not changed. loaded is called with the bytes that arrive.
 *
 * Redirects must stay on the host. A browser follows all itself: the response of another host is then refused before
 * it is read.
 */
export async function load(
  url: URL, most: number, whole: boolean, options: TransportOptions, end: AbortSignal, loaded: (n: number) => void,
  since?: Since,
): Promise<Uint8Array> {
  const { fetch: get = globalThis.fetch, retries = 3, timeout = 30_000 } = options;
  const inBrowser = 'location' in globalThis;
  let parts: Uint8Array<ArrayBuffer>[] = [], have = 0;
  for (let tries = 0; ; await pause(2 ** tries / 8, end)) {
    const idle = new AbortController(), stop = () => idle.abort(end.reason);
    let timer: ReturnType<typeof setTimeout> | undefined, at = url, status = 0;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(new Error(`silence for ${timeout} ms`)), timeout);
    };
    end.addEventListener('abort', stop);
    try {
      end.throwIfAborted();
      for (let hops = 0, response; ; hops++) {
        alive();
        response = await get(at.href, {
          signal: idle.signal,
          // A browser asks with what it has in its cache, which headers of ours would forbid.
          headers: whole && have ? { range: `bytes=${have}-` } : inBrowser ? {} : { ...since },
          ...(inBrowser ? since && { cache: 'no-cache' } : { redirect: 'manual' }),
        });
        status = response.status;
        const { headers, body } = response, location = status > 300 && status < 400 && headers.get('location');
        const to = new URL(location || response.url || at, at), reader = body?.getReader();
        try {
          if (to.host !== url.host || (to.protocol !== url.protocol && to.protocol !== 'https:') || hops > 5) {
            throw new Error(`redirect to ${to.href}`);
          }
          at = to;
          if (location) continue;
          if (status !== 206) {
            parts = [];
            have = 0;
            if (status !== 200) throw new Error(`HTTP status ${status}`);
          }
          status = 0;
          for (let part; (part = (await reader?.read())?.value); alive()) {
            loaded(part.length);
            if ((have += part.length) > most) throw new TooLargeError(`more than ${most} bytes`);
            parts.push(part);
          }
          if (whole && have < most) throw new Error(`only ${have} of ${most} bytes`);
          const tag = headers.get('etag'), time = headers.get('last-modified');
          // Servers make tags of the second of the change, in which the file may change again.
          if (since && !(Date.parse(headers.get('date')!) - Date.parse(time!) < 2000)) {
            if (tag) since['if-none-match'] = tag;
            if (time) since['if-modified-since'] = time;
          }
          return new Uint8Array(await new Blob(parts).arrayBuffer());
        } finally {
          reader?.cancel().catch(() => {});
        }
      }
    } catch (e) {
      end.throwIfAborted();
      if (e instanceof TooLargeError) throw e;
      if (tries++ >= retries || !mayRecover(status)) throw new FetchError(at.href, status, (e as Error).message, e);
    } finally {
      clearTimeout(timer);
      end.removeEventListener('abort', stop);
    }
  }
}
