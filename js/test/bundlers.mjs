// npm run test:bundlers: the package from its tarball in Jest, in its default mode, in a CommonJS server that
// @vercel/nft has traced, and in bundles of Vite, webpack and esbuild, which run in Node, and in Chromium under strict
// policies; its declarations in TypeScript 5.0, and publint. It installs them from the npm registry (130 MB). Not part
// of npm test.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { project } from './readme.mjs';
import { testSites } from './sites.mjs';

const run = promisify(execFile);
const versions = { jest: '30.5.2', vite: '8.4.0', webpack: '5.113.0', 'webpack-cli': '7.3.1', esbuild: '0.28.2',
  '@vercel/nft': '1.11.5', publint: '0.3.25', typescript: '5.0.4' };

/** Prints what the package answers. */
const program = `
import { open } from 'bloomery';
import { build } from 'bloomery/build';
import { open as openSome } from 'bloomery/core';
import { fuse } from 'bloomery/family/fuse';
const file = await build(['alder', 'birch'], { spec: 'fuse', fpr: 1e-6 }), filter = await open(file);
console.log(filter.has('birch'), filter.has('cedar'), filter.info().wasm);
console.log((await openSome(file, { families: [fuse] })).has('alder'), await open(new Blob([])).catch((e) => e.name));
`;
const prints = ['true false true', 'true TruncatedError'];

/** The entries of the package. */
const { exports } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
const entries = Object.keys(exports).map((path) => path.replace('.', 'bloomery').replace('*', 'fuse'));

/** What Jest runs: without ES modules, as it is installed. */
const suite = `
const { readFileSync } = require('node:fs');
const { open, MagicError } = require('bloomery');
const { build } = require('bloomery/build');
test.each(${JSON.stringify(entries)})('%s', (entry) => expect(Object.keys(require(entry))).not.toEqual([]));
test('bloomery', async () => {
  const filter = await open(readFileSync('disposable.bloom'));
  expect([filter.has('yopmail.com'), filter.has('gmail.com')]).toEqual([true, false]);
  expect((await open(await build(['alder'], { spec: 'ribbon' }))).has('alder')).toBe(true);
  await expect(open(Buffer.alloc(64))).rejects.toThrow(MagicError);
});
`;

/** A CommonJS server, and what copies it with the files that it needs to the folder traced. */
const server = `
const { build } = require('bloomery/build');
const { open } = require('bloomery');
build(['alder'], { spec: 'fuse' }).then(open).then((filter) => console.log(filter.has('alder')));
`;
const trace = `
import { cp } from 'node:fs/promises';
import { nodeFileTrace } from '@vercel/nft';
for (const file of (await nodeFileTrace(['server.cjs'])).fileList) await cp(file, 'traced/' + file);
`;

const compiling = {
  compilerOptions: { strict: true, noEmit: true, target: 'es2022', lib: ['es2022', 'dom'], types: [] },
  files: ['entries.ts'],
};

/** Commands that write a bundle of program.mjs: of a package in node_modules/.bin, to a file. */
const bundlers = {
  vite: ['build --ssr program.mjs --outDir vite --logLevel error --config vite.config.mjs', 'vite/program.js'],
  webpack: ['--config webpack.config.mjs', 'webpack/program.mjs'],
  esbuild: ['program.mjs --bundle --minify --format=esm --outfile=esbuild/program.mjs --log-level=error',
    'esbuild/program.mjs'],
};
const configs = {
  'vite.config.mjs': 'export default { ssr: { noExternal: true }, build: { target: "es2022", minify: true } };',
  'webpack.config.mjs': `export default {
    mode: 'production', entry: './program.mjs', target: ['web', 'es2022'], experiments: { outputModule: true },
    output: { path: import.meta.dirname + '/webpack', filename: 'program.mjs', module: true, chunkFormat: 'module' },
  };`,
};

const { folder, remove } = await project();
try {
  const bin = (name) => join(folder, 'node_modules', '.bin', name), options = { cwd: folder, timeout: 300_000 };
  const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  try {
    await run('npm', ['install', '--no-audit', '--no-fund', ...packages], options);
  } catch (error) {
    console.log(`NOT RUN: the bundlers could not be installed: ${error.stderr || error}`);
    process.exit();
  }
  for (const [name, text] of Object.entries({
    ...configs, 'program.mjs': program, 'server.cjs': server, 'trace.mjs': trace,
    'tsconfig.json': JSON.stringify(compiling),
    'entries.ts': entries.slice(0, -1).map((entry, i) => `import * as _${i} from '${entry}';\n`).join(''),
  })) {
    await writeFile(join(folder, name), text);
  }
  for (const [name, [args, bundle]] of Object.entries(bundlers)) {
    await run(bin(name), args.split(' '), options);
    const { stdout } = await run(process.execPath, [bundle], options);
    assert.deepEqual(stdout.trim().split('\n'), prints, name);
    console.log(`${name} ${versions[name]}: the bundle answers`);
  }
  await run(process.execPath, ['trace.mjs'], options);
  const traced = await run(process.execPath, ['server.cjs'], { ...options, cwd: join(folder, 'traced') });
  assert.equal(traced.stdout, 'true\n');
  console.log(`@vercel/nft ${versions['@vercel/nft']}: a traced server answers`);
  for (const how of [['nodenext'], ['esnext', '--moduleResolution', 'bundler']]) {
    const result = await run(bin('tsc'), ['-p', '.', '--module', ...how], options).catch((error) => error);
    assert.equal(result.stdout, '');
  }
  console.log(`typescript ${versions.typescript}: compiles the declarations`);
  await run(bin('publint'), ['run', '--strict', 'node_modules/bloomery'], options);
  console.log(`publint ${versions.publint}: all good`);
  await mkdir(join(folder, 'jest'));
  await writeFile(join(folder, 'jest', 'package.json'), '{ "type": "commonjs" }\n');
  await writeFile(join(folder, 'jest', 'bloomery.test.js'), suite);
  const { stderr } = await run(bin('jest'), ['--rootDir', '.', 'jest'], options);
  assert.match(stderr, new RegExp(`Tests: +${entries.length + 1} passed`));
  console.log(`jest ${versions.jest}: require answers`);
  await testSites(folder, (name, args, cwd) => run(bin(name), args.split(' '), { ...options, cwd }));
} finally {
  await remove();
}
