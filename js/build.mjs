// Builds dist/: each entry bundled by esbuild, with the code that entries share in chunks, and declarations by tsc.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
rmSync(at('dist'), { recursive: true, force: true });

const families = readdirSync(at('src/family')).map((name) => `family/${name.replace(/\.ts$/, '')}`);
const entries = ['index', 'plain', 'core', 'hash/siphash', 'hash/xxh64', ...families];
await build({
  absWorkingDir: at('.'),
  entryPoints: entries.map((name) => `src/${name}.ts`),
  outbase: 'src',
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  keepNames: false,
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
});

const tsc = at('node_modules/typescript/bin/tsc');
if (!existsSync(tsc)) throw new Error('TypeScript is missing: run npm ci first');
execFileSync(process.execPath, [tsc, '-p', at('tsconfig.json')], { stdio: 'inherit' });
