// Filters over HTTP: checked while their bytes arrive, and resumed if the connection breaks.

import { CorruptError, FetchError, FormatError, TooLargeError, TruncatedError } from './errors.js';
import { accept, type Accepted, Checker, type Filter, type OpenOptions, type Opener, openVerified } from './filter.js';
import { headerLength, parseHeader } from './header.js';
import { maxManifest, refuseOther } from './manifest.js';
import { abortSignal, absolute, callback, count, milliseconds, positive, type Rule } from './options.js';
import { faultOf, mayRecover, retried } from './response.js';
import { sha256 } from './sha256.js';
import { openShards, type ShardedFilter } from './sharded.js';

/** How a file is fetched and opened. */
export interface FetchOptions extends OpenOptions {
  /** Ends the download, and later those of shards. */
  signal?: AbortSignal;
  /** Used instead of the global fetch, for headers and credentials. It gets the URL and an object for its options. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Called as bytes of a file arrive: how many are there, of how many. Not called for shards. */
  progress?: (loaded: number, total: number) => void;
  /** The largest length of a filter file or of a shard in bytes. Default: 2^30. */
  maxBytes?: number;
  /** How often a download that makes no progress is tried again, after 0.25 s, 0.5 s, 1 s and so on. Default: 3. */
  retries?: number;
  /** The time without a byte after which a request has failed, in milliseconds. Default: 30,000. */
  timeout?: number;
  /** The SHA-256 of the file, or of the manifest of a sharded set, in hexadecimal. Other content is a CorruptError. */
  sha256?: string;
}

const isHash: Rule = ['64 hexadecimal digits', (v) => typeof v === 'string' && /^[0-9a-f]{64}$/i.test(v)];
/** The options of all that loads over HTTP. */
export const loading = {
  signal: abortSignal, fetch: callback, maxBytes: positive, retries: count, timeout: milliseconds,
};
/** The options of fetchFile and fetchSet, besides those of opening. Callers check them. */
export const fetching = { ...loading, progress: callback, sha256: isHash };

/** Is told that the first n bytes of a file are there. It returns the length of the file, or undefined if unknown. */
type Sink = (bytes: Uint8Array, n: number) => number | undefined;

const defaultMost = 2 ** 30;

/** The largest length that is allocated because the header and the server say the same. */
const trusted = 2 ** 26;

/**
 * Opens a sharded set, given the URL of its folder or of its manifest. Shards are fetched when they are first needed.
 * It rejects as fetchFile does.
 */
export async function fetchSet(url: string | URL, options: FetchOptions & Opener): Promise<ShardedFilter> {
  const at = absolute(url), compare = comparison(options.sha256);
  const { verify = true, maxBytes: most = defaultMost } = options;
  if (at.pathname.endsWith('/')) at.pathname += 'manifest.json';
  const sink: Sink = (bytes, n) => void (n > 15 && refuseOther(bytes));
  return download(at, options, maxManifest, false, () => sink, async (manifest) => {
    await compare(manifest);
    return openShards(manifest, (file, bytes) => {
      if (bytes > most) throw new TooLargeError(`${bytes} bytes are more than maxBytes`);
      const shard = new URL(file, at);
      shard.search = at.search;
      return download(shard, options, bytes, verify, () => () => undefined, (bytes) => bytes);
    }, options);
  }).catch((e) => {
    if (e instanceof FetchError && e.status === 404) e.message += '; if it is a folder of bloomery publish: use follow';
    throw e;
  });
}

/**
 * Fetches a filter file. Memory: the length in the header, if the server announces the same and it is at most 64 MiB;
 * else at most 3 times the bytes that arrived + 64 KiB.
 *
 * It rejects with FormatError, FetchError, the reason of signal, or TypeError for a URL that is none or that of a set.
 */
export async function fetchFile(url: string | URL, options: FetchOptions & Opener): Promise<Filter> {
  const at = absolute(url), compare = comparison(options.sha256);
  const { verify = true, maxBytes: most = defaultMost } = options;
  if (/(\/|\.json)$/.test(at.pathname)) {
    const opens = 'fetchSharded for a sharded set, use follow for a folder of bloomery publish';
    throw new TypeError(`url: ${at.href} has no filter file: use ${opens}`);
  }
  let checker: Checker | undefined, accepted: Accepted | undefined;
  return download(at, options, most, verify || !!options.sha256, () => {
    checker = undefined;
    return (bytes, n) => {
      if (!checker) {
        const first = bytes.subarray(0, n);
        if (n < headerLength(first)) return undefined;
        const header = parseHeader(first);
        accepted = accept(header, options);
        checker = new Checker(header, verify);
      }
      const { length } = checker.header, there = Math.min(n, length);
      checker.check(bytes, there);
      options.progress?.(there, length);
      return length;
    };
  }, async (bytes) => {
    const header = checker?.header ?? parseHeader(bytes);
    await compare(bytes);
    return openVerified(bytes, header, options, accepted!);
  });
}

