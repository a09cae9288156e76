// Damaged and hostile files are refused, with an error of this package.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import vm from 'node:vm';
import * as core from '../dist/core.js';
import { siphash } from '../dist/hash/siphash.js';
import { open as openAny } from '../dist/index.js';
import * as plain from '../dist/plain.js';
import { families } from '../dist/families.js';
import { forge, golden, mend, secret } from './damage.mjs';

const { FormatError, open } = plain;
const testdata = new URL('../../internal/container/testdata/', import.meta.url);

/** Fails unless the file is refused with a FormatError, of that class if one is given. */
async function refused(file, what, error = FormatError, options = { secret }) {
  await assert.rejects(open(file, options), (e) => {
    assert.ok(e instanceof error, `${what}: ${e}`);
    assert.match(e.name, /^(?!Format).+Error$/);
    return true;
  }, what);
}

test('every truncation', async () => {
  for (const [name, file] of Object.entries(golden)) {
    for (let n = 0; n < file.length; n++) await refused(file.subarray(0, n), `${name} cut at ${n}`);
    await refused(Uint8Array.of(...file, 0), `${name} and a byte`, plain.CorruptError);
  }
});

/** What to change a byte by: one bit, another one for each byte, and all; with CI_FULL=1 every bit and all. */
const flips = (i) => (process.env.CI_FULL ? [1, 2, 4, 8, 16, 32, 64, 128, 255] : [1 << i % 8, 255]);

test('every flipped byte', async () => {
  for (const [name, file] of Object.entries(golden)) {
    const copy = file.slice();
    for (let i = 0; i < file.length; i++) {
      for (const flip of flips(i)) {
        copy[i] ^= flip;
        await refused(copy, `${name}: byte ${i} ^ ${flip}`);
        copy[i] ^= flip;
      }
    }
  }
});

// Under checksums that are right, a file is refused, or it is a filter of these bits that answers.
test('every flipped byte, mended', async () => {
  let opened = 0;
  const damaged = Object.entries(golden).flatMap(([name, file]) =>
    Array.from(file, (_, i) => flips(i).map((flip) => [name, file, i, flip])).flat());
  for (const [name, file, i, flip] of damaged) {
    if (i >= 60 && i < 64) continue; // the checksum of the header
    const forged = forge(file, (_, b) => (b[i] ^= flip));
    const filter = await open(forged, { secret }).catch((e) => {
      assert.ok(e instanceof FormatError, `${name}: byte ${i} ^ ${flip}: ${e.stack}`);
    });
    if (filter) {
      opened++;
      const { counts, values } = filter.info();
      for (let i = 0; i < 20; i++) {
        const key = new TextEncoder().encode(`key-${i}`); // a damaged form may take no text
        filter.has(key);
        if (counts) filter.count(key);
        if (values) filter.get(key);
      }
    }
  }
  assert.ok(opened > 1000, `${opened} opened`);
});

test('what every reader refuses or accepts', async () => {
  const list = JSON.parse(readFileSync(new URL('refused.json', testdata), 'utf8'));
  assert.ok(list.length > 20);
  for (const { name, file, edits = [], length, checksums, refused: bad, unknown, newer, secret: own } of list) {
    if (!existsSync(new URL(file, testdata))) throw new Error(`${name}: no ${file}`);
    const original = readFileSync(new URL(file, testdata));
    let bytes = new Uint8Array(length ?? original.length);
    bytes.set(original.subarray(0, bytes.length));
    for (const { offset, hex } of edits) bytes.set(Buffer.from(hex, 'hex'), offset);
    if (checksums) bytes = mend(bytes);
    const options = { secret: own ?? secret };
    const error = unknown ? plain.FamilyError : newer ? plain.VersionError : FormatError;
    if (bad) await refused(bytes, name, error, options);
    else await open(bytes, options).catch((e) => assert.fail(`${name} is refused: ${e}`));
  }
});

