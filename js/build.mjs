// Builds dist/: each module of src/ without its types by esbuild, with a source map, and its declarations by tsc.
// Modules are not bundled, so that the bundler of a site leaves out what the site does not import. dist/cjs has the
// same as CommonJS, for programs that cannot load ES modules, such as Jest. It has declarations of its own: a compiler
// takes them for those of CommonJS.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const tsc = at('node_modules/typescript/bin/tsc');
const { build } = await import('esbuild').catch(() => ({}));
if (!build || !existsSync(tsc)) {
  console.error(`bloomery cannot be built: run "npm ci" in ${at('.')} first`);
  process.exit(1);
}
rmSync(at('dist'), { recursive: true, force: true });

const options = {
  absWorkingDir: at('.'),
  entryPoints: readdirSync(at('src'), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name}`),
  outbase: 'src',
  target: 'es2022',
  // Not minifyWhitespace, which drops the marks of calls that have no effect: bundlers would keep what nobody imports.
  // Not minifyIdentifiers: consoles and stack traces show the names of classes and functions.
  minifySyntax: true,
  logLevel: 'warning',
};
await build({ ...options, outdir: 'dist', format: 'esm', sourcemap: true });
await build({ ...options, outdir: 'dist/cjs', format: 'cjs' });
writeFileSync(at('dist/cjs/package.json'), '{ "type": "commonjs" }\n');

execFileSync(process.execPath, [tsc, '-p', at('tsconfig.json')], { stdio: 'inherit' });
for (const name of readdirSync(at('dist'), { recursive: true }).filter((name) => name.endsWith('.d.ts'))) {
  // TypeScript before 5.7 does not know that arrays are generic.
  const text = readFileSync(at(`dist/${name}`), 'utf8').replaceAll(/\b(\w+Array|DataView)<ArrayBuffer(?:Like)?>/g, '$1');
  for (const folder of ['dist', 'dist/cjs']) writeFileSync(at(`${folder}/${name}`), text);
}
