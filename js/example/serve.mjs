// npm run example: serves this page on localhost, with the policy of a strict site.
//
//   npm run example -- [--port 8017] [--plain]
//
// --plain leaves 'wasm-unsafe-eval' out of the policy: the package then answers in plain JavaScript.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The folders of js/ that are served. */
const folders = ['example', 'dist'];

const types = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '': 'text/plain; charset=utf-8', // NOTICE
  '.bloom': 'application/octet-stream',
};

/** Returns the path of the file that a URL names; undefined if it is not in a served folder. */
function fileOf(url) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return undefined;
  }
  if (path.endsWith('/')) path += 'index.html';
  const file = normalize(join(root, path));
  const served = folders.some((folder) => file.startsWith(join(root, folder) + sep));
  return served && !file.includes('\0') && extname(file) in types ? file : undefined;
}

/**
 * Serves js/example and js/dist on 127.0.0.1.
 *
 * @param {{port?: number, plain?: boolean}} [options] port 0 takes a free one; plain forbids WebAssembly
 * @returns {Promise<{url: string, close(): Promise<void>}>} url is that of the page
 */
export async function serve({ port = 0, plain = false } = {}) {
  const script = plain ? "script-src 'self'" : "script-src 'self' 'wasm-unsafe-eval'";
  const policy = `default-src 'self'; ${script}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const server = createServer(async (request, response) => {
    if (request.url === '/' || request.url === '/example') {
      return response.writeHead(302, { Location: '/example/' }).end();
    }
    const file = fileOf(request.url);
    const info = file && (await stat(file).catch(() => undefined));
    if (!info?.isFile()) return response.writeHead(404, { 'Content-Type': types[''] }).end('not found\n');
    response.writeHead(200, {
      'Content-Type': types[extname(file)],
      'Content-Length': info.size,
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-cache',
    });
    if (request.method === 'HEAD') return response.end();
    createReadStream(file).on('error', () => response.destroy()).pipe(response);
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/example/`,
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '8017' }, plain: { type: 'boolean' } } });
  try {
    const { url } = await serve({ port: Number(values.port), plain: values.plain });
    console.log(`The page is at ${url} (Ctrl-C ends the server).`);
  } catch (error) {
    console.error(`${error.message}: choose another port with --port`);
    process.exitCode = 1;
  }
}