/** Returns what rejects with CorruptError unless bytes have the SHA-256 that is wanted, if one is. */
const comparison = (wanted?: string) => async (bytes: Uint8Array): Promise<void> => {
  const sum = wanted && await sha256(bytes);
  if (sum !== wanted?.toLowerCase()) throw new CorruptError(`its SHA-256 is ${sum}, not ${wanted}`);
};

/** The slowest download that goes on, in bytes a millisecond: 1 KiB/s, measured after twice the timeout. */
const slowest = 1.024;

/**
 * Fetches a file of at most `most` bytes and returns what done makes of it. resume: the content is verified, so that a
 * download that breaks can be continued; else it starts anew. start returns the Sink of a download from its first byte.
 */
async function download<T>(
  url: URL, options: FetchOptions, most: number, resume: boolean, start: () => Sink,
  done: (bytes: Uint8Array) => T | Promise<T>,
): Promise<T> {
  const { signal = new AbortController().signal, retries = 3, timeout = 30_000 } = options;
  let bytes = new Uint8Array(0), have = 0, total: number | undefined, tag = '', resumed = false, sink = start();
  let failures = 0, began = 0, before = 0, type = '';
  const restart = () => {
    have = 0;
    total = undefined;
    resumed = false;
    sink = start();
  };
  /** Whether n bytes are too few for the time that has passed. */
  const slow = (n: number) => n < slowest * (performance.now() - began);

  return retried(options, signal, async (send) => {
    let status = 0, announced = 0, from = 0;
    [began, before, type] = [performance.now(), have, ''];
    const headers: Record<string, string> = have ? { range: `bytes=${have}-` } : {};
    await send(url.href, { headers }, (response) => {
      ({ status } = response);
      const header = (name: string) => response.headers.get(name) ?? '';
      const own = header('etag') + header('last-modified'), range = header('content-range');
      type = header('content-type');
      if (status === 206 && have && own === tag && (!range || range.startsWith(`bytes ${have}-`))) {
        resumed = true;
      } else if (status === 200) {
        restart();
      } else {
        if (have) restart();
        throw new FetchError(url.href, status, faultOf(response));
      }
      tag = own;
      announced = Number(header('content-length'));
      from = have;
      return true;
    }, (value) => {
      const n = have + value.length;
      if (n > (total ?? most)) throw total ? new CorruptError('bytes behind the file', total) : tooLarge(n, most);
      if (n > bytes.length) {
        const whole = total! <= trusted && from + announced === total;
        bytes = grown(bytes, have, Math.min(total ?? most, whole ? most : Math.max(2 * n, 65536)));
      }
      bytes.set(value, have);
      have = n;
      total = sink(bytes, have);
      if (total !== undefined && total > most) throw tooLarge(total, most);
      if (total !== undefined && have > total) throw new CorruptError('bytes behind the file', total);
      if (slow(n - from + slowest * 2 * timeout)) {
        throw new FetchError(url.href, 0, 'less than 1 KiB/s came');
      }
    });
    if (!have) throw new FetchError(url.href, status, 'a response with no body');
    if (total === undefined || have === total) return done(bytes.subarray(0, have));
    if (have - from === announced) throw new TruncatedError('end of the file', have);
    throw new FetchError(url.href, 0, `the download ended after ${have} of ${total} bytes`);
  }, (e) => {
    if (e instanceof FormatError) {
      e.message = `${url.href}: ${e.message}${instead(type, bytes.subarray(0, have))}`;
    }
    if (e instanceof FormatError && resumed) {
      resume = false; // the parts do not fit together: load the whole
    } else if (!(e instanceof FetchError) || !mayRecover(e.status)) {
      throw e;
    }
    // A server that sends a few bytes and breaks makes no progress.
    failures = resume && resumed && !slow(have - before) ? 1 : failures + 1;
    if (failures > retries) throw e;
    if (!resume) restart();
    return failures;
  });
}

/** What came instead of a file, for the error of its content. */
export function instead(type: string, file: Uint8Array): string {
  const page = /^\s*</.test(String.fromCharCode(...file.subarray(0, 16))) ? ': a web page came instead' : '';
  return `; content type ${type || 'not given'}${page}`;
}

const tooLarge = (n: number, most: number) => new TooLargeError(`${n} bytes are more than the limit of ${most}`);

/** Returns a copy of the first n bytes with room for size. */
function grown(bytes: Uint8Array, n: number, size: number): Uint8Array<ArrayBuffer> {
  let larger: Uint8Array<ArrayBuffer>;
  try {
    larger = new Uint8Array(size);
  } catch {
    throw new TooLargeError(`no memory for ${size} bytes`);
  }
  larger.set(bytes.subarray(0, n));
  return larger;
}