const standard = golden['standard-0.bloom'];
const spec = (text) => (view, b) => {
  b.fill(0, 88, 128);
  b.set(new TextEncoder().encode(text), 88);
  view.setUint32(56, text.length, true);
};
const forged = {
  magic: [(v) => v.setUint8(3, 0), plain.MagicError],
  'version 0': [(v) => v.setUint16(8, 0, true), plain.CorruptError],
  'version 2': [(v) => v.setUint16(8, 2, true), plain.VersionError],
  'no exceptions': [(v) => v.setUint8(15, 1), plain.CorruptError],
  'another flag': [(v) => v.setUint8(15, 2), plain.VersionError],
  'reserved bytes': [(v) => v.setUint8(31, 1), plain.VersionError],
  'rate 1': [(v) => v.setFloat64(48, 1, true), plain.CorruptError],
  'rate -0': [(v) => v.setFloat64(48, -0, true), plain.CorruptError],
  'rate NaN': [(v) => v.setFloat64(48, NaN, true), plain.CorruptError],
  'family 99': [(v) => v.setUint16(10, 99, true), plain.FamilyError],
  'another family': [(v) => v.setUint16(10, 2, true), plain.CorruptError],
  'hash 0': [(v) => v.setUint16(12, 0, true), plain.HashError],
  'hash 10': [(v) => v.setUint16(12, 10, true), plain.HashError],
  'hash 8 of another family': [(v) => (v.setUint16(12, 8, true), v.setBigUint64(16, 0n, true)), plain.CorruptError],
  'hash of another family': [(v) => (v.setUint16(12, 4, true), v.setBigUint64(16, 0n, true)), plain.HashError],
  'hash 2 without a key check': [(v) => (v.setUint8(12, 2), v.setBigUint64(16, 0n, true)), plain.CorruptError],
  'no section': [(v) => v.setUint8(14, 0), plain.CorruptError],
  '9 sections': [(v) => v.setUint8(14, 9), plain.CorruptError],
  '2 sections': [(v) => v.setUint8(14, 2)],
  'spec of 0 bytes': [(v) => v.setUint32(56, 0, true), plain.CorruptError],
  'spec of 513 bytes': [(v) => v.setUint32(56, 513, true), plain.CorruptError],
  'spec of 2^32-1 bytes': [(v) => v.setUint32(56, 2 ** 32 - 1, true), plain.CorruptError],
  'padding of the header': [(v) => v.setUint8(127, 1), plain.CorruptError],
  'a section of 2^63 bytes': [(v) => v.setBigUint64(72, 1n << 63n, true), plain.TooLargeError],
  'a section of 2^51 bytes': [(v) => v.setBigUint64(72, 1n << 51n, true), plain.CorruptError],
  'a section that is no multiple of 8': [(v) => v.setUint8(72, v.getUint8(72) + 1), plain.CorruptError],
  'a section at 0': [(v) => v.setBigUint64(64, 0n, true), plain.CorruptError],
  'a section at 2^64-64': [(v) => v.setBigUint64(64, (1n << 64n) - 64n, true), plain.CorruptError],
  'reserved bytes of the table': [(v) => v.setUint8(84, 1), plain.CorruptError],
  'another length': [(v) => v.setUint8(40, v.getUint8(40) + 8), plain.CorruptError],
  'spec with spaces': [spec('standard(k=2, m=400)'), plain.CorruptError],
  'spec out of order': [spec('standard(m=400,k=2)'), plain.CorruptError],
  'spec with a parameter twice': [spec('standard(k=2,k=2,m=400)'), plain.CorruptError],
  'spec without parameters': [spec('standard()'), plain.CorruptError],
  'spec with text behind it': [spec('standard(k=2,m=400) '), plain.CorruptError],
  'spec without an end': [spec('standard(k=2,m=400'), plain.CorruptError],
  'spec with a zero before a number': [spec('standard(k=02,m=400)'), plain.CorruptError],
  'spec with a sign': [spec('standard(k=+2,m=400)'), plain.CorruptError],
  'spec with an exponent': [spec('standard(k=2,m=4e2)'), plain.CorruptError],
  'spec with another parameter': [spec('standard(fpr=0.01,k=2,m=400)'), plain.CorruptError],
  'spec with k=0': [spec('standard(k=0,m=400)'), plain.CorruptError],
  'spec with k=65': [spec('standard(k=65,m=400)'), plain.CorruptError],
  'spec with m=0': [spec('standard(k=2,m=0)'), plain.CorruptError],
  'spec with m=2^64': [spec('standard(k=2,m=18446744073709551616)'), plain.CorruptError],
  'spec with m=2^64-1': [spec('standard(k=2,m=18446744073709551615)'), plain.TooLargeError],
  'spec with m=2^53-1': [spec('standard(k=2,m=9007199254740991)'), plain.CorruptError],
  'spec of one word more': [spec('standard(k=2,m=449)'), plain.CorruptError],
};
for (const [name, [change, error]] of Object.entries(forged)) {
  test(`forged: ${name}`, () => refused(forge(standard, change), name, error));
}

