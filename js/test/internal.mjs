// Internal functions of the sources, for tests: bundled in memory, because dist/ exports only what is public.

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const modules = [
  'wide', 'spec', 'crc32c', 'header', 'key', 'sections', 'filter', 'families', 'sharded', 'manifest', 'sha256',
  'errors',
  'fetch', 'hash/xxh3', 'hash/siphash', 'hash/xxh64', 'hash/sip', 'hash/xxh64sum', 'hash/murmur3', 'hash/murmur64a',
  'hash/murmur3x86', 'family/dcso', 'hash/uint64', 'bits', 'double', 'release', 'build/sorted', 'build/search',
  'build/standard', 'build/blocked', 'build/fuse', 'build/ribbon', 'wasm/builder', 'wasm/ribbon',
];

const { outputFiles } = await build({
  stdin: {
    contents: modules.map((m) => `export * from './${m}.js';`).join('\n'),
    resolveDir: fileURLToPath(new URL('../src', import.meta.url)),
    loader: 'ts',
  },
  bundle: true,
  write: false,
  format: 'esm',
  target: 'es2022',
});

const module = Buffer.from(outputFiles[0].contents).toString('base64');
export const internal = await import(`data:text/javascript;base64,${module}`);
