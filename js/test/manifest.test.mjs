// Forms of a manifest that JSON.parse reads, and that every reader must refuse.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ManifestError, openSharded } from '../dist/plain.js';

const text = readFileSync(new URL('../../shard/testdata/sets/blocked/manifest.json', import.meta.url), 'utf8');
const never = () => Promise.reject(new Error('no shard is needed'));

test('a manifest opens as text and as bytes', async () => {
  assert.equal((await openSharded(text, never)).info().shards, 5);
  assert.equal((await openSharded(new TextEncoder().encode(text), never)).info().shards, 5);
});

for (const [name, from, to] of [
  ['an object without toString as version', '"version": 1', '"version": {"toString": 1, "valueOf": 1}'],
  ['an object without toString as routing', '"routing": 1', '"routing": {"toString": 1, "valueOf": 1}'],
  ['an object without toString as hash', /"hash": "[^"]*"/, '"hash": {"toString": 1, "valueOf": 1}'],
  ['an object without toString as seed', /"seed": "[^"]*"/, '"seed": {"toString": 1, "valueOf": 1}'],
  ['an object without toString as file', /"file":"[^"]*"/, '"file":{"toString": 1, "valueOf": 1}'],
  ['a deep version', '"version": 1', `"version": ${'['.repeat(5000)}${']'.repeat(5000)}`],
  ['__proto__', '"version": 1', '"version": 1, "__proto__": {"count": 1}'],
  ['a spec of a million parameters', /"spec": "[^"]*"/, `"spec": "${','.repeat(1e6)}"`],
  ['version 1.0', '"version": 1', '"version": 1.0'], ['version 1e0', '"version": 1', '"version": 1e0'],
  ['routing 1.0', '"routing": 1', '"routing": 1.0'], ['routing 10E-1', '"routing": 1', '"routing" : 10E-1'],
  ['count 5.0', '"count": 5', '"count":\n5.0'], ['keys 61.0', /"keys":[0-9]+/, '$&.0'],
  ['keys -0', /"keys":[0-9]+/, '"keys":-0'], ['bytes 256.0', /"bytes":[0-9]+/, '$&.0'],
  ['a byte order mark', /^/, '\uFEFF'],
]) {
  test(`refused: ${name}`, async () => {
    const changed = text.replace(from, to);
    assert.notEqual(changed, text);
    await assert.rejects(openSharded(new TextEncoder().encode(changed), never), ManifestError);
  });
}
