// Arguments of the public functions: each wrong one is an error that says what is wanted and what came.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { build } from '../dist/build.js';
import * as core from '../dist/core.js';
import { patch } from '../dist/delta.js';
import { openExact } from '../dist/exact.js';
import { blocked } from '../dist/family/blocked.js';
import { follow, followExact, followSharded } from '../dist/follow.js';
import * as index from '../dist/index.js';
import {
  ChecksumError, CorruptError, FetchError, MagicError, ManifestError, ShardError, TooLargeError,
} from '../dist/plain.js';
import * as plain from '../dist/plain.js';
import { golden } from './damage.mjs';

const file = golden['blocked-0.bloom'], key = 'ed25519:i0BBvL7dh8qvLZ0wX7tVjIRzrqbHx0w4fVaLwDD72FA=';
const exact = readFileSync(new URL('days.exact', import.meta.url)).subarray(0, 800);

/** Checks that a call rejects with TypeError whose message begins with a name and says what came. */
async function refused(call, name, came) {
  await assert.rejects(call, (e) => {
    assert.ok(e instanceof TypeError, e.stack);
    assert.ok(e.message.startsWith(`${name}: want `), e.message);
    assert.ok(e.message.endsWith(`and got ${came}`), e.message);
    return true;
  });
}

const numbers = [[NaN, 'NaN'], [-1, '-1'], ['5', '"5"'], [null, 'null'], [{}, 'Object'], [5n, '5']];
const opening = { verify: [['no', '"no"'], [1, '1'], [null, 'null']], secret: [[7, '7'], [null, 'null']] };
const loading = {
  maxBytes: [...numbers, [0, '0']], retries: [...numbers, [0.5, '0.5']], timeout: [...numbers, [0, '0']],
  signal: [[true, 'true'], [new AbortController(), 'AbortController']], fetch: [['GET', '"GET"']],
};
const fetching = { ...loading, progress: [[5, '5']], sha256: [['abc', '"abc"'], [new Uint8Array(32), 'Uint8Array']] };
const polling = {
  ...loading, interval: [...numbers, [0, '0']], minRate: [...numbers, [0, '0']], keys: [[key, `"${key.slice(0, 40)}"`],
    [[5], 'Array']],
  insecure: [['yes', '"yes"'], [0, '0']], store: [[new Map().keys(), 'Map Iterator'], [{ get() {} }, 'Object']],
  name: [['', '""'], [5, '5']], onUpdate: [[5, '5']], onError: [[{}, 'Object']],
};
const families = [blocked];
/** Functions, what they need, and their options. */
const calls = [
  ['open', (o) => plain.open(file, o), {}, opening],
  ['open', (o) => index.open(file, o), {}, { ...opening, wasm: [['yes', '"yes"']] }],
  ['open', (o) => core.open(file, o), { families }, {
    ...opening, families: [[undefined, 'undefined'], [blocked, 'Object'], [[undefined], 'Array']],
    hashes: [[{}, 'Object'], [[5], 'Array']],
  }],
  ['openSharded', (o) => plain.openSharded('{}', async () => file, o), {}, opening],
  ['openSharded', (o) => index.openSharded('{}', async () => file, o), {}, opening],
  ['openSharded', (o) => core.openSharded('{}', async () => file, o), { families }, opening],
  ['openExact', (o) => openExact(exact, o), {}, { ...opening, hashes: [[{}, 'Object'], [[5], 'Array']] }],
  ['patch', (o) => patch(file, file, o), {}, { maxBytes: loading.maxBytes }],
  ['fetchFilter', (o) => plain.fetchFilter('http://localhost:1/x', o), {}, fetching],
  ['fetchFilter', (o) => index.fetchFilter('http://localhost:1/x', o), {}, fetching],
  ['fetchFilter', (o) => core.fetchFilter('http://localhost:1/x', o), { families }, fetching],
  ['fetchSharded', (o) => plain.fetchSharded('http://localhost:1/', o), {}, fetching],
  ['fetchSharded', (o) => index.fetchSharded('http://localhost:1/', o), {}, fetching],
  ['fetchSharded', (o) => core.fetchSharded('http://localhost:1/', o), { families }, fetching],
  ['follow', (o) => follow('http://localhost:1/', o), { open: plain.open, keys: [key] }, {
    ...polling, open: [[undefined, 'undefined'], [file, 'Uint8Array']],
  }],
  ['followSharded', (o) => followSharded('http://localhost:1/', o), { open: plain.openSharded, keys: [key] }, {
    ...polling, open: [[undefined, 'undefined']],
  }],
  ['followExact', (o) => followExact('http://localhost:1/', o), { open: openExact, keys: [key] }, {
    ...polling, open: [[undefined, 'undefined']],
  }],
];

for (const [i, [name, call, good, wrong]] of calls.entries()) {
  test(`${name} (${i})`, async () => {
    for (const [option, values] of Object.entries(wrong)) {
      for (const [value, came] of values) await refused(() => call({ ...good, [option]: value }), option, came);
    }
    for (const [value, came] of [[null, 'null'], ['x', '"x"'], [5, '5']]) {
      await refused(() => call(value), 'options', came);
    }
  });
}

