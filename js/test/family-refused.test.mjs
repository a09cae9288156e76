// Edited golden files that every reader must refuse, or must accept.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FormatError, open } from '../dist/plain.js';

const folder = new URL('../../container/testdata/', import.meta.url);
const secret = '01020300000000000000000000000000';

const cases = JSON.parse(readFileSync(new URL('refused.json', folder)));
const files = new Map();
const read = (name) => files.get(name) ?? files.set(name, readFileSync(new URL(name, folder))).get(name);

test('enough cases', () => {
  assert.ok(cases.filter((c) => c.refused).length >= 300 && cases.filter((c) => !c.refused).length >= 30);
});

for (const c of cases) {
  test(c.name, async () => {
    const old = read(c.file), bytes = new Uint8Array(c.length ?? old.length);
    bytes.set(old.subarray(0, bytes.length));
    for (const { offset, hex } of c.edits) bytes.set(Buffer.from(hex, 'hex'), offset);
    if (c.refused) await assert.rejects(open(bytes, { secret }), FormatError);
    else await open(bytes, { secret });
  });
}
