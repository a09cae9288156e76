// What open takes, and what its filters say about themselves to consoles and programs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inspect } from 'node:util';
import * as core from '../dist/core.js';
import { openExact } from '../dist/exact.js';
import { fuse } from '../dist/family/fuse.js';
import * as index from '../dist/index.js';
import * as plain from '../dist/plain.js';

const read = (path) => readFileSync(new URL(path, import.meta.url));
const file = read('../example/disposable.bloom'), exact = read('../example/revoked/revoked.exact');

const entries = { index: index.open, plain: plain.open, core: (of) => core.open(of, { families: [fuse] }) };
for (const [name, open] of Object.entries(entries)) {
  test(`${name}: a Blob and a Response`, async () => {
    for (const source of [new Blob([file]), new Response(file), new Uint8Array(file).buffer]) {
      const filter = await open(source);
      assert.deepEqual([filter.has('yopmail.com'), filter.has('gmail.com'), filter.size], [true, false, 133_604]);
    }
    await assert.rejects(open(new Blob(['<!doctype html>'])), { name: 'MagicError' });
    await assert.rejects(open(new Blob([file.subarray(0, 5000)])), { name: 'TruncatedError' });
    const used = new Response(file);
    await used.arrayBuffer();
    await assert.rejects(open(used), TypeError);
    for (const wrong of [{ arrayBuffer: async () => 'text' }, { arrayBuffer: 5 }, 'text', undefined, 5]) {
      await assert.rejects(open(wrong), /^TypeError: file: want bytes, a Blob or a Response/);
    }
  });
}

test('an exact set', async () => {
  const set = await openExact(new Blob([exact]));
  assert.deepEqual([set.size, String(set)], [8035, '[object ExactSet]']);
});

test('names', async () => {
  const filter = await plain.open(file), folder = '../../shard/testdata/sets/blocked/';
  const set = await plain.openSharded(read(`${folder}manifest.json`), async (name) => read(folder + name));
  assert.deepEqual([String(filter), inspect(filter)], ['[object Filter]', 'Filter {}']);
  assert.deepEqual([String(set), set.constructor.name], ['[object ShardedFilter]', 'ShardedFilter']);
  assert.equal(set.size, set.info().keys);
});
