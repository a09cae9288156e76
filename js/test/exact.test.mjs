// Exact sets of random records against a plain definition in BigInt, the vectors of exact/testdata, and files that are
// damaged or hostile. The Go command built the set of js/example/revoked.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ExactSet, FormatError, openExact } from '../dist/exact.js';
import { siphash } from '../dist/hash/siphash.js';
import { certificate, issuers } from '../example/revoked/list.js';
import { internal } from './internal.mjs';
import { answer, bitsOf, fold, random, randomSections, small } from './ribbons.mjs';
import { trailed } from './trailed.mjs';
import { keysOf } from './vectors.mjs';

const { crc32c, keyCheck, OwnBuffer, putKey, sip, xxh3 } = internal;
const revoked = new Uint8Array(readFileSync(new URL('../example/revoked/revoked.exact', import.meta.url)));

/** Returns the bytes of a uvarint. */
function uvarint(v) {
  const out = [];
  for (v = BigInt(v); v > 127n; v >>= 7n) out.push(Number(v & 127n) + 128);
  return [...out, Number(v)];
}
const bytesOf = (v, n) => Array.from({ length: n }, (_, i) => Number((BigInt(v) >> BigInt(8 * i)) & 255n));

/** The hash of bytes as [Hi, Lo]. */
function hashOf(sum, bytes) {
  const buffer = new OwnBuffer(), h = new Int32Array(8), n = putKey(buffer, Uint8Array.from(bytes));
  sum(buffer.view, n, h);
  const word = (i) => BigInt(h[i] >>> 0) | (BigInt(h[i + 1] >>> 0) << 32n);
  return [word(2), word(0)];
}

/** The shapes of the parts of a record with these codes, in the order of the file. */
function shapesOf(codes, shape) {
  const rates = [...new Set(codes.map((code) => code >> 1))].filter((r) => r && r < 32);
  const index = codes.length > 1 ? [{ r: 0, value_bits: (codes.length - 1).toString(2).length }] : [];
  const parts = [...index, ...rates.map((r) => ({ r, value_bits: 0 })), { r: 0, value_bits: 1 }];
  return parts.map((part, i) => ({ ...small, ...shape(i), ...part }));
}

const ones = (1n << 64n) - 1n;
const positionOf = ([hi, lo], { b, seed }) =>
  fold(hi ^ lo ^ (((BigInt(seed) + 1n) * 0x9e3779b97f4a7c15n) & ones), 0x773ab51da30e124dn) >> BigInt(64 - b);

/** The count, the bits, the seed and the positions of a record of kind 2. */
function coded({ b, seed, list }) {
  const n = list.length, k = BigInt(Math.max(0, b - n.toString(2).length));
  let bits = '', next = 0n;
  for (const v of list) {
    const rest = ((v - next) & ((1n << k) - 1n)).toString(2).padStart(Number(k), '0');
    bits += '1'.repeat(Number((v - next) >> k)) + '0' + (k ? [...rest].reverse().join('') : '');
    next = v + 1n;
  }
  const bytes = (bits.match(/.{1,8}/g) ?? []).map((byte) => parseInt([...byte].reverse().join(''), 2));
  return n ? [...uvarint(n), b, ...uvarint(seed), ...bytes] : [0];
}

/**
 * Returns the bytes of a set of records of random bits, and what they answer. Each record has codes, and shape(i), the
 * shape of part i, or no slots for a part without keys.
 */