test('options that a prototype has are ignored', async () => {
  const wrong = Object.assign(Object.create({ verify: 'no', maxBytes: 1, wasm: 5, sha256: 'x', hashes: 5 }), {});
  for (const { open } of [plain, index]) assert.ok((await open(file, wrong)).has instanceof Function);
  assert.ok(await core.open(file, Object.assign(Object.create(wrong), { families })));
  await refused(() => core.open(file, Object.create({ families })), 'families', 'undefined');
  assert.ok(await openExact(readFileSync(new URL('days.exact', import.meta.url)), wrong));
  for (const { fetchFilter } of [plain, index]) assert.ok(await fetchFilter(`${base}file`, wrong));
  await assert.rejects(patch(file, file, wrong), (e) => !(e instanceof TooLargeError));
  for (const [call, open] of [[follow, plain.open], [followExact, openExact], [followSharded, plain.openSharded]]) {
    const inherited = Object.create({ insecure: true, open, fetch: () => assert.fail('used') });
    await refused(() => call(base, Object.assign(inherited, { keys: [key] })), 'open', 'undefined');
    await refused(() => call(base, Object.assign(Object.create({ insecure: true }), { open })), 'keys', 'undefined');
  }
  await refused(() => build([], Object.create({ spec: 'fuse' })), 'spec', 'undefined');
  const plainBuild = await build(['a'], { spec: 'fuse' });
  const inherited = Object.create({ fpr: 1e-6, seed: 7, secret: '00'.repeat(16), signal: 5, progress: 5 });
  assert.deepEqual(await build(['a'], Object.assign(inherited, { spec: 'fuse' })), plainBuild);
});

test('a polluted Object.prototype', async () => {
  const polluted = { verify: false, secret: '00'.repeat(16), fpr: 1e-6, seed: 7, hashes: [], families: 5, wasm: false };
  const damaged = Buffer.from(file), set = new URL('../../shard/testdata/sets/blocked/', import.meta.url);
  damaged[damaged.length - 1] ^= 1;
  const read = async (name) => readFileSync(new URL(name, set)), built = await build(['a'], { spec: 'fuse' });
  const bad = async (name) => Buffer.from(await read(name)).fill(1, 200);
  Object.assign(Object.prototype, polluted);
  try {
    for (const options of [undefined, {}]) {
      for (const { open } of [plain, index]) await assert.rejects(open(damaged, options), ChecksumError);
      await assert.rejects(core.open(damaged, { families, ...options }), ChecksumError);
      const sharded = await plain.openSharded(await read('manifest.json'), bad, options);
      await assert.rejects(sharded.lookup('a'), ShardError);
    }
    assert.equal((await index.open(file)).info().wasm, true);
    assert.deepEqual(await build(['a'], { spec: 'fuse' }), built);
  } finally {
    for (const name of Object.keys(polluted)) delete Object.prototype[name];
  }
});

test('keys of publishers', async () => {
  const options = { open: plain.open };
  await refused(() => follow('http://localhost:1/', options), 'keys', 'undefined');
  await refused(() => follow('http://localhost:1/', { ...options, keys: [] }), 'keys', 'Array');
  await refused(() => follow('http://localhost:1/', { ...options, keys: [key], insecure: true }), 'insecure', 'true');
  // The text may be a secret key by mistake: the error does not show it.
  await assert.rejects(follow('http://localhost:1/', { ...options, keys: ['secret'] }), (e) =>
    e instanceof TypeError && /^keys: want ed25519/.test(e.message) && !e.message.includes('secret'));
});

test('options that do not exist', async () => {
  const typos = {
    verfy: 'verify', secert: 'secret', maxbytes: 'maxBytes', timout: 'timeout', retrys: 'retries', key: 'keys',
    onupdate: 'onUpdate', progess: 'progress',
  };
  for (const [name, call, good, known] of calls) {
    for (const typo of [...Object.keys(typos), 'constructor', '__proto__', 'x-y']) {
      const wrong = { ...good };
      Object.defineProperty(wrong, typo, { value: 5, enumerable: true });
      await assert.rejects(call(wrong), (e) => {
        assert.ok(e instanceof TypeError && e.message.startsWith('options: want '), `${name}: ${e}`);
        assert.ok(e.message.endsWith(`, and got "${typo}"`), e.message);
        const nearest = typos[typo] in known && typos[typo];
        assert.ok(!nearest || e.message.startsWith(`options: want ${nearest},`) || name === 'patch', e.message);
        return true;
      });
    }
    await assert.rejects(call({ ...good, verfy: undefined }), /^TypeError: options: want /);
  }
  await refused(() => build(['a'], { spec: 'fuse', fp: 0.1 }), 'options', '"fp"');
});

