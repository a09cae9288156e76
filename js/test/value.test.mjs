// Values in filters whose keys have a type: filter/testdata/keyforms.json, and the filters of columns of Parquet files.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { open } from '../dist/index.js';
import * as plain from '../dist/plain.js';
import { keyOf } from '../dist/value.js';

const root = new URL('../../', import.meta.url), folder = new URL('interop/testdata/', root);
const hex = (bytes) => Buffer.from(bytes).toString('hex');

test('keys of values', () => {
  const all = JSON.parse(readFileSync(new URL('filter/testdata/keyforms.json', root), 'utf8'));
  for (const { form, text, integer, key } of all) {
    const values = integer ? [BigInt(text)] : [text];
    const isText = !/^(bytes|date|fixed)/.test(form);
    if (integer && Number.isSafeInteger(Number(text))) values.push(Number(text));
    if (integer && isText) values.push(text);
    for (const value of values) {
      const what = `${typeof value} ${text} as ${form}`;
      if (key === null) assert.throws(() => keyOf(form, value), /key/, what);
      else assert.equal(hex(keyOf(form, value)), key, what);
    }
  }
  assert.ok(all.length > 400);
  assert.equal(hex(keyOf('trim,lower,int32', 5)), '05000000');
  for (const value of [1.5, NaN, Infinity, 2 ** 53, null, undefined, {}, true]) {
    assert.throws(() => keyOf('int64', value), TypeError);
  }
  assert.throws(() => keyOf('int32', 2 ** 31), { name: 'RangeError', message: /2147483648 is not a value .* int32/ });
});

const values = {};
for (const line of readFileSync(new URL('types.tsv', folder), 'utf8').trim().split('\n')) {
  const [column, value] = line.split('\t');
  (values[column] ??= []).push(value);
}

const files = readdirSync(new URL('types/', folder));
test('there are filters', () => assert.equal(files.length, 43));
for (const name of files) {
  test(`values of ${name}`, async () => {
    const column = /-([a-z0-9]+)\.bloom/.exec(name)[1], file = readFileSync(new URL(`types/${name}`, folder));
    for (const filter of [await open(file), await plain.open(file)]) {
      if (column === 'double') {
        assert.throws(() => keyOf(filter, '0.0'), RangeError);
        assert.throws(() => keyOf(filter, 1), TypeError);
        assert.throws(() => filter.has('0.0'), TypeError);
        assert.throws(() => filter.has(1n), TypeError);
        continue;
      }
      for (const value of values[column]) {
        assert.ok(filter.has(keyOf(filter, value)), value);
        if (/^[iu]/.test(column)) assert.ok(filter.has(keyOf(filter, BigInt(value))), value);
        if (/64/.test(column)) assert.ok(filter.has(BigInt(value)), value);
      }
      if (column === 'text') {
        assert.ok(filter.has('key-1'));
        assert.throws(() => filter.has(1n), { name: 'TypeError', message: /keyOf/ });
      } else {
        assert.throws(() => filter.has('1'), { name: 'TypeError', message: /keyOf/ });
        if (!/64/.test(column)) assert.throws(() => filter.hasMany([1n]), TypeError);
      }
    }
  });
}
