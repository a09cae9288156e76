// Builds dist/: each module of src/ minified by esbuild, and its declarations by tsc. Modules are not bundled, so that
// the bundler of a site leaves out what the site does not import.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
rmSync(at('dist'), { recursive: true, force: true });

await build({
  absWorkingDir: at('.'),
  entryPoints: readdirSync(at('src'), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name}`),
  outbase: 'src',
  outdir: 'dist',
  format: 'esm',
  target: 'es2022',
  // Not minifyWhitespace, which drops the marks of calls that have no effect: bundlers would keep what nobody imports.
  minifySyntax: true,
  minifyIdentifiers: true,
  logLevel: 'warning',
});

const tsc = at('node_modules/typescript/bin/tsc');
if (!existsSync(tsc)) throw new Error('TypeScript is missing: run npm ci first');
execFileSync(process.execPath, [tsc, '-p', at('tsconfig.json')], { stdio: 'inherit' });
