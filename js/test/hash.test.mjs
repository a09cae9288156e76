// Hash functions against vectors of the Go implementation, filter/testdata/hashes.json.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashes, hex, keyOf, quarters, vectors } from './hashes.mjs';

for (const [name, want] of Object.entries(vectors.hashes)) {
  test(`hash ${name}`, () => {
    assert.equal(want.length, vectors.lengths.length);
    const sum = hashes[name.replace(/\(.*/, '')](name);
    vectors.lengths.forEach((n, i) => {
      const out = new Int32Array(8);
      sum(new DataView(keyOf(n).buffer), n, out);
      assert.equal(hex(out), want[i], `${n} bytes`);
      if (name === 'murmur3-x64-128-twice') assert.equal(quarters(out), vectors.quarters[i], `${n} bytes`);
    });
  });
}
