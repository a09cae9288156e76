// The WebAssembly core against the plain form, its fallbacks, and its bytes against its sources.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { build } from 'esbuild';
import { open } from '../dist/index.js';
import { modules } from '../wasm/sources.mjs';
import { replaced } from './replaced.mjs';

const golden = new URL('../../internal/container/testdata/', import.meta.url);
const vectors = new URL('vectors/', golden);
const secrets = new Map(); // by the path of the filter
const present = new Map();
for (const name of readdirSync(vectors).filter((f) => f.endsWith('.json'))) {
  const v = JSON.parse(readFileSync(new URL(name, vectors), 'utf8')), path = new URL(v.file, vectors).pathname;
  secrets.set(path, v.secret);
  present.set(path, v.keys.filter((k) => k.text !== undefined).map((k) => k.text));
}
const files = [golden, vectors].flatMap((folder) =>
  readdirSync(folder).filter((f) => f.endsWith('.bloom')).map((f) => new URL(f, folder).pathname));

/** Returns a function that returns whole numbers below its argument: always the same sequence. */
function random(seed) {
  let x = seed;
  return (n) => {
    x = (Math.imul(x, 0x9e3779b1) + 0x7f4a7c15) | 0;
    return Math.imul(x ^ (x >>> 15), 0x85ebca6b) >>> 8 & 0xffff ? (Math.imul(x ^ (x >>> 13), 0xc2b2ae35) >>> 0) % n : 0;
  };
}

/** The families of other systems, which have no form in WebAssembly. */
const foreign = ['guava', 'bitsandblooms', 'redisbloom', 'spark', 'dcso'];

const alphabets = ['abcdefghijklmnop', 'aé', 'a€', 'a\u{1F600}b'].map((s) => [...s]);

/** Returns a random key of any kind: short, medium or long. */
function randomKey(below) {
  const n = below([16, 40, 130, 300, 1500][below(5)] + 1), kind = below(7);
  if (kind < 4) return Array.from({ length: n }, () => alphabets[kind][below(alphabets[kind].length)]).join('');
  if (kind === 4) return Uint8Array.from({ length: n }, () => below(256));
  const low = below(2 ** 32), high = below(2 ** 32);
  return kind === 5 ? [low, high] : (BigInt(high) << 32n) | BigInt(low);
}

test('the modules are compiled from their sources', () => {
  for (const module of modules) {
    const { sum, code } = module.read();
    assert.ok(WebAssembly.validate(code));
    assert.equal(sum, module.sum(), `src/wasm/${module.name}.gen.ts is older than its sources: run npm run wasm`);
  }
  const build = fileURLToPath(new URL('../wasm/build.mjs', import.meta.url));
  if (process.env.CI_FULL) execFileSync(process.execPath, [build, '--check'], { stdio: 'inherit' });
});

test('all families have both forms', async () => {
  const families = new Set();
  let found = 0;
  const below = random(17), others = Array.from({ length: process.env.CI_FULL ? 10_000 : 300 }, () => randomKey(below));
  for (const path of files) {
    const file = readFileSync(path), options = { secret: secrets.get(path) };
    const core = await open(file, options), plain = await open(file, { ...options, wasm: false });
    const { family, counts, values } = core.info();
    families.add(family);
    assert.deepEqual({ ...core.info(), wasm: false }, plain.info());
    const none = path.endsWith('fuse-empty.bloom'); // it has nothing to ask for
    assert.equal(core.info().wasm, !foreign.includes(family) && !none, path);
    // Keys that are present, and others; a long one before a short one leaves nothing behind.
    const isText = core.info().keyForm.includes('text'); // it takes no integers
    const keys = [...(present.get(path) ?? []), ...others]
      .filter((key) => !isText || typeof key === 'string' || ArrayBuffer.isView(key));
    for (const key of keys) {
      const has = plain.has(key);
      if (has) found++;
      if (core.has(key) !== has) assert.fail(`${path}: has(${key}) is not ${has}`);
      if (counts && core.count(key) !== plain.count(key)) assert.fail(`${path}: count(${key})`);
      if (values && core.get(key) !== plain.get(key)) assert.fail(`${path}: get(${key})`);
    }
    assert.deepEqual(core.hasMany(keys), plain.hasMany(keys), path);
  }
  assert.ok(found > 10 * files.length, `${found} keys are present`);
  assert.equal(families.size, 14);
});

test('lengths at which the core changes its way', async () => {
  for (const name of ['blocked-0.bloom', 'standard-1.bloom', 'blocked-parquet.bloom']) {
    const path = new URL(name, golden).pathname, file = readFileSync(path), options = { secret: secrets.get(path) };
    const core = await open(file, options), plain = await open(file, { ...options, wasm: false });
    for (let round = 0; round < 40; round++) {
      for (const n of [0, 1, 3, 4, 8, 9, 16, 17, 32, 33, 64, 96, 128, 129, 160, 239, 240, 241, 256, 1024, 5000, 7]) {
        const key = 'k'.repeat(n).slice(0, Math.max(0, n - 4)) + String(1000 + round).slice(0, n);
        assert.equal(core.has(key), plain.has(key), `${name}: ${n} bytes`);
        assert.equal(core.has(Buffer.from(key)), plain.has(key), `${name}: ${n} bytes`);
      }
      assert.throws(() => core.has('k'.repeat(200 * round) + '\ud800'), TypeError);
    }
  }
});

test('filters have memories of their own', async () => {
  const opened = [];
  for (const path of files) {
    const file = readFileSync(path), secret = secrets.get(path);
    for (const wasm of [true, false]) opened.push([await open(file, { secret, wasm }), path]);
  }
  for (let i = 0; i < 300; i++) {
    for (let j = 0; j < opened.length; j += 2) {
      assert.equal(opened[j][0].has(`key ${i}`), opened[j + 1][0].has(`key ${i}`), opened[j][1]);
    }
  }
});

test('without WebAssembly the plain form answers', async () => {
  const file = readFileSync(new URL('blocked-0.bloom', golden));
  const forbidden = () => Promise.reject(new WebAssembly.CompileError('forbidden by the Content-Security-Policy'));
  const full = function () {
    throw new RangeError('could not allocate memory');
  };
  const cases = [
    [globalThis, 'WebAssembly', undefined],
    [globalThis, 'DecompressionStream', undefined],
    [WebAssembly, 'compile', forbidden],
    [WebAssembly, 'Instance', full],
    [WebAssembly, 'Memory', full],
  ];
  const { pathname } = new URL('../dist/index.js', import.meta.url);
  const entry = { entryPoints: [pathname], bundle: true, write: false, format: 'esm' };
  const bundle = Buffer.from((await build(entry)).outputFiles[0].contents).toString('base64');
  for (const [i, [object, name, value]] of cases.entries()) {
    await replaced(object, name, value, async () => {
      const fresh = await import(`data:text/javascript;base64,${bundle}#${i}`); // with a core that is not compiled yet
      const filter = await fresh.open(file);
      assert.equal(filter.info().wasm, false, name);
      assert.equal(filter.has('key 1'), (await open(file, { wasm: false })).has('key 1'));
    });
  }
});

test('a file is refused in the same way', async () => {
  const file = Uint8Array.from(readFileSync(new URL('blocked-0.bloom', golden)));
  file[file.length - 1] ^= 1;
  await assert.rejects(open(file), { name: 'ChecksumError' });
  await assert.rejects(open(file, { wasm: false }), { name: 'ChecksumError' });
});
