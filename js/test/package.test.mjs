// The package as users get it: installed from its tarball into an empty project, used by the programs of README.md and
// docs/.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pages, programs, project, runProgram, serveSite } from './readme.mjs';

const run = promisify(execFile);
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
const blocks = await programs('js');

let installed, site;
before(async () => {
  [installed, site] = await Promise.all([project(), serveSite()]);
});
after(async () => {
  await site?.close();
  await installed?.remove();
});

test('pages have programs, and the first two have five lines', () => {
  const first = blocks.filter(({ page }) => page === 'README.md').slice(0, 2);
  for (const { code } of first) assert.ok(code.trim().split('\n').length <= 5, code);
  assert.ok(blocks.length >= 10, `${blocks.length} programs`);
});

for (const { page, number, code, prints } of blocks) {
  test(`program ${number} of ${page}`, async () => {
    const name = `${page.replaceAll(/\W/g, '-')}-${number}.mjs`;
    assert.deepEqual(await runProgram([process.execPath], installed.folder, name, code, site.origin), prints);
  });
}

/** The anchor that GitHub gives a heading. */
const anchor = (heading) => heading.toLowerCase().replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-');

for (const page of pages) {
  test(`links of ${page}`, async () => {
    const repository = 'https://github.com/bloomery/bloomery/blob/main/', top = new URL('../../', import.meta.url);
    const text = await readFile(new URL(`js/${page}`, top), 'utf8');
    for (const [, link] of text.matchAll(/\]\(([^)]+)\)/g)) {
      if (page === 'README.md') assert.match(link, /^https:/, 'npm shows README.md without the repository');
      if (link.startsWith('https:') && !link.startsWith(repository)) continue;
      const to = new URL(link.replace(repository, top.href), new URL(`js/${page}`, top));
      const { hash } = to;
      to.hash = '';
      assert.ok(existsSync(to), `${link} is missing`);
      if (!hash) continue;
      const headings = (await readFile(to, 'utf8')).matchAll(/^#+ (.*)$/gm);
      assert.ok(Array.from(headings, ([, heading]) => anchor(heading)).includes(hash.slice(1)), `no heading ${link}`);
    }
  });
}

test('README.md installs this version from a clone, or a release', async () => {
  const text = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  const [, line] = /^npm install (.*)$/m.exec(text);
  assert.ok([`CLONE/js/bloomery-${version}.tgz`, 'bloomery'].includes(line), line);
});

test('the tarball has the built package and no sources', async () => {
  const licences = ['../LICENSE', '../../LICENSE'].map((path) => readFile(new URL(path, import.meta.url), 'utf8'));
  assert.equal(await licences[0], await licences[1], 'js/LICENSE is not that of the repository');
  const known = /^(dist\/.*\.(js|js\.map|d\.ts)|(dist\/cjs\/)?package\.json|(README|CHANGELOG)\.md|LICENSE(S\.txt)?)$/;
  assert.deepEqual(installed.files.filter((path) => !known.test(path)), []);
  const some = ['README.md', 'LICENSE', 'LICENSES.txt', 'dist/index.js', 'dist/index.d.ts', 'dist/plain.js', 'dist/core.js'];
  for (const path of some) {
    assert.ok(installed.files.includes(path), `${path} is missing`);
  }
  const manifest = await readFile(join(installed.folder, 'node_modules', 'bloomery', 'package.json'), 'utf8');
  const { exports, dependencies } = JSON.parse(manifest);
  assert.equal(dependencies, undefined);
  const entries = [
    '.', './plain', './core', './build', './delta', './follow', './exact', './value', './family/*', './hash/siphash',
    './hash/xxh64', './hash/uint64', './store/indexeddb', './store/cache', './package.json',
  ];
  assert.deepEqual(Object.keys(exports), entries);
  for (const [entry, conditions] of Object.entries(exports).slice(0, -1)) {
    // Tools that trace require, such as @vercel/nft, know these two conditions: what they take is what Node takes.
    assert.deepEqual(Object.keys(conditions), ['require', 'default'], entry);
    for (const files of Object.values(conditions)) {
      assert.deepEqual(Object.keys(files), ['types', 'default'], `${entry}: compilers take the first that fits`);
      for (const path of Object.values(files)) {
        assert.ok(installed.files.includes(path.slice(2).replace('*', 'fuse')), `${path} is missing`);
      }
    }
  }
});

test('declarations for TypeScript before 5.7', async () => {
  for (const path of installed.files.filter((path) => path.endsWith('.d.ts'))) {
    const text = await readFile(join(installed.folder, 'node_modules', 'bloomery', path), 'utf8');
    assert.doesNotMatch(text, /(Array|View)</, `${path}: arrays are not generic there`);
  }
});

test('npm pack builds, and says what to do without npm ci', async () => {
  const folder = join(installed.folder, 'checkout');
  await mkdir(folder);
  for (const name of ['package.json', 'build.mjs']) {
    await writeFile(join(folder, name), await readFile(new URL(`../${name}`, import.meta.url)));
  }
  await assert.rejects(run('npm', ['pack'], { cwd: folder }), /cannot be built: run "npm ci" in .*checkout/);
});

