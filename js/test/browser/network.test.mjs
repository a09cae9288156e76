// fetchFilter from servers that send slowly, stop, lie about the length, or send something else, and fetchSharded: in
// Chromium and in node.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { launch } from './chromium.mjs';
import { fetched } from './page/jobs.js';
import { policies, serveTests } from './server.mjs';

const keys = ['yopmail.com', 'mailinator.com', 'gmail.com', 'example.com'];
const has = [true, true, false, false];

/** Keys that the sharded set has, and others. */
const sets = new URL('../../../shard/testdata/sets/', import.meta.url);
const { keys: all } = JSON.parse(readFileSync(new URL('blocked.json', sets), 'utf8'));
const texts = all.filter((key) => key.text !== undefined);
const setKeys = texts.map((key) => key.text), setHas = texts.map((key) => key.has);

/** What fetchFilter makes of each mode of the server: the answers, or the names of the errors it may reject with. */
const expected = {
  slow: has,
  gzip: has,
  resumed: has,
  restarted: has,
  cut: ['FetchError'],
  short: ['FetchError'],
  header: ['TruncatedError'],
  empty: ['FetchError'],
  small: ['TruncatedError'],
  long: ['CorruptError'],
  endless: ['CorruptError'],
  garbage: ['MagicError'],
  page: ['MagicError'],
  flipped: ['ChecksumError'],
  large: ['FetchError'],
  missing: ['FetchError'],
  broken: ['FetchError'],
};

function check(mode, got) {
  const want = expected[mode];
  if (want === has) assert.deepEqual(got.has, has);
  else assert.ok(want.includes(got.error), `${mode}: ${JSON.stringify(got)} instead of ${want.join(' or ')}`);
}

let server;
before(async () => (server = await serveTests(policies.wasm)));
after(() => server?.close());

const path = '/example/disposable.bloom';

/** Runs the same tests with run, which does a job of jobs.js where the tests are about. */
function trial(run) {
  for (const mode of Object.keys(expected)) {
    test(mode, async () => {
      const options = { retries: mode === 'resumed' || mode === 'restarted' ? 1 : 0 };
      check(mode, await run({ url: `${server.origin}/${mode}${path}`, keys, options }));
    });
  }

  test('the status is in the error', async () => {
    for (const [mode, status] of [['missing', 404], ['broken', 500]]) {
      const got = await run({ url: `${server.origin}/${mode}${path}`, options: { retries: 0 } });
      assert.match(got.message, new RegExp(`${status}`));
    }
  });

  test('a download that breaks is tried again, a wrong file is not', async () => {
    const asked = async (mode, options) => {
      const before = server.requests.length;
      await run({ url: `${server.origin}/${mode}${path}`, options });
      return server.requests.length - before;
    };
    assert.equal(await asked('cut', { retries: 2 }), 3);
    assert.equal(await asked('garbage', { retries: 2 }), 1);
    assert.equal(await asked('missing', { retries: 2 }), 1);
  });

  test('without checksums a flipped bit is not noticed, a garbage file is', async () => {
    const options = { verify: false };
    const flipped = await run({ url: `${server.origin}/flipped${path}`, keys, options });
    assert.equal(flipped.has?.length, keys.length, JSON.stringify(flipped));
    const garbage = await run({ url: `${server.origin}/garbage${path}`, keys, options });
    assert.equal(garbage.error, 'MagicError');
  });

  test('a sharded set loads the shards that it needs', async () => {
    const before = server.requests.length;
    const url = `${server.origin}/set/`;
    assert.deepEqual(await run({ url, keys: [] }), { has: [], shards: 5, loaded: 0 });
    assert.deepEqual(server.requests.slice(before), ['/set/manifest.json']);
    const { has, loaded } = await run({ url, keys: ['bloomery'] });
    assert.deepEqual([has, loaded], [[true], 1]);
    assert.equal(server.requests.length - before, 3);
    const all = await run({ url: `${url}manifest.json`, keys: setKeys });
    assert.deepEqual([all.has, all.loaded], [setHas, 5]);
  });

  test('a shard that is damaged or missing is an error, not an answer', async () => {
    for (const [mode, cause] of [['flipped', 'ChecksumError'], ['short', 'CorruptError'], ['missing', 'FetchError']]) {
      const got = await run({ url: `${server.origin}/set/?${mode}`, keys: setKeys, options: { retries: 0 } });
      assert.deepEqual([got.error, got.cause], ['ShardError', cause], mode);
    }
  });
}

describe('in node', () => {
  trial(async ({ url, keys, options }) => {
    return fetched({ entry: await import('../../dist/index.js'), url, keys, options });
  });
});

describe('in Chromium', () => {
  let browser, page;
  before(async () => {
    browser = await launch();
    page = await browser.newPage();
    await page.goto(`${server.origin}/test/index.html`);
    await page.waitForFunction(() => 'run' in globalThis);
  });
  after(() => browser?.close());
  trial((job) => page.evaluate((job) => globalThis.run('fetched', job), job));
});