function make(records, { partitions = 0, hash = 1, seed = 5n, sum = xxh3(seed), edit = (head) => head } = {}) {
  let file = [], last = 0;
  const parsed = records.map(({ codes, shape, positions, dirty }, number) => {
    if (positions) {
      const counts = [...uvarint(1000 + number), ...uvarint(400), ...uvarint(partitions)];
      const edited = edit([0x89, 0x42, 0x4c, 0x58, 1, 2, ...bytesOf(last, 4), ...counts, ...coded(positions)], number);
      last = crc32c(Uint8Array.from(edited));
      file.push(...edited, ...bytesOf(last, 4));
      return { positions };
    }
    const shapes = shapesOf(codes, shape), parts = shapes.map(randomSections);
    if (dirty) parts.at(-1)[2][3] = 2 ** 31; // behind the tail
    const head = [0x89, 0x42, 0x4c, 0x58, 1, number ? 1 : 0];
    if (number) head.push(...bytesOf(last, 4));
    else head.push(hash, ...bytesOf(seed, 8));
    head.push(...uvarint(1000 + number), ...uvarint(400), ...uvarint(partitions));
    if (partitions) head.push(...uvarint(77));
    head.push(...uvarint(codes.length));
    for (const code of codes) head.push(...uvarint(code), ...uvarint(300), ...uvarint(200));
    for (const { w, seed, starts, tail, tail_seed } of shapes) {
      const layers = starts.flatMap((t) => uvarint(t / 64));
      if (!starts.length && !tail) head.push(0);
      else head.push(...uvarint(9), 2 * starts.length + (w > 64), ...uvarint(seed), ...layers, ...uvarint(tail),
        ...uvarint(tail_seed));
    }
    const edited = edit(head, number);
    file.push(...edited, ...bytesOf(crc32c(Uint8Array.from(edited)), 4));
    while (!number && file.length % 8) file.push(0);
    const body = parts.flatMap((sections, i) => sections.flatMap((words, j) => {
      const bytes = [...new Uint8Array(words.buffer)];
      return number && j === 2 ? bytes.slice(0, Math.ceil(bitsOf(shapes[i])[2] / 8)) : bytes;
    }));
    last = crc32c(Uint8Array.from(body));
    for (const b of body) file.push(b);
    file.push(...bytesOf(last, 4));
    return { codes, shapes, parts };
  });

  /** The answer of a record for the hash of a name and of a key. */
  const has = ({ codes, shapes, parts, positions }, name, [hi, lo]) => {
    if (positions) return +positions.list.includes(positionOf([hi, lo], positions));
    const ask = (i, [hi, lo]) => {
      const { starts, tail, r } = shapes[i];
      return starts.length || tail ? answer(shapes[i], parts[i], hi, lo) : r ? -1 : 0;
    };
    const code = codes[codes.length > 1 ? Math.min(ask(0, name), codes.length - 1) : 0], r = code >> 1;
    if (r === 32) return code & 1;
    if (r && ask(shapes.findIndex((shape) => shape.r === r), [hi, lo]) < 0) return code & 1;
    const second = [
      fold(hi ^ 0xd62833eb990dae16n, 0xca4e615764ca1c4fn), fold(lo ^ 0x681c64a0847dd1a6n, 0xa50932dd2babb779n),
    ];
    return (code & 1) ^ ask(shapes.length - 1, second);
  };
  const want = (name, key) => {
    const [hi, lo] = hashOf(sum, name ? [...uvarint(name.length), ...name, ...key] : key);
    const ofName = name && hashOf(sum, name);
    return parsed.reduce((odd, record) => odd ^ has(record, ofName, [hi, lo & ~0xffffffffn]), 0) > 0;
  };
  return { records: file, file: trailed(file, { updates: records.length - 1 }), want };
}

const tailOnly = () => ({ tail: 70, tail_seed: 9 });
const lists = [[2048, 64], [640], [4096, 2048, 128]];
const layered = (i) => ({ starts: lists[i % 3], seed: i, w: i % 2 ? 128 : 64 });
const none = () => ({});
const mixed = (i) => [layered, tailOnly, none][i % 3](i);
const keyOf = (n) => Array.from({ length: 1 + (n % 40) }, () => Number(random() & 255n));
const nameOf = (n) => Array.from({ length: [0, 5, 127, 128, 300][n % 5] }, (_, i) => (i + n) & 255);

for (const [what, records] of Object.entries({
  'no level 1': [{ codes: [0], shape: layered }],
  'inverted, level 1': [{ codes: [7], shape: layered }],
  'tails': [{ codes: [2], shape: tailOnly }],
  'all': [{ codes: [65], shape: none }],
  'empty parts': [{ codes: [4], shape: none }],
  'updates': [{ codes: [6], shape: layered }, { codes: [3], shape: tailOnly }, { codes: [0], shape: mixed }],
})) {
  test(`a set: ${what}`, async () => {
    const { file, want } = make(records), set = await openExact(file);
    const odd = new Uint8Array(file.length + 1).subarray(1);
    odd.set(file);
    const unaligned = await openExact(odd);
    for (let n = 0; n < 400; n++) {
      const key = keyOf(n);
      assert.equal(set.has(Uint8Array.from(key)), want(undefined, key), String(key));
      assert.equal(unaligned.has(Uint8Array.from(key)), want(undefined, key), String(key));
    }
    assert.throws(() => set.hasIn('x', 'y'), TypeError);
    assert.deepEqual(set.info(), {
      universe: 999 + records.length, members: 400, partitions: 0, updates: records.length - 1, bytes: file.length,
      hash: 'xxh3-128',
    });
  });
}

