// The files of a publisher over HTTP: bounded, resumed if the connection breaks, and from one host.

import { FetchError } from './errors.js';
import { download, type FetchOptions } from './fetch.js';

/** How files are loaded. */
export interface TransportOptions extends Pick<FetchOptions, 'fetch' | 'retries'> {
  /** The time without a byte after which a request has failed, in milliseconds. Default: 30,000. */
  timeout?: number;
}

/** Headers that ask whether a file has changed. */
export type Since = Record<string, string>;

const mostHops = 5;

/** Loads files until `end` is aborted. */
export class Transport {
  /** The bytes that were loaded. */
  loaded = 0;

  /** url is that of the folder. */
  constructor(readonly url: URL, readonly options: TransportOptions, readonly end: AbortSignal) {}

  /**
   * Loads a file of at most `most` bytes if it has changed since the last time; else it rejects with FetchError of
   * status 304. It adds to next what the next call needs.
   */
  ask(path: string, most: number, since: Since, next: Since): Promise<Uint8Array> {
    // A browser asks with what it has in its cache, which headers of ours would forbid.
    const init: RequestInit = inBrowser() ? { cache: 'no-cache' } : { headers: since };
    return this.#get(path, most, undefined, init, ({ headers }) => {
      const tag = headers.get('etag'), time = headers.get('last-modified');
      if (tag) next['if-none-match'] = tag;
      if (time) next['if-modified-since'] = time;
    });
  }

  /** Loads a file of that length, and of at most `most` bytes. */
  load(path: string, most: number, length: number): Promise<Uint8Array> {
    return this.#get(path, most, length, {}, () => {});
  }

  async #get(
    path: string, most: number, length: number | undefined, more: RequestInit, seen: (response: Response) => void,
  ): Promise<Uint8Array> {
    const { end, options: { retries, timeout = 30_000 } } = this;
    const at = new URL(path, this.url), idle = new AbortController();
    at.search = this.url.search;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(new FetchError(at.href, 0, `no byte within ${timeout} ms`)), timeout);
    };
    const stop = () => idle.abort(end.reason);
    end.addEventListener('abort', stop);
    if (end.aborted) stop();
    const get = async (url: string, init: RequestInit) => {
      alive();
      const headers = { ...init.headers, ...more.headers };
      const response = await this.#hops(new URL(url), { ...init, ...more, headers });
      seen(response);
      return response;
    };
    const sink = () => {
      let before = 0;
      return (_: Uint8Array, n: number) => {
        alive();
        this.loaded += n - before;
        before = n;
        return length;
      };
    };
    try {
      return await download(at, { signal: idle.signal, fetch: get, retries }, most, true, sink);
    } finally {
      clearTimeout(timer);
      end.removeEventListener('abort', stop);
    }
  }

  /**
   * Fetches a URL with redirects to the same host. A browser follows all itself: the response of another host is then
   * refused before it is read.
   */
  async #hops(at: URL, init: RequestInit): Promise<Response> {
    const get = this.options.fetch ?? globalThis.fetch, { host, protocol } = at;
    for (let hops = 0; ; hops++) {
      const response = await get(at.href, { ...init, redirect: inBrowser() ? 'follow' : 'manual' });
      const { status } = response, location = status >= 300 && status < 400 && response.headers.get('location');
      const to = new URL(location || response.url || at, at);
      if (to.host !== host || (to.protocol !== protocol && to.protocol !== 'https:') || hops > mostHops) {
        response.body?.cancel().catch(() => {});
        throw new FetchError(at.href, status, `a redirect to ${to.href}: only ${mostHops} on the same host are allowed`);
      }
      if (!location) return response;
      at = to;
    }
  }
}

const inBrowser = () => 'location' in globalThis;
