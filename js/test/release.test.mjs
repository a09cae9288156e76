// Releases: the vectors of the publisher, which has the verdict on each signature and content.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { internal } from './internal.mjs';
import { newKey, writeRelease } from './publisher.mjs';

const { parseHistory, parseRelease, ReleaseError } = internal;
const folder = new URL('../../publish/testdata/', import.meta.url);
const vectors = ['vectors.json', 'vectors-exact.json'].flatMap((name) =>
  JSON.parse(readFileSync(new URL(name, folder), 'utf8')));

/** The reasons of the verdicts. */
const reasons = {
  unsigned: 'unsigned', 'other key': 'other key', signature: 'wrong signature', invalid: 'format', version: 'format',
};

/** Parses, and compares with a verdict. */
async function verdict(file, trust, want, content) {
  if (want === 'ok') {
    const { name, release, sha256 } = await parseRelease(file, trust);
    assert.deepEqual([name, release, sha256], [content.name, content.release, content.sha256]);
    return;
  }
  await assert.rejects(parseRelease(file, trust), (e) => {
    assert.ok(e instanceof ReleaseError, e.stack);
    assert.equal(e.reason, reasons[want]);
    return true;
  });
}

for (const { file, what, keys, verify, parse, ...content } of vectors) {
  test(`${file}: ${what}`, async () => {
    const bytes = new Uint8Array(readFileSync(new URL(file, folder)));
    await verdict(bytes, { insecure: true }, parse, content);
    await verdict(bytes, { keys }, verify === 'ok' ? parse : verify, content);
  });
}

const hash = 'a'.repeat(64);
const good = {
  format: 'bloomery-release', version: 1, name: 'list', release: 3, published: '2026-11-22T15:00:00Z',
  expires: '2026-11-29T15:00:00Z', kind: 'file', sha256: hash, bytes: 10, total_bytes: 10, spec: 'standard(k=7,m=64)',
  keys: 1, fpr_planned: 0, fpr_posterior: 0.01, previous: { release: 2, sha256: hash },
  history: { sha256: hash, bytes: 9 },
};

test('members out of range', async () => {
  const keys = [newKey()], read = (m) => parseRelease(writeRelease(m, keys), { keys: [keys[0].text] });
  for (const kind of ['file', 'exact', 'set']) assert.equal((await read({ ...good, kind })).kind, kind);
  for (const change of [
    { name: 'x'.repeat(129) }, { name: 'ü'.repeat(65) }, { name: 'a\u202eb' }, { release: 0 }, { release: 1.5 },
    { published: good.expires }, { sha256: hash.toUpperCase() }, { sha256: '../x' }, { bytes: 0, total_bytes: 0 },
    { total_bytes: 11 }, { keys: -1 }, { fpr_planned: 1.01 }, { previous: { release: 3, sha256: hash } },
    { previous: { release: 2, sha256: hash, delta: {} } }, { history: { sha256: hash, bytes: 2 ** 20 + 1 } },
    { history: null }, { spec: 7 }, { format: 'other' }, { kind: 'tree' }, { kind: undefined }, { kind: 'exact ' },
    { kind: ['exact'] }, { kind: 'exact', total_bytes: 11 }, { new: 1 }, { history: { sha256: hash, bytes: 9, new: 1 } },
    { previous: { release: 2, sha256: hash, new: 1 } },
  ]) {
    await assert.rejects(read({ ...good, ...change }), ReleaseError, JSON.stringify(change));
  }
});

test('histories', () => {
  const write = (releases, more = {}) =>
    new TextEncoder().encode(JSON.stringify({ format: 'bloomery-history', version: 1, releases, ...more }));
  const old = (release, more) => ({ release, sha256: hash, ...more });
  assert.deepEqual(parseHistory(write([])), []);
  assert.equal(parseHistory(write([old(2, { delta: { sha256: hash, bytes: 5 } }), old(1)])).length, 2);
  for (const bad of [
    write([old(1), old(2)]), write([old(1), old(1)]), write([old(0)]), write([null]), write({}),
    write([], { version: 2 }),
    write([old(1, { delta: { sha256: hash, bytes: 0 } })]), new TextEncoder().encode('{'), write([], { new: 1 }),
    write([old(1, { new: 1 })]),
  ]) {
    assert.throws(() => parseHistory(bad), ReleaseError);
  }
});
