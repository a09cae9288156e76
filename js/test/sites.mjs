// A site with a page and a worker, bundled by Vite, webpack and esbuild, in Chromium under strict policies. Part of
// npm run test:bundlers.

import assert from 'node:assert/strict';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { chromiumPath, launch, watch } from './browser/chromium.mjs';
import { policies } from './browser/server.mjs';

/** What page and worker do. The result is text, so that it shows in an error. */
const answers = `
import { fetchFilter } from 'bloomery';
import { build } from 'bloomery/build';
import { open } from 'bloomery/core';
import { ribbon } from 'bloomery/family/ribbon';
import { cacheStore } from 'bloomery/store/cache';
import { indexedDBStore } from 'bloomery/store/indexeddb';

export async function answers(name) {
  const filter = await fetchFilter(new URL('/disposable.bloom', location.origin));
  const [file, same] = await Promise.all([undefined, false].map((wasm) =>
    build(Array.from({ length: 20_000 }, (_, i) => i ? 'key ' + i : 'alder'), { family: 'ribbon', fpr: 1e-6, wasm })));
  if (String(file) !== String(same)) throw new Error('WebAssembly builds another file');
  const built = await open(file, { families: [ribbon] });
  const kept = [];
  for (const store of [indexedDBStore(name), cacheStore(name)]) {
    await store.put('file', Uint8Array.of(7));
    kept.push((await store.get('file'))[0]);
  }
  return JSON.stringify([filter.has('yopmail.com'), filter.has('gmail.com'), filter.info().wasm, built.hasMany(['alder',
    'birch']), kept]);
}
`;
const sources = {
  'answers.js': answers,
  'worker.js': `
import { answers } from './answers.js';
answers('worker').catch(String).then((text) => postMessage(text));
`,
  'page.js': `
import { answers } from './answers.js';
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
worker.onmessage = ({ data }) => (globalThis.inWorker = data);
worker.onerror = (event) => (globalThis.inWorker = event.message ?? 'the worker did not start');
answers('page').catch(String).then((text) => (globalThis.inPage = text));
`,
  'index.html': '<!doctype html><html lang="en"><title>Site</title><script type="module" src="./page.js"></script>\n',
  'vite.config.mjs': 'export default { base: "./", build: { target: "es2022" }, worker: { format: "es" } };\n',
  'webpack.config.mjs': `export default {
  mode: 'production', entry: { page: './page.js' }, target: ['web', 'es2022'], performance: { hints: false },
  output: { path: import.meta.dirname + '/webpack', filename: '[name].js' },
};
`,
};

/** Commands that write a site to the folder of their name, in the folder of the sources. */
const bundlers = {
  vite: 'build --outDir vite --logLevel error',
  webpack: '--config webpack.config.mjs',
  esbuild: 'page.js worker.js --bundle --minify --format=esm --outdir=esbuild --log-level=error',
};

const types = { '.html': 'text/html', '.js': 'text/javascript' };

/** Serves a folder with a Content-Security-Policy. */
async function serve(folder, policy) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname.replace(/\/$/, '/index.html');
    const body = await readFile(join(folder, path)).catch(() => undefined);
    if (!body) return response.writeHead(path === '/favicon.ico' ? 204 : 404).end();
    const type = types[extname(path)] ?? 'application/octet-stream';
    response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy }).end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/**
 * Bundles the site in a project that has the package and the bundlers, and opens it under each policy.
 *
 * @param {string} folder that of the project, with disposable.bloom
 * @param {(name: string, args: string, cwd: string) => Promise<unknown>} bundle runs a bundler in a folder
 */
export async function testSites(folder, bundle) {
  try {
    chromiumPath();
  } catch (error) {
    return console.log(`NOT RUN: sites in Chromium: ${error.message}`);
  }
  const site = join(folder, 'site'), browser = await launch();
  try {
    await mkdir(site);
    for (const [name, text] of Object.entries(sources)) await writeFile(join(site, name), text);
    for (const [name, args] of Object.entries(bundlers)) {
      await bundle(name, args, site);
      const built = join(site, name);
      if (name !== 'vite') await cp(join(site, 'index.html'), join(built, 'index.html'));
      await cp(join(folder, 'disposable.bloom'), join(built, 'disposable.bloom'));
      for (const [policy, text] of Object.entries(policies)) {
        const server = await serve(built, text), page = await browser.newPage(), problems = watch(page);
        await page.goto(server.url);
        await page.waitForFunction(() => globalThis.inPage && globalThis.inWorker);
        const want = JSON.stringify([true, false, policy === 'wasm', [true, false], [7, 7]]);
        const got = await page.evaluate(() => [globalThis.inPage, globalThis.inWorker]);
        assert.deepEqual(got, [want, want], `${name}, ${text}`);
        assert.deepEqual(problems, [], `${name}, ${text}`);
        await page.close();
        server.close();
      }
      console.log(`${name}: page and worker answer under strict policies, with and without WebAssembly`);
    }
  } finally {
    await browser.close();
  }
}