test('npm install warns of no install scripts', async () => {
  const manifest = await readFile(join(installed.folder, 'node_modules', 'bloomery', 'package.json'), 'utf8');
  const { scripts } = JSON.parse(manifest);
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) assert.equal(scripts[name], undefined, name);
});

test('the requests of a page without a bundler, as docs/bundling.md counts them', async () => {
  const dist = join(installed.folder, 'node_modules', 'bloomery', 'dist');
  const text = await readFile(new URL('../docs/bundling.md', import.meta.url), 'utf8');
  const rows = Array.from(text.matchAll(/^\| ((?:`[\w/]+\.js`(?:, )?)+) \| (\d+) \|$/gm));
  assert.equal(rows.length, 5);
  for (const [, cell, requests] of rows) {
    const paths = cell.match(/[\w/.]+/g).map((name) => join(dist, name)), modules = new Set(paths);
    for (const path of modules) {
      const code = await readFile(path, 'utf8');
      const imports = code.matchAll(/\b(?:from|import) ?\(?"(\.[^"]+)"/g);
      for (const [, from] of imports) modules.add(join(dirname(path), from));
    }
    assert.equal(modules.size, Number(requests), cell);
  }
});

/** What require gives: the copy in CommonJS, in all versions of Node. */
const required = `
const { readFileSync } = require('node:fs');
const { open, MagicError } = require('bloomery');
const { build } = require('bloomery/build');
const { fuse } = require('bloomery/family/fuse');
(async () => {
  const filter = await open(readFileSync('disposable.bloom'));
  console.log(filter.has('yopmail.com'), filter.has('gmail.com'), filter.info().wasm, fuse.name);
  console.log((await build(['a'], { spec: 'blocked' })).length);
  console.log(await open(new Uint8Array(64)).catch((e) => e instanceof MagicError && e.constructor.name));
  console.log(require.resolve('bloomery').includes('cjs'), await import('bloomery') === require('bloomery'));
})();
`;

for (const [name, args] of [['CommonJS', []], ['CommonJS without ES modules', ['--no-experimental-require-module']]]) {
  test(name, async () => {
    const program = [process.execPath, ...args];
    const lines = await runProgram(program, installed.folder, 'required.cjs', required, site.origin);
    assert.deepEqual(lines, ['true false true fuse', '192', 'MagicError', 'true false']);
  });
}

