// npm run example: serves this page on localhost, with the policy of a strict site.
//
//   npm run example -- [--port 8017] [--plain] [--publisher FOLDER [--key FILE]]
//
// --plain leaves 'wasm-unsafe-eval' out of the policy: the package then answers in plain JavaScript. --publisher serves
// a folder of `bloomery publish` at /published/, which a page follows: /example/follow/ filters, /example/revoked/ exact
// sets of certificates. --key is the file with its public key.

import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
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
  '.exact': 'application/octet-stream',
  '.json': 'application/json',
};

/** Returns the path of the file that a URL names; undefined if it is not in a served folder. */
function fileOf(url, publisher) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return undefined;
  }
  const published = /^\/published\/(release\.json|objects\/[0-9a-f]{64})$/.exec(path);
  if (published) return publisher && join(publisher, published[1]);
  if (path.endsWith('/')) path += 'index.html';
  const file = normalize(join(root, path));
  const served = folders.some((folder) => file.startsWith(join(root, folder) + sep));
  return served && !file.includes('\0') && extname(file) in types ? file : undefined;
}

/** Returns the page that follows a publisher: exact sets have another one than filters. */
async function pageOf(publisher) {
  if (!publisher) return '';
  const { kind } = JSON.parse(await readFile(join(publisher, 'release.json'), 'utf8'));
  return kind === 'exact' ? 'revoked/' : 'follow/';
}

/**
 * Serves js/example and js/dist on 127.0.0.1.
 *
 * @param {{port?: number, plain?: boolean, publisher?: string, key?: string}} [options] port 0 takes a free one; plain
 *   forbids WebAssembly; publisher is a folder of releases, and key the text of its public key
 * @returns {Promise<{url: string, page: string, close(): Promise<void>}>} url is that of the example, and
 *   page the part behind it of the page that follows the publisher
 */
export async function serve({ port = 0, plain = false, publisher, key } = {}) {
  const script = plain ? "script-src 'self'" : "script-src 'self' 'wasm-unsafe-eval'";
  const page = await pageOf(publisher);
  const policy = `default-src 'self'; ${script}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const server = createServer(async (request, response) => {
    if (request.url === '/' || request.url === '/example') {
      return response.writeHead(302, { Location: '/example/' }).end();
    }
    if (page && request.url === `/example/${page}publisher.js`) {
      const module = `export const url = '/published/';\nexport const keys = ${JSON.stringify(key ? [key] : [])};\n`;
      return response.writeHead(200, { 'Content-Type': types['.js'], 'Cache-Control': 'no-cache' }).end(module);
    }
    const file = fileOf(request.url, publisher);
    const info = file && (await stat(file).catch(() => undefined));
    if (!info?.isFile()) return response.writeHead(404, { 'Content-Type': types[''] }).end('not found\n');
    const tag = `"${info.mtimeMs}-${info.ino}-${info.size}"`;
    if (request.headers['if-none-match'] === tag) return response.writeHead(304, { ETag: tag }).end();
    response.writeHead(200, {
      ETag: tag,
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
    page,
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8017' },
      plain: { type: 'boolean' },
      publisher: { type: 'string' },
      key: { type: 'string' },
    },
  });
  const { port, plain, publisher } = values;
  try {
    const key = values.key && (await readFile(values.key, 'utf8')).trim();
    const { url, page } = await serve({ port: Number(port), plain, publisher, key });
    console.log(`The page is at ${url}${page} (Ctrl-C ends the server).`);
  } catch (error) {
    console.error(error.code === 'EADDRINUSE' ? `${error.message}: choose another port with --port` : error.message);
    process.exitCode = 1;
  }
}
