import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median } from './stats.mjs';

test('median and interval', () => {
  const upTo = (n) => Array.from({ length: n }, (_, i) => n - i);
  assert.deepEqual(median(upTo(5)), { median: 3, low: 1, high: 5 }); // too few for 95%
  // Tables of the sign test: ranks 2 and 10 of 11, 6 and 16 of 21.
  assert.deepEqual(median(upTo(11)), { median: 6, low: 2, high: 10 });
  assert.deepEqual(median(upTo(21)), { median: 11, low: 6, high: 16 });
  assert.deepEqual(median([2, 1]), { median: 1.5, low: 1, high: 2 });
});