test('updates by positions', async () => {
  const keys = Array.from({ length: 300 }, (_, n) => keyOf(n)), sum = xxh3(5n), base = { codes: [65], shape: none };
  const hashes = keys.map((key) => hashOf(sum, key)).map(([hi, lo]) => [hi, lo & ~0xffffffffn]);
  const cases = [
    [1, 1, 0], [1, 2, 3], [5, 20, 9], [12, 40, 65_535], [31, 9, 1], [32, 100, 2], [33, 100, 4], [40, 3, 5], [63, 30, 6],
    [64, 250, 7], [64, 1, 8], [9, 0, 0],
  ];
  for (const [b, n, seed] of cases) {
    const all = [...new Set(hashes.map((h) => positionOf(h, { b, seed })))].slice(0, n);
    const positions = { b, seed, list: all.sort((x, y) => (x < y ? -1 : 1)) };
    const { file, want } = make([base, { positions }, { codes: [4], shape: layered }]), set = await openExact(file);
    for (const key of keys) assert.equal(set.has(Uint8Array.from(key)), want(undefined, key), `b = ${b}, n = ${n}`);
  }
  // Of the record: 6 bytes, previous 4, universe 2, members 2, partitions 1, count at 15, b at 16, seed at 17
  const positions = { b: 9, seed: 3, list: [1n, 80n, 511n] };
  for (const [what, change] of Object.entries({
    'b of 0': (r) => (r[16] = 0), 'b of 65': (r) => (r[16] = 65),
    'a seed of 65536': (r) => r.splice(17, 1, ...uvarint(65_536)),
    '4097 positions': (r) => r.splice(15, 1, ...uvarint(4097)), 'a missing byte': (r) => r.pop(),
    'a position of 2^b': (r) => (r[16] = 8), 'bits behind': (r) => (r[r.length - 1] |= 128),
    'ones without end': (r) => r.splice(18, 4, ...Array(3000).fill(255)), previous: (r) => (r[6] ^= 1),
    partitions: (r) => (r[14] = 1),
  })) {
    const edit = (head, number) => (number && change(head), head);
    const error = what === 'a missing byte' ? undefined : 'CorruptError';
    await refused(make([base, { positions }], { edit }).file, what, error);
  }
  await refused(make([{ positions }]).file, 'no base', 'CorruptError');
  for (const b of [9, 32, 40]) {
    const beyond = { b, seed: 3, list: [1n, 2n, 2n ** BigInt(b) + 5n] };
    await refused(make([base, { positions: beyond }]).file, `a position above 2^${b}`, 'CorruptError');
  }
});

test('a set with partitions and updates', async () => {
  const codes = [0, 1, 2, 3, 9, 16, 62, 64, 65];
  const { file, want } = make([
    { codes, shape: layered }, { codes: [2], shape: layered }, { positions: { b: 2, seed: 1, list: [1n, 2n] } },
    { codes: [4, 5, 65], shape: mixed },
  ], { partitions: 30 });
  const set = await openExact(file);
  let yes = 0;
  for (let n = 0; n < 1500; n++) {
    const name = nameOf(n), key = keyOf(n), has = want(name, key);
    assert.equal(set.hasIn(Uint8Array.from(name), Uint8Array.from(key)), has, `${name} ${key}`);
    yes += has;
  }
  assert.ok(yes > 300 && yes < 1200, `${yes} of 1500`);
  assert.throws(() => set.has('y'), TypeError);
  assert.equal(set.info().partitions, 30);
});

test('a secret', async () => {
  const secret = Uint8Array.from({ length: 16 }, (_, i) => i), sum = sip(secret), seed = keyCheck(sum);
  const { file, want } = make([{ codes: [4], shape: layered }], { hash: 2, seed, sum });
  await assert.rejects(openExact(file), { name: 'HashError' });
  await assert.rejects(openExact(file, { hashes: [siphash] }), { name: 'NoSecretError' });
  await assert.rejects(openExact(file, { hashes: [siphash], secret: new Uint8Array(16) }), { name: 'SecretError' });
  const set = await openExact(file, { hashes: [siphash], secret });
  for (let n = 0; n < 200; n++) {
    const key = keyOf(n);
    assert.equal(set.has(Uint8Array.from(key)), want(undefined, key));
  }
});

const vectors = new URL('../../exact/testdata/', import.meta.url);
const names = readdirSync(vectors).filter((name) => name.endsWith('.json'));
test('there are vectors', () => assert.ok(names.length > 12, `${names.length} files`));

