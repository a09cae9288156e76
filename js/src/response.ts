// Requests that are tried again, and their responses.

import { FetchError } from './errors.js';
import { pause, silence, watch, within } from './watch.js';

/** Says why a response is not that of a file. */
export const faultOf = ({ status, type }: Response): string =>
  /^opaque/.test(type) ? `a response of type ${type}: its server hides it from this page (CORS)`
  : status > 200 ? `HTTP status ${status}`
  : 'a response with no body';

/** Why a request failed: platforms hide that in the cause. */
export function reasonOf(e: unknown): string {
  const { message, cause } = e as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

/** Whether the same request may succeed later: no connection, an unusable part of the file, or a busy server. */
export const mayRecover = (status: number) => [0, 206, 408, 416, 425, 429].includes(status) || status >= 500;

/** How often a request is tried again, after how long without a byte it has failed, and what sends it. */
export interface Patience {
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  timeout?: number;
}

/**
 * Sends a request and returns the response. start is called with it first, and returns whether its body is wanted; take
 * is called with the parts of the body. An error of the connection is a FetchError.
 */
export type Send = (
  url: string, init: RequestInit, start: (response: Response) => boolean, take: (bytes: Uint8Array<ArrayBuffer>) => void,
) => Promise<Response>;

/**
 * Returns what attempt returns. After an error it calls failed, which throws the error if it is final, and else returns
 * how often attempts have failed: the next one follows after 0.25 s, 0.5 s, 1 s and so on.
 */
export async function retried<T>(
  { fetch: get = globalThis.fetch, timeout = 30_000 }: Patience, end: AbortSignal,
  attempt: (send: Send) => Promise<T>, failed: (e: unknown) => number,
): Promise<T> {
  for (let failures: number; ; await pause(2 ** failures / 8, end)) {
    const { signal, set, free } = watch(end, silence(timeout));
    const net = <T>(url: string, p: Promise<T>): Promise<T> => {
      set(timeout);
      return within(signal, p).catch((e) => {
        throw new FetchError(url, 0, `the connection failed: ${reasonOf(e)}`, e);
      });
    };
    try {
      end.throwIfAborted();
      const result = await attempt(async (url, init, start, take) => {
        const response = await net(url, get(url, { ...init, signal })), reader = response.body?.getReader();
        try {
          const wanted = start(response);
          let value;
          while (wanted && reader && (value = (await net(url, reader.read())).value)) take(value);
          return response;
        } finally {
          reader?.cancel().catch(() => {});
        }
      });
      end.throwIfAborted();
      return result;
    } catch (e) {
      end.throwIfAborted();
      failures = failed(e);
    } finally {
      free();
    }
  }
}
