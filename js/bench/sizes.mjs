// Sizes of what a page downloads: bundled by esbuild, minified, and compressed by gzip.

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Returns the sizes in bytes of a module that has this text. */
async function sizeOf(name, contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: here }, bundle: true, minify: true, write: false, format: 'esm', target: 'es2022',
    platform: 'browser', logLevel: 'error', define: { global: 'globalThis' },
  });
  const [{ contents: bytes }] = outputFiles;
  return { name, minified: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
}

/** Returns the sizes of the entries of the package, of its functions alone where that is less, and of the peers. */
export async function sizes() {
  const families = readdirSync(new URL('../dist/family', import.meta.url)).filter((f) => f.endsWith('.js')).sort();
  const rows = [
    sizeOf('bloomery, open and fetchFilter', `export { open, fetchFilter } from '../dist/index.js'`),
    sizeOf('bloomery, open', `export { open } from '../dist/index.js'`),
    sizeOf('bloomery/plain, open and fetchFilter', `export { open, fetchFilter } from '../dist/plain.js'`),
    sizeOf('bloomery/plain, open', `export { open } from '../dist/plain.js'`),
    ...families.map((f) => sizeOf(
      `bloomery/core, open with ${f.slice(0, -3)}`,
      `export { open } from '../dist/core.js'; export * from '../dist/family/${f}'`,
    )),
    sizeOf('bloom-filters', `export { BloomFilter } from 'bloom-filters'`),
    sizeOf('bloomfilter', `export { BloomFilter } from 'bloomfilter'`),
  ];
  return Promise.all(rows);
}