for (const name of names) {
  test(`vectors ${name}`, async () => {
    const v = JSON.parse(readFileSync(new URL(name, vectors), 'utf8'));
    const file = readFileSync(new URL(v.file, new URL(name, vectors)));
    const set = await openExact(file, { hashes: [siphash], secret: v.secret });
    const { universe, members, partitions, updates, hash } = set.info();
    assert.deepEqual({ universe, members, partitions, updates, hash }, {
      universe: v.universe, members: v.members, partitions: v.partitions, updates: v.updates, hash: v.hash,
    });
    for (const { partition, has, ...vector } of v.keys) {
      for (const key of keysOf(vector)) {
        assert.equal(v.partitions ? set.hasIn(partition, key) : set.has(key), has, `${partition} ${key}`);
      }
    }
  });
}

test('the set of the example has no wrong answer', async () => {
  const set = await openExact(revoked);
  assert.ok(set instanceof ExactSet);
  let asked = 0, members = 0;
  issuers.forEach(({ name, certificates }, issuer) => {
    for (let i = 0; i < certificates; i++, asked++) {
      const { serial, revoked } = certificate(issuer, i);
      if (set.hasIn(name, serial) !== revoked) assert.fail(`${name} ${serial}`);
      if (revoked) members++;
    }
  });
  const { universe, members: stored, partitions } = set.info();
  assert.deepEqual([universe, stored, partitions], [asked, members, issuers.length]);
});

/** Fails unless a file is refused with an error of this package. */
const refused = (file, what, error) => assert.rejects(openExact(file), (e) => {
  assert.ok(e instanceof FormatError, `${what}: ${e.stack}`);
  if (error) assert.equal(e.name, error, what);
  return true;
}, what);

test('damage', async () => {
  const update = make([{ codes: [2], shape: tailOnly }, { codes: [2], shape: tailOnly }]).file;
  for (const file of [revoked, update]) {
    for (let n = 0; n < file.length; n++) await refused(file.subarray(0, n), `cut at ${n}`);
    await refused(Uint8Array.of(...file, 0), 'a byte more');
    const copy = file.slice();
    for (let i = 0; i < file.length; i++) {
      for (const flip of [1 << i % 8, 255]) {
        copy[i] ^= flip;
        await refused(copy, `byte ${i} ^ ${flip}`);
        copy[i] ^= flip;
      }
    }
  }
  const bad = revoked.slice();
  bad[1000] ^= 1;
  assert.ok((await openExact(bad, { verify: false })).info().members > 0);
});

test('every cut is refused, and every change', async () => {
  for (const name of names) {
    const v = JSON.parse(readFileSync(new URL(name, vectors), 'utf8'));
    const options = { hashes: [siphash], secret: v.secret };
    const file = new Uint8Array(readFileSync(new URL(v.file, new URL(name, vectors))));
    const step = Math.ceil(file.length / 4000), refuses = (bytes, what) =>
      assert.rejects(openExact(bytes, options), FormatError, `${name}, ${what}`);
    for (let n = 0; n < file.length; n += step) await refuses(file.subarray(0, n), `cut at ${n}`);
    for (let n = Math.max(0, file.length - 50); n < file.length; n++) await refuses(file.subarray(0, n), `cut at ${n}`);
    await refuses(Uint8Array.of(...file, 0), 'a byte more');
    await refuses(Uint8Array.of(...file, ...file.subarray(-20)), 'two trailers');
    const copy = file.slice();
    for (let i = 0; i < file.length; i += step) {
      for (const flip of [1 << i % 8, 255]) {
        copy[i] ^= flip;
        await refuses(copy, `byte ${i} ^ ${flip}`);
        copy[i] ^= flip;
      }
    }
  }
});

test('trailers that contradict the records', async () => {
  const read = (name) => readFileSync(new URL(name, vectors));
  const file = read('updates.exact'), set = file.subarray(0, -20), { updates } = JSON.parse(read('updates.json'));
  assert.equal(Buffer.compare(trailed(set, { updates }), file), 0);
  for (const [what, fields, error] of [
    ['another number of updates', { updates: updates + 1 }, 'CorruptError'],
    ['another length', { updates, length: file.length - 1 }, 'CorruptError'],
    ['a length of 2^64-1', { updates, length: 2n ** 64n - 1n }, 'CorruptError'],
    ['another magic', { updates, magic: 0x464c4289 }, 'MagicError'],
  ]) await refused(trailed(set, fields), what, error);
  await refused(trailed(file, { updates }), 'two trailers', 'CorruptError');
  const { records } = make([{ codes: [2], shape: tailOnly }, { codes: [2], shape: tailOnly }]);
  await openExact(trailed(records, { updates: 1 }));
  await refused(Uint8Array.from(records), 'no trailer', 'TruncatedError');
});