test('secrets', async () => {
  const keyed = golden['standard-1.bloom'];
  await refused(keyed, 'none', plain.NoSecretError, {});
  await refused(keyed, 'none', plain.SecretError, {});
  await refused(keyed, 'another', plain.SecretError, { secret: new Uint8Array(16) });
  await open(keyed, { secret: '01020300000000000000000000000000' });
  // a Buffer is a part of larger memory, and the caller may erase it
  const bytes = Buffer.from('01020300000000000000000000000000', 'hex');
  assert.notEqual(bytes.buffer.byteLength, 16);
  const filters = [await open(keyed, { secret: bytes }), await openAny(keyed, { secret: bytes })];
  bytes.fill(0);
  for (const filter of filters) assert.ok(filter.has('key-1'));
  for (const bad of ['', '01', 'g'.repeat(32), new Uint8Array(15)]) {
    await assert.rejects(open(keyed, { secret: bad }), TypeError);
  }
});

test('verify: false skips only the checksums of sections', async () => {
  const file = golden['blocked-0.bloom'].slice();
  file[file.length - 1] ^= 1;
  await refused(file, 'verified', plain.ChecksumError);
  await open(file, { verify: false });
  file[127] = 1;
  await assert.rejects(open(file, { verify: false }), plain.CorruptError);
});

test('what is no file', async () => {
  const bad = [undefined, null, 'text', [137], {}, new Uint16Array(100)];
  for (const file of bad) await assert.rejects(open(file), TypeError);
  await refused(new Uint8Array(0), 'nothing', plain.TruncatedError);
  await open(golden['blocked-0.bloom'].slice().buffer);
});

test('bytes of another realm', async () => {
  const file = golden['blocked-0.bloom'];
  const make = 'const b = new ArrayBuffer(n); [b, new Uint8Array(b)]';
  const [buffer, bytes] = vm.runInNewContext(make, { n: file.length });
  bytes.set(file);
  for (const own of [buffer, bytes]) assert.ok((await open(own)).has('key-1'));
});

test('transferred bytes are an error, not an absent key', async () => {
  for (const [name, file] of Object.entries(golden)) {
    const copy = file.slice(), filter = await open(copy, { secret }), { counts } = filter.info();
    assert.ok(filter.has('key-1'), name);
    structuredClone(copy, { transfer: [copy.buffer] });
    assert.throws(() => filter.has('key-1'), TypeError, name);
    assert.throws(() => filter.hasMany(['key-1']), TypeError, name);
    if (counts) assert.throws(() => filter.count('key-1'), TypeError, name);
    const own = file.slice(), copied = await openAny(own, { secret });
    structuredClone(own, { transfer: [own.buffer] });
    if (copied.info().wasm) assert.ok(copied.has('key-1'), name);
    else assert.throws(() => copied.has('key-1'), TypeError, name);
  }
});

test('hashes: undefined', async () => {
  const keyed = golden['standard-1.bloom'];
  await assert.rejects(core.open(keyed, { families, secret, hashes: undefined }), plain.HashError);
  assert.ok((await core.open(keyed, { families, secret, hashes: [siphash] })).has('key-1'));
});