/** A program that uses the declarations; each line with an error on purpose says so. */
const typed = `
import { fetchFilter, fetchSharded, type Filter, type FilterInfo, FormatError, type Key, MagicError, NoSecretError,
  open, openSharded, SecretError, type ShardedFilter } from 'bloomery';
import { open as openPlain } from 'bloomery/plain';
import { open as openCore, type Family } from 'bloomery/core';
import { blocked } from 'bloomery/family/blocked';
import { fuse } from 'bloomery/family/fuse';
import { siphash } from 'bloomery/hash/siphash';
import { type ExactInfo, type ExactSet, openExact } from 'bloomery/exact';
import { type ExactFollower, follow, followExact, type Follower, followSharded, type FollowStore, ReleaseError,
  type ShardedFollower } from 'bloomery/follow';
import { patch } from 'bloomery/delta';
import { indexedDBStore } from 'bloomery/store/indexeddb';
import { keyOf } from 'bloomery/value';
import { cacheStore } from 'bloomery/store/cache';
import { build, type BuildOptions, type BuildProgress } from 'bloomery/build';

export async function use(file: Uint8Array): Promise<boolean[]> {
  const filter: Filter = await open(file, { verify: true, secret: '00112233445566778899aabbccddeeff' });
  const keys: Key[] = ['text', Uint8Array.of(1), 12n, [1, 2]];
  const info: FilterInfo = filter.info();
  const value: bigint | undefined = filter.get('x');
  const families: Family[] = [blocked, fuse];
  filter.has(keyOf(filter, '2026-11-29'));
  // @ts-expect-error a number is not a key
  filter.has(5);
  // @ts-expect-error nor is one in a list
  filter.hasMany([1.5]);
  // @ts-expect-error nor of a count
  filter.count(1.5);
  // @ts-expect-error nor of a value
  filter.get(1.5);
  // @ts-expect-error a key that may be missing is not a key
  filter.has(keys.length ? 'x' : undefined);
  // @ts-expect-error an ArrayBuffer is not a key
  filter.has(new ArrayBuffer(8));
  // @ts-expect-error core needs families
  openCore(file);
  // @ts-expect-error a secret is not a number
  open(file, { secret: 7 });
  const error: FormatError = new SecretError(\`\${info.spec} \${value} \${filter.count('x') + 1}\`);
  const sizes: number = filter.size + (await open(new Blob([]))).size + (await open(new Response(''))).size;
  const some: boolean = sizes > 0 && (await fetchFilter('/list.bloom')).has('x');
  const sharded: ShardedFilter = await fetchSharded(new URL('https://example.com/list.set/'));
  const found: boolean = await sharded.lookup('x'), counted: number = await sharded.lookupCount('x');
  // @ts-expect-error a promise always counts as true
  if (sharded.lookup('x')) return [];
  // @ts-expect-error the same
  const absent = sharded.lookup('x') ? 'there' : 'not there';
  // @ts-expect-error a promise is not a boolean
  const unsure: boolean = sharded.lookup('x');
  // @ts-expect-error nor are many
  const several: boolean[] = sharded.lookupMany(['x']);
  // @ts-expect-error a promise is not a number
  if (sharded.lookupCount('x') > 0) return [];
  // @ts-expect-error the queries of a set have other names
  sharded.has('x');
  // @ts-expect-error and so on
  sharded.get('x');
  // @ts-expect-error a filter has no lookup
  filter.lookup('x');
  // @ts-expect-error a filter is not a set
  const other: ShardedFilter = await fetchFilter('/list.set/');
  // @ts-expect-error a set is not a filter
  const another: Filter = await openSharded('{}', async () => file);
  try {
    await open(file);
  } catch (e) {
    if (!(e instanceof FormatError)) throw e;
    // one class is not another: each of these has its own type
    const what: string = e instanceof MagicError ? 'magic' : e instanceof NoSecretError ? e.message
      : e instanceof SecretError ? e.message : e.name;
    if (what === 'magic') return [];
  }
  const exact: ExactSet = await openExact(file, { hashes: [siphash], verify: false }), about: ExactInfo = exact.info();
  if (about.partitions ? exact.hasIn('x', 'y') : exact.has(12n)) return [];
  let store: FollowStore = cacheStore('list');
  store = indexedDBStore('list');
  store = { get: async () => undefined, put: async () => {} };
  const list = await follow('https://example.com/list/', { open, insecure: true, store });
  const listed: boolean = list.has('x');
  const followed: Follower = list;
  const set: ShardedFollower = await followSharded('/set/', { open: openSharded, keys: ['ed25519:'] });
  if (await set.lookup('x')) return [followed.has('x')];
  // @ts-expect-error a promise always counts as true
  if (set.lookup('x')) return [];
  // @ts-expect-error the queries of a set have other names
  set.has('x');
  // @ts-expect-error follow takes no sets
  follow('/set/', { open: openSharded, insecure: true });
  // @ts-expect-error followSharded takes no filters
  followSharded('/list/', { open, insecure: true });
  const revoked: ExactFollower = await followExact('/revoked/', {
    insecure: true, open: (file) => openExact(file, { verify: true }),
  });
  const current: ExactSet = revoked.filter, isRevoked: boolean = revoked.has(1n) || revoked.hasIn('x', 'y');
  followExact('/revoked/', { open: openExact, keys: ['ed25519:'] });
  if (isRevoked && current.has('x')) return [];
  // @ts-expect-error a filter has no partitions
  list.hasIn('x', 'y');
  // @ts-expect-error follow takes no exact sets
  follow('/revoked/', { open: openExact, insecure: true });
  // @ts-expect-error followExact takes no filters
  followExact('/list/', { open, insecure: true });
  // @ts-expect-error follow needs open
  follow('/list/', { insecure: true });
  const progress = ({ keys, done }: BuildProgress): number => keys + done;
  const how: BuildOptions = { spec: 'fuse', fpr: 0.01, seed: 7n, progress };
  const built: Uint8Array = await build(new Set<string | number>(['a', 5]), how);
  build(['a'], { family: 'fuse' });
  // @ts-expect-error guava is not built
  build([built], { spec: 'guava' });
  // @ts-expect-error a family is required
  build([built], { fpr: 0.01 });
  // @ts-expect-error spec and family are one option
  build([built], { spec: 'fuse', family: 'fuse' });
  // @ts-expect-error a rate is not a text
  build([built], { spec: 'fuse', fpr: '1%' });
  const patched: Uint8Array = await patch(file, list.bytes, { maxBytes: 9 });
  if (list.error instanceof ReleaseError && list.error.reason === 'expired' && listed) return [!patched];
  if (some && found && counted && unsure && several && absent && other && another) throw error;
  return [filter.has('x'), ...filter.hasMany(keys), (await openPlain(file)).has(error.message),
    (await openCore(file, { families, hashes: [siphash] })).has('y')];
}
`;

for (const [file, module, moduleResolution] of [
  ['use.ts', 'nodenext', 'nodenext'], ['use.ts', 'esnext', 'bundler'], ['use.cts', 'nodenext', 'nodenext'],
  ['use.cts', 'node16', 'node16'], // cannot require ES modules
]) {
  test(`TypeScript finds the declarations (${file}, ${module}, ${moduleResolution})`, async () => {
    const folder = join(installed.folder, `${file}-${module}`);
    await mkdir(folder);
    const compilerOptions = {
      strict: true, noEmit: true, target: 'es2022', lib: ['es2022', 'dom'], types: [], module, moduleResolution,
    };
    await writeFile(join(folder, file), typed);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
    const result = await run(process.execPath, [tsc, '-p', folder]).catch((error) => error);
    assert.equal(result.stdout, '');
  });
}
