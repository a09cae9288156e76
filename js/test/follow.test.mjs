// follow against publishers that serve well and badly: the filter held stays, and the error says why.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { follow } from '../dist/follow.js';
import {
  CorruptError, FetchError, Filter, MagicError, open, ShardedFilter, ShardError, TooLargeError,
} from '../dist/plain.js';
import { forge, golden } from './damage.mjs';
import { because, closing, following, followingSharded, is, refuses } from './following.mjs';
import { hashOf, newKey, Publisher, writeRelease } from './publisher.mjs';

const base = golden['blocked-0.bloom'];
/** Version i of a filter: each has other bits. */
const version = (i) => forge(base, (_, bytes) => (bytes[bytes.length - 1 - i] ^= 0x5a));

async function publisher(options) {
  const p = await new Publisher(options).listen();
  p.publish(version(0));
  closing.push(p);
  return p;
}

test('a new release', async () => {
  const p = await publisher(), updates = [];
  const f = await following(p, { onUpdate: (update) => updates.push(update) });
  assert.ok(f.filter instanceof Filter);
  assert.deepEqual(f.bytes, version(0));
  assert.equal(f.release.release, 1);
  assert.deepEqual(p.log, ['release.json', `objects/${hashOf(version(0))}`]);
  p.log.length = 0;
  assert.equal(await f.poll(), false);
  assert.deepEqual(p.log, ['release.json'], 'nothing has changed');
  p.publish(version(1));
  const before = f.filter, loaded = f.loaded;
  assert.equal(await f.poll(), true);
  assert.notEqual(f.filter, before);
  assert.deepEqual(f.bytes, version(1));
  assert.equal(f.release.release, 2);
  assert.equal(f.loaded - loaded, p.release.length + base.length);
  assert.equal(updates.length, 2);
  assert.deepEqual(updates[1], { release: f.release, delta: false, failure: undefined, loaded: f.loaded - loaded });
  assert.equal(typeof f.has('a'), 'boolean');
  // The same bytes with a later time of expiry, and old content with a new number.
  p.publish(version(1), { release: 2, expires: '2999-01-01T00:00:00Z' });
  assert.equal(await f.poll(), false);
  assert.equal(f.release.expires, '2999-01-01T00:00:00Z');
  p.publish(version(0), { release: 9 });
  assert.equal(await f.poll(), true);
  assert.deepEqual(f.bytes, version(0));
});

test('it polls by itself', async () => {
  const p = await publisher();
  const updated = new Promise((resolve) => {
    following(p, { interval: 20, onUpdate: ({ release }) => release.release > 1 && resolve(release) })
      .then(() => p.publish(version(1)));
  });
  assert.equal((await updated).release, 2);
});

test('the URL of the folder or of its release.json', async () => {
  const p = await publisher();
  for (const url of [p.url, p.url.slice(0, -1), `${p.url}release.json`, new URL(`${p.url}?token=1`)]) {
    const f = await follow(url, { open, keys: [p.keys[0].text] });
    f.close();
    assert.deepEqual(f.bytes, version(0));
  }
});

