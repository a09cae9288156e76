// Hash functions against vectors of the Go implementation, filter/testdata/hashes.json.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashes, hex, keyOf, vectors } from './hashes.mjs';

for (const [name, want] of Object.entries(vectors.hashes)) {
  if (!hashes[name.replace(/\(.*/, '')]) continue; // of a family that is not here yet
  test(`hash ${name}`, () => {
    assert.equal(want.length, vectors.lengths.length);
    const sum = hashes[name.replace(/\(.*/, '')](name);
    vectors.lengths.forEach((n, i) => {
      const out = new Int32Array(8);
      sum(new DataView(keyOf(n).buffer), n, out);
      assert.equal(hex(out), want[i], `${n} bytes`);
    });
  });
}
