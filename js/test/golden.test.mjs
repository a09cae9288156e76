// Golden files: every key is present, and nearly every other key is absent.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as core from '../dist/core.js';
import * as plain from '../dist/plain.js';
import { blocked } from '../dist/family/blocked.js';
import { siphash } from '../dist/hash/siphash.js';
import { xxh64 } from '../dist/hash/xxh64.js';

const folder = new URL('../../internal/container/testdata/', import.meta.url);
const secret = Uint8Array.of(1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
const files = readdirSync(folder).filter((f) => f.endsWith('.bloom'));

function check(filter) {
  for (let i = 0; i < 40; i++) assert.ok(filter.has(`key-${i}`), `key-${i} is absent`);
  let yes = 0;
  for (let i = 0; i < 1000; i++) yes += filter.has(`absent ${i}`);
  assert.ok(yes < 500, `${yes} of 1000 absent keys are present`);
}

assert.ok(files.length >= 43, `${files.length} golden files`);
for (const name of files) {
  const bytes = readFileSync(new URL(name, folder));
  test(name, async () => {
    check(await plain.open(bytes, { secret }));
    // at an odd address
    const odd = new Uint8Array(bytes.length + 1).subarray(1);
    odd.set(bytes);
    check(await plain.open(odd, { secret }));
    if (name.startsWith('blocked-')) {
      check(await core.open(bytes, { secret, families: [blocked], hashes: [siphash, xxh64] }));
    }
  });
}