test('signatures', async () => {
  const p = await publisher(), f = await following(p), key = p.keys[0], other = newKey();
  const publish = (i, keys, edit) => {
    p.keys = keys;
    p.publish(version(i));
    if (edit) p.release = Buffer.from(edit(p.release.toString()));
  };
  publish(1, []);
  await refuses(f, because('unsigned'), 'unsigned');
  publish(2, [other]);
  await refuses(f, because('other key'), 'another key');
  publish(3, [{ ...other, id: key.id }]);
  await refuses(f, because('wrong signature'), 'the id of our key');
  publish(4, [key], (text) => text.replace('"keys":3', '"keys":4'));
  await refuses(f, because('wrong signature'), 'changed');
  publish(5, [key], (text) => text.replace(/"signature":"./, '"signature":"'));
  await refuses(f, because('wrong signature'), 'cut');
  publish(6, [key], (text) => text.replace('\n"sign', '\n"signatures":[],\n"sign'));
  await refuses(f, because('format'), 'two lines of signatures');
  // What is not signed has no effect, and no room.
  publish(7, [key], (text) => text.replace(/\n}\n$/, `,"sha256":"${hashOf(version(0))}","release":99}`));
  await refuses(f, because('format'), 'members after the signatures');
  publish(7, [key]);
  assert.equal(await f.poll(), true);
  assert.deepEqual(f.bytes, version(7));
  assert.equal(f.error, undefined);
  // A rotation: two keys sign, then only the new one.
  publish(8, [other, key]);
  assert.equal(await f.poll(), true);
  publish(9, [other]);
  await refuses(f, because('other key'), 'rotated');
  const g = await following(p, { keys: [key.text, ` ${other.text}\n`] });
  assert.deepEqual(g.bytes, version(9));
});

test('without signatures', async () => {
  const p = await publisher({ keys: [] });
  await assert.rejects(following(p), TypeError);
  await assert.rejects(following(p, { keys: [newKey().text], insecure: true }), TypeError);
  await assert.rejects(following(p, { keys: ['ed25519:abc'] }), TypeError);
  await assert.rejects(following(p, { keys: [newKey().text] }), because('unsigned'));
  const f = await following(p, { keys: undefined, insecure: true });
  assert.deepEqual(f.bytes, version(0));
});

test('older releases, and those of others', async () => {
  const p = await publisher(), first = p.release;
  p.publish(version(1));
  const f = await following(p);
  p.release = first;
  await refuses(f, because('older'), 'older');
  p.publish(version(2), { release: 2 });
  await refuses(f, because('older'), 'another content with the same number');
  p.publish(version(3), { name: 'other' });
  await refuses(f, because('name'), 'another name');
  p.publish(version(4), { version: 2 });
  await refuses(f, because('format'), 'version 2');
  p.publish(version(5), { kind: 'tree' });
  await refuses(f, because('format'), 'an unknown kind');
  p.publish(version(6));
  await f.poll();
  assert.deepEqual(f.bytes, version(6));
});

test('an expired release is used, and said', async () => {
  const p = await publisher();
  p.publish(version(1), { published: '2001-01-01T00:00:00Z', expires: '2001-01-08T00:00:00Z' });
  const errors = [], f = await following(p, { onError: (e) => errors.push(e) });
  assert.deepEqual(f.bytes, version(1));
  assert.ok(because('expired')(f.error));
  await refuses(f, because('expired'), 'the same');
  p.publish(version(2), { published: '2001-01-02T00:00:00Z', expires: '2001-01-09T00:00:00Z' });
  await assert.rejects(f.poll(), because('expired'));
  assert.deepEqual(f.bytes, version(2));
  assert.equal(errors.length, 3);
  p.publish(version(3));
  assert.equal(await f.poll(), true);
  assert.equal(f.error, undefined);
});

test('a server that cuts, garbles, delays, lies and redirects', async () => {
  const p = await publisher(), f = await following(p, { timeout: 2000, maxBytes: 100_000 });
  p.publish(version(1));
  const object = `objects/${hashOf(version(1))}`, good = Buffer.from(version(1));
  const at = (path, answer) => (request, response, asked) => asked === path && (answer(response, request), true);
  const body = (path, bytes) => at(path, (response) => response.end(bytes));
  const garbled = Buffer.from(good);
  garbled[good.length - 1] ^= 1;
  const ways = {
    'no release': [at('release.json', (r) => r.writeHead(404).end()), is(FetchError)],
    'a broken server': [at('release.json', (r) => r.writeHead(500).end()), is(FetchError)],
    'a page': [body('release.json', '<!doctype html>'), because('format')],
    'not UTF-8': [body('release.json', Buffer.from([0x7b, 10, 0xff])), because('format')],
    'half a release': [body('release.json', p.release.subarray(0, 200)), because('format')],
    'an oversized release': [body('release.json', Buffer.alloc(70_000, 32)), is(TooLargeError)],
    'no object': [at(object, (r) => r.writeHead(404).end()), is(FetchError)],
    'a cut object': [at(object, (r) => {
      r.writeHead(200, { 'content-length': good.length }).write(good.subarray(0, 70), () => r.destroy());
    }), is(FetchError)],
    'a short object': [body(object, good.subarray(0, 70)), (e) => e instanceof Error],
    'a long object': [body(object, Buffer.concat([good, good])), is(TooLargeError)],
    'a garbled object': [body(object, garbled), is(CorruptError)],
    'another object': [body(object, Buffer.from(version(0))), is(CorruptError)],
    'silence': [at('release.json', () => {}), is(FetchError)],
    'silence after some bytes': [at(object, (r) => r.write(good.subarray(0, 70))), is(FetchError)],
    'another host': [at('release.json', (r) => r.writeHead(302, { location: 'http://localhost:1/release.json' }).end()),
      is(FetchError)],
    'an endless redirect': [at('release.json', (r) => r.writeHead(302, { location: '?' }).end()), is(FetchError)],
    '304 without a reason': [at(object, (r) => r.writeHead(304).end()), is(FetchError)],
  };
  for (const [what, [hook, check]] of Object.entries(ways)) {
    p.hook = hook;
    await refuses(f, check, what);
  }
  p.hook = (request, response, path) => {
    if (path !== 'release.json' || request.url.includes('?')) return false;
    response.writeHead(307, { location: 'release.json?again' }).end();
    return true;
  };
  assert.equal(await f.poll(), true, 'a redirect on the host');
  assert.deepEqual(f.bytes, version(1));
  assert.equal(f.error, undefined);
});

test('an object that is too large, or no filter', async () => {
  const p = await publisher(), f = await following(p, { maxBytes: 1000 });
  p.publish(version(1), { bytes: 1001, total_bytes: 1001 });
  p.log.length = 0;
  await refuses(f, is(TooLargeError), 'too large');
  assert.deepEqual(p.log, ['release.json'], 'it is not loaded');
  p.publish(Buffer.from('no filter'));
  await refuses(f, is(MagicError), 'no filter');
});

test('a download that breaks is resumed', async () => {
  const p = await publisher(), f = await following(p, { retries: 1 }), ranges = [];
  p.publish(version(1));
  p.hook = (request, response, path) => {
    if (path === 'release.json') return false;
    ranges.push(request.headers.range);
    if (request.headers.range) return false;
    response.writeHead(200, { 'content-length': base.length });
    response.write(version(1).subarray(0, 70), () => setTimeout(() => response.destroy(), 150));
    return true;
  };
  assert.equal(await f.poll(), true);
  assert.deepEqual(ranges, [undefined, 'bytes=70-']);
});

test('release.json is loaded anew if its download breaks', async () => {
  const p = await publisher(), f = await following(p, { retries: 1 }), before = p.release;
  p.publish(version(1));
  let asked = 0;
  p.hook = (request, response, path) => {
    if (path !== 'release.json') return false;
    assert.equal(request.headers.range, undefined);
    if (asked++) return false;
    response.writeHead(200, { 'content-length': before.length });
    response.write(before.slice(0, 70), () => setTimeout(() => response.destroy(), 150));
    return true;
  };
  assert.equal(await f.poll(), true);
  assert.equal(asked, 2);
});

test('close during a poll', async () => {
  const p = await publisher(), updates = [], stored = [];
  const store = { get: async () => undefined, put: async (name) => stored.push(name) };
  let follower;
  const f = follower = await following(p, {
    store,
    open: (file) => (follower?.close(), open(file)),
    onUpdate: (update) => updates.push(update),
  });
  const { filter } = f;
  p.publish(version(1));
  await assert.rejects(f.poll(), { name: 'AbortError' });
  assert.equal(f.filter, filter, 'a filter that came after the end');
  assert.equal(updates.length, 1);
  assert.equal(stored.length, 1);
});

test('a delta that fails leads to the whole file', async () => {
  const p = await publisher(), updates = [], f = await following(p, { onUpdate: (update) => updates.push(update) });
  p.publish(version(1), { deltas: { [hashOf(version(0))]: Buffer.from('no delta') } });
  assert.equal(await f.poll(), true);
  assert.equal(updates[1].delta, false);
  assert.ok(updates[1].failure instanceof Error);
  p.publish(version(2));
  p.publish(version(3));
  p.log.length = 0;
  p.hook = (_, response, path) => path === `objects/${p.members.history.sha256}` && response.end('no history');
  assert.equal(await f.poll(), true);
  assert.equal(p.log.length, 3);
  assert.deepEqual(f.bytes, version(3));
});

test('deltas', async () => {
  const folder = new URL('../../internal/patch/testdata/', import.meta.url);
  const read = (name) => readFileSync(new URL(name, folder));
  for (const name of ['rank', 'rank-trimmed', 'cells', 'gaps', 'blocks']) {
    const [from, to] = ['base', 'target'].map((part) => read(`${name}.${part}`));
    const p = await new Publisher().listen(), updates = [];
    closing.push(p);
    p.publish(from);
    const f = await following(p, { onUpdate: (update) => updates.push(update) });
    // From the release before, and from one that only the history has.
    for (const skipped of [0, 2]) {
      for (let i = 0; i < skipped; i++) p.publish(version(i));
      p.publish(to, { deltas: { [hashOf(from)]: read(`${name}.delta`) } });
      p.log.length = 0;
      assert.equal(await f.poll(), true);
      assert.equal(updates.at(-1).delta, true, String(updates.at(-1).failure));
      assert.equal(p.log.length, skipped ? 3 : 2);
      assert.ok(!p.log.includes(`objects/${hashOf(to)}`), 'the whole file was loaded');
      assert.equal(Buffer.compare(f.bytes, to), 0);
      if (skipped) break;
      p.publish(from);
      await f.poll();
    }
  }
});

test('errors of the first poll, abort and close', async () => {
  const p = await publisher();
  p.hook = (_, response) => response.writeHead(404).end();
  await assert.rejects(following(p), FetchError);
  p.hook = () => false;
  const controller = new AbortController(), reason = new Error('enough');
  const f = await following(p, { signal: controller.signal });
  p.hook = () => true;
  const polling = f.poll();
  assert.equal(f.poll(), polling, 'one poll at a time');
  setTimeout(() => controller.abort(reason), 50);
  await assert.rejects(polling, reason);
  await assert.rejects(f.poll(), reason);
  assert.equal(f.error, undefined);
  assert.equal(typeof f.has('a'), 'boolean');
  await assert.rejects(following(p, { signal: controller.signal }), reason);
  const g = await following(Object.assign(p, { hook: () => false }));
  g.close();
  await assert.rejects(g.poll(), { name: 'AbortError' });
});

test('back-off', async () => {
  const p = await publisher();
  let errors = 0;
  const f = await following(p, { interval: 10, onError: () => errors++ });
  p.hook = (_, response) => response.writeHead(500).end();
  const start = performance.now();
  let passed = 0;
  do {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    passed = performance.now() - start;
  } while (errors < 3 && passed < 20_000);
  // Without back-off there would be about 90 polls a second; with it one after 20, 40 and 80 ms, then one each 100 ms.
  assert.ok(errors >= 3 && errors <= passed / 50, `${errors} polls in ${passed} ms`);
  f.close();
});

test('a store resumes, and numbers never decrease', async () => {
  const p = await publisher(), folder = await mkdtemp(join(tmpdir(), 'follow-'));
  const store = {
    get: (name) => readFile(join(folder, name)).catch(() => undefined),
    put: async (name, bytes) => {
      await writeFile(join(folder, `${name}.new`), bytes);
      await rename(join(folder, `${name}.new`), join(folder, name));
    },
  };
  const first = p.release;
  p.publish(version(1));
  (await following(p, { store })).close();
  p.log.length = 0;
  const f = await following(p, { store });
  assert.deepEqual(f.bytes, Buffer.from(version(1)));
  assert.equal(await f.poll(), false);
  assert.deepEqual(p.log, ['release.json']);
  f.close();
  // Without the server, and with an older release.
  p.hook = (_, response) => response.writeHead(500).end();
  const g = await following(p, { store });
  await assert.rejects(g.poll(), FetchError);
  assert.deepEqual(g.bytes, Buffer.from(version(1)));
  p.hook = () => false;
  p.release = first;
  await refuses(g, because('older'), 'older');
  g.close();
  // A damaged record has no effect: the filter is loaded again.
  for (const bytes of [version(0), Buffer.from('damaged')]) {
    p.publish(version(1), { release: 2 });
    await writeFile(join(folder, 'filter'), bytes);
    const h = await following(p, { store });
    await h.poll();
    assert.deepEqual(h.bytes, version(1));
    h.close();
  }
  await rm(folder, { recursive: true });
});

test('a sharded set', async () => {
  const folder = new URL('../../shard/testdata/sets/blocked/', import.meta.url), read = (name) =>
    readFileSync(new URL(name, folder));
  const p = await publisher(), shards = JSON.parse(read('manifest.json')).shards;
  shards.forEach(({ file }) => p.put(read(file)));
  const publish = (manifest) => p.publish(Buffer.from(manifest), { kind: 'set', total_bytes: 100_000 });
  const text = read('manifest.json').toString();
  publish(text);
  await assert.rejects(following(p), /^TypeError: a release of kind set: use followSharded$/);
  const f = await followingSharded(p);
  assert.ok(f.filter instanceof ShardedFilter);
  assert.equal(await f.lookup('example.com'), true);
  await f.filter.check();
  p.log.length = 0;
  // One shard has another name; the content of all others is kept.
  publish(text.replace(shards[0].file, shards[0].file.replace('.bloom', '.x.bloom')));
  const before = f.filter;
  assert.equal(await f.poll(), true);
  assert.notEqual(f.filter, before);
  await f.filter.check();
  assert.deepEqual(p.log.filter((path) => path !== 'release.json'), [`objects/${f.release.sha256}`]);
  assert.equal(await f.lookup('example.com'), true);
  // A shard that the server lost is an error, not an answer.
  p.objects.delete(shards[1].sha256);
  const g = await followingSharded(p);
  await assert.rejects(g.filter.check(), ShardError);
  assert.throws(() => g.has('a'), TypeError);
  p.publish(base);
  await refuses(f, (e) => /^TypeError: a release of kind file: use follow$/.test(String(e)), 'a file');
});
