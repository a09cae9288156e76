// The server of the tests: the package, the golden files, and responses that are slow, cut or wrong.

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The folders that are served, by the first part of the path. */
const folders = {
  dist: at('../../dist'),
  example: at('../../example'),
  set: at('../../../shard/testdata/sets/blocked'),
  test: at('page'),
};

const types = { '.html': 'text/html', '.js': 'text/javascript', '.svg': 'image/svg+xml', '.json': 'application/json' };

/** Policies of sites: without WebAssembly, and with it. */
export const policies = {
  plain: "default-src 'self'",
  wasm: "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
};

async function contentOf(path) {
  const [, folder, ...rest] = path.split('/');
  const file = normalize(join(folders[folder] ?? '', ...rest));
  if (!folders[folder] || !file.startsWith(folders[folder] + sep)) return undefined;
  return readFile(file).catch(() => undefined);
}

/** Writes body in pieces of changing sizes, none of them a multiple of 4 for long, with pauses between. */
async function dribble(response, body, pause) {
  const sizes = [1, 63, 7, 1500, 2, 4097, 65, 997];
  for (let i = 0, from = 0; from < body.length && !response.destroyed; i++) {
    const to = Math.min(body.length, from + sizes[i % sizes.length]);
    response.write(body.subarray(from, to));
    from = to;
    await sleep(pause);
  }
}

/** Sends half of the file, then closes the connection. */
async function half(response, body, headers = {}) {
  response.writeHead(200, { 'Content-Length': body.length, ...headers });
  response.write(body.subarray(0, body.length >> 1));
  await sleep(20);
  response.destroy();
}

/** What a path /MODE/rest sends, given the right content. Each ends the response. */
const modes = {
  async slow(response, body) {
    response.writeHead(200, { 'Content-Length': body.length });
    await dribble(response, body, 1);
    response.end();
  },
  gzip(response, body) {
    response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(body));
  },
  cut: (response, body) => half(response, body), // the connection ends in the middle
  async resumed(response, body, { headers: { range } }) { // as cut, but sends the rest when asked for it
    if (!range) return half(response, body, { ETag: '"1"' });
    const from = Number(/^bytes=([0-9]+)-$/.exec(range)[1]), last = body.length - 1;
    response.writeHead(206, { ETag: '"1"', 'Content-Range': `bytes ${from}-${last}/${body.length}` });
    response.end(body.subarray(from));
  },
  async restarted(response, body, { headers: { range } }) { // as cut, then the whole file
    if (!range) return half(response, body, { ETag: '"1"' });
    response.writeHead(200, { ETag: '"2"', 'Content-Length': body.length }).end(body);
  },
  short(response, body) { // a body that is complete, but half the file
    response.writeHead(200).end(body.subarray(0, body.length >> 1));
  },
  header(response, body) {
    response.writeHead(200).end(body.subarray(0, 40));
  },
  empty(response) {
    response.writeHead(200).end();
  },
  long(response, body) {
    response.writeHead(200).end(Buffer.concat([body, randomBytes(100_000)]));
  },
  async endless(response, body) { // the file, then bytes for ever
    response.writeHead(200);
    response.write(body);
    while (!response.destroyed) {
      response.write(Buffer.alloc(1 << 16));
      await sleep(5);
    }
  },
  async large(response, body) { // announces 1 TB, sends the file
    response.writeHead(200, { 'Content-Length': 2 ** 40 });
    response.write(body);
    await sleep(100);
    response.destroy();
  },
  small(response, body) { // announces half of the file
    response.writeHead(200, { 'Content-Length': body.length >> 1 });
    response.write(body.subarray(0, body.length >> 1));
    response.end();
  },
  garbage(response) {
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(randomBytes(10_000));
  },
  page(response) {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Log in</title>');
  },
  flipped(response, body) { // one bit of the first section is wrong
    const wrong = Buffer.from(body);
    wrong[Number(wrong.readBigUInt64LE(64)) + 3] ^= 1;
    response.writeHead(200, { 'Content-Length': wrong.length }).end(wrong);
  },
  missing(response) {
    response.writeHead(404).end('not found');
  },
  broken(response) {
    response.writeHead(500).end('broken');
  },
};

/**
 * Serves /dist, /example, /set and /test; for each mode, /MODE/ followed by one of these paths; and with the
 * query ?MODE a filter file in that mode.
 *
 * @param {string} [policy] the Content-Security-Policy of all responses
 * @param {Record<string, string>} [more] content of other paths
 * @returns {Promise<{origin: string, requests: string[], close(): Promise<void>}>} requests: the paths so far
 */
export async function serveTests(policy = policies.plain, more = {}) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url, 'http://localhost');
    requests.push(pathname);
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Cache-Control', 'no-store');
    const mode = pathname.split('/')[1], shard = search.slice(1);
    const inPath = Object.hasOwn(modes, mode), inQuery = Object.hasOwn(modes, shard) && pathname.endsWith('.bloom');
    const send = inPath ? modes[mode] : inQuery ? modes[shard] : undefined;
    const body = more[pathname] ?? (await contentOf(inPath ? pathname.slice(mode.length + 1) : pathname));
    if (!body) return response.writeHead(404).end('not found');
    if (send) return send(response, body, request);
    response.writeHead(200, { 'Content-Type': types[extname(pathname)] ?? 'application/octet-stream' }).end(body);
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    requests,
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}