test('contradictions under right checksums', async () => {
  const base = { codes: [2, 4], shape: layered }, options = { partitions: 3 };
  await openExact(make([base], options).file);
  // Of the header: 15 bytes up to the seed, universe 2, members 2, partitions 1, entropy 1, number of classes 1, ...
  const edits = {
    magic: [(b) => (b[3] = 0), 'MagicError'], 'version 0': [(b) => (b[4] = 0), 'VersionError'],
    'version 2': [(b) => (b[4] = 2), 'VersionError'], 'kind 1': [(b) => (b[5] = 1), 'CorruptError'],
    'kind 2': [(b) => (b[5] = 2)], 'hash 0': [(b) => (b[6] = 0), 'HashError'],
    'hash 3': [(b) => (b[6] = 3), 'HashError'],
    'hash 2, check 0': [(b) => (b[6] = 2, b.fill(0, 7, 15)), 'CorruptError'],
    'universe below members': [(b) => (b[16] = 2), 'CorruptError'],
    'a superfluous byte': [(b) => (b[16] = 0), 'CorruptError'],
    'no partitions, two classes': [(b) => b.splice(19, 2, 0), 'CorruptError'],
    'no class': [(b) => (b[21] = 0), 'CorruptError'], '67 classes': [(b) => (b[21] = 67), 'CorruptError'],
    'code 66': [(b) => (b[22] = 66), 'CorruptError'], 'equal codes': [(b) => (b[22] = 4), 'CorruptError'],
    'more members than keys': [(b) => b.splice(25, 2, ...uvarint(301)), 'CorruptError'],
    'a number of 2^53': [(b) => b.splice(15, 2, ...uvarint(2n ** 53n)), 'TooLargeError'],
    'a number of 2^64': [(b) => b.splice(15, 2, ...uvarint(2n ** 64n))],
    'a number without end': [(b) => b.splice(15, 2, ...Array(30).fill(128), 1), 'CorruptError'],
  };
  for (const [what, [change, error]] of Object.entries(edits)) {
    const edit = (head) => (change(head), head);
    await refused(make([base], { ...options, edit }).file, what, error);
  }
  const parts = {
    '17 layers': [34], 'seed 65536': [2, ...uvarint(65_536), 1, 0, 0], 'no starts': [2, 0, 0, 0, 0],
    '2^42+1 units of starts': [2, 0, ...uvarint(2n ** 42n + 1n), 0, 0], 'a tail of 257': [0, 0, ...uvarint(257), 0],
    'seed of a tail of 65536': [0, 0, 5, ...uvarint(65_536)], 'no slots': [0, 0, 0, 0],
    'a seed without layers': [0, 3, 5, 0], 'a tail seed without tail': [2, 0, 1, 0, 5],
    'many starts': [2, 0, ...uvarint(2n ** 42n), 0, 0],
  };
  for (const [what, bytes] of Object.entries(parts)) {
    const one = { codes: [0], shape: none };
    const edit = (head) => [...head.slice(0, -1), 9, ...bytes];
    await refused(make([one], { edit }).file, what, what === 'many starts' ? 'TruncatedError' : 'CorruptError');
  }
  await refused(make([{ codes: [0], shape: tailOnly, dirty: true }]).file, 'a bit behind the tail', 'CorruptError');
  const two = [{ codes: [2], shape: tailOnly }, { codes: [2], shape: tailOnly }];
  await openExact(make(two).file);
  const second = (change) => (head, number) => (number ? change(head) : head);
  for (const [what, change] of Object.entries({
    previous: (b) => ((b[6] ^= 1), b),
    'a second base': (b) => ((b[5] = 0), b),
    'partitions in one record': (b) => (b.splice(14, 1, 1, 1), b),
  })) await refused(make(two, { edit: second(change) }).file, what, 'CorruptError');
  const first = make([{ codes: [0], shape: none }]).records;
  const small = make(Array(2).fill({ codes: [0], shape: none })).records.slice(first.length);
  const chain = (updates) => trailed([...first, ...Array(updates).fill(small).flat()], { updates });
  await refused(chain(256), '257 records', 'TooLargeError');
  assert.equal((await openExact(chain(255))).info().updates, 255);
});

test('other arguments', async () => {
  for (const file of [undefined, null, 'x', 5, {}, [1, 2], new Uint16Array(8)]) {
    await assert.rejects(openExact(file), TypeError);
  }
  const own = revoked.slice(), set = await openExact(own.buffer);
  assert.equal(set.hasIn(issuers[6].name, certificate(6, 0).serial), true);
  structuredClone(own, { transfer: [own.buffer] });
  assert.throws(() => set.hasIn('x', 'y'), TypeError);
});