test('options that are undefined count as absent', async () => {
  const absent = (known) => Object.fromEntries(Object.keys(known).map((name) => [name, undefined]));
  for (const { open } of [plain, index]) assert.ok(await open(file, absent(opening)));
  assert.ok(await plain.fetchFilter(`${base}file`, absent({ ...opening, ...fetching })));
  const built = { ...absent({ fpr: 1, seed: 1, secret: 1, wasm: 1, progress: 1, signal: 1, family: 1 }), spec: 'fuse' };
  assert.deepEqual(await build(['a'], built), await build(['a'], { spec: 'fuse' }));
});

test('files, URLs and keys', async () => {
  for (const open of [plain.open, openExact]) {
    await refused(() => open(undefined), 'file', 'undefined');
    await refused(() => open('text'), 'file', '"text"');
    await refused(() => open(Promise.resolve(file)), 'file', 'Promise');
    await refused(() => open(new Map()), 'file', 'Map');
  }
  await refused(() => patch(file, 'delta'), 'file', '"delta"');
  await refused(() => patch(undefined, file), 'file', 'undefined');
  await refused(() => plain.openSharded({}, async () => file), 'manifest', 'Object');
  await refused(() => plain.openSharded('{}', 'folder'), 'load', '"folder"');
  for (const call of [plain.fetchFilter, (url) => follow(url, { open: plain.open, keys: [key] })]) {
    await refused(() => call(undefined), 'url', 'undefined');
    await refused(() => call(5), 'url', '5');
    await assert.rejects(call('list.bloom'), /^TypeError: url: "list\.bloom" is not an absolute URL/);
  }
  const filter = await plain.open(file);
  assert.throws(() => filter.has(5), /^TypeError: key: want a string, .* and got 5$/);
  assert.throws(() => filter.has(undefined), /and got undefined$/);
  for (const [keys, came] of [['a string', '"a string"'], [undefined, 'undefined'], [5, '5'], [{}, 'Object']]) {
    const message = new RegExp(`^keys: want .* and got ${came}$`);
    assert.throws(() => filter.hasMany(keys), { name: 'TypeError', message });
  }
  const set = JSON.parse(readFileSync(new URL('../../shard/testdata/sets/blocked/manifest.json', import.meta.url)));
  const sharded = await plain.openSharded(JSON.stringify(set), async () => 'text');
  await refused(() => sharded.lookupMany('a string'), 'keys', '"a string"');
  await assert.rejects(sharded.lookup('a'), /a shard: want a Uint8Array, and got "text"/);
});

const page = '<!doctype html><title>Not found</title>';
const server = createServer((request, response) => {
  const path = request.url;
  if (path.startsWith('/silent')) return response.write(file.subarray(0, 100));
  if (path.startsWith('/drip')) {
    const timer = setInterval(() => response.write(file.subarray(0, 1)), 10);
    return response.on('close', () => clearInterval(timer));
  }
  if (path === '/file') return response.end(file);
  return response.setHeader('content-type', 'text/html').end(page);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${server.address().port}/`;
after(() => {
  server.closeAllConnections();
  server.close();
});

test('a web page instead of a file', async () => {
  const { fetchFilter, fetchSharded } = plain;
  for (const [load, path, error] of [[fetchFilter, 'list.bloom', MagicError], [fetchSharded, 'list/', ManifestError],
    [fetchSharded, 'list.json', ManifestError]]) {
    await assert.rejects(load(base + path), (e) => {
      assert.ok(e instanceof error, e.stack);
      assert.ok(e.message.startsWith(base + path), e.message);
      assert.match(e.message, /content type text\/html: a web page came instead$/);
      return true;
    });
  }
  await assert.rejects(plain.open(Buffer.from(page)), /it begins with "<!doctype html><"/);
  await assert.rejects(openExact(Buffer.from(page)), /it begins with "<!doctype html><"/);
});

test('fetchFilter: SHA-256', async () => {
  const sum = createHash('sha256').update(file).digest('hex');
  for (const sha256 of [sum, sum.toUpperCase()]) {
    assert.ok(await plain.fetchFilter(`${base}file`, { sha256 }));
  }
  const other = sum.replace(/^./, (c) => (c === '0' ? '1' : '0'));
  await assert.rejects(plain.fetchFilter(`${base}file`, { sha256: other }), (e) =>
    e instanceof CorruptError && e.message.includes(`its SHA-256 is ${sum}, not ${other}`));
});

test('fetchFilter: silence, and a drip that never is silent', async () => {
  const options = { timeout: 200, retries: 0 };
  await assert.rejects(plain.fetchFilter(`${base}silent`, options), (e) =>
    e instanceof FetchError && /no byte came for 200 ms/.test(e.message));
  const start = performance.now();
  await assert.rejects(plain.fetchSharded(`${base}drip/`, { ...options, retries: 1 }), (e) =>
    e instanceof FetchError && /less than 1 KiB\/s/.test(e.message));
  assert.ok(performance.now() - start >= 790, 'it gives a slow server twice the timeout');
});
