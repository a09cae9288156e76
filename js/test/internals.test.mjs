// Arithmetic, checksums, keys and specs against plain definitions.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { internal } from './internal.mjs';

const {
  bitsAt, carry, crc32c, mul, mulHigh, mulLow, OwnBuffer, plainSha256, position, product, putKey, remix, sha256, Spec,
} = internal;

/** Numbers of n bits: edges, and some from a generator with a fixed start. */
function numbers(n) {
  const top = 1n << BigInt(n), out = [0n, 1n, 2n, 0xffffn, 0x10000n, top - 1n, top - 2n, top >> 1n, (top >> 1n) - 1n];
  for (let x = 88172645463325252n, i = 0; i < 40; i++) {
    x ^= (x << 13n) & 0xffffffffffffffffn;
    x ^= x >> 7n;
    x ^= (x << 17n) & 0xffffffffffffffffn;
    out.push(x % top);
  }
  return out;
}
const low = (v) => Number(BigInt.asIntN(32, v)), high = (v) => low(v >> 32n);
const words = (...at) => at.reduceRight((v, i) => (v << 32n) | BigInt(product[i] >>> 0), 0n);

test('products', () => {
  for (const a of numbers(64)) {
    for (const b of numbers(64)) {
      mul(low(a), high(a), low(b), high(b));
      assert.equal(words(0, 1, 2, 3), a * b);
      mulLow(low(a), high(a), low(b), high(b));
      assert.equal(words(0, 1), BigInt.asUintN(64, a * b));
    }
  }
  for (const a of numbers(32)) {
    for (const b of numbers(32)) {
      assert.equal(BigInt(mulHigh(low(a), low(b)) >>> 0), (a * b) >> 32n);
      assert.equal(carry(low(a + b), low(a)), Number((a + b) >> 32n));
    }
  }
});

test('positions', () => {
  for (const bits of [1, 8, 31, 32, 33, 40, 53]) {
    for (const m of numbers(bits)) {
      for (const x of numbers(64)) {
        assert.equal(BigInt(position(low(x), high(x), Number(m))), (x * m) >> 64n, `${x}·${m}`);
      }
    }
  }
  assert.equal(position(-1, -1, 2 ** 53), 2 ** 53 - 1);
});

test('remix', () => {
  const mask = (1n << 64n) - 1n, fold = (a, b) => ((a * b) >> 64n) ^ ((a * b) & mask);
  for (const lo of numbers(64)) {
    for (const round of [1n, 2n, 3n, 4n, 9n]) {
      const x = fold((lo + round * 0x9e3779b97f4a7c15n) & mask, 0x6a09e667f3bcc909n);
      remix(low(lo), high(lo), Number(round));
      assert.equal(words(0, 1), fold(x, 0x9e3779b97f4a7c15n));
    }
  }
});

test('bitsAt', () => {
  const w = Uint32Array.from(numbers(32).slice(0, 9), Number);
  const all = w.reduceRight((v, x) => (v << 32n) | BigInt(x), 0n);
  for (let at = 0; at < 8 * 32; at++) {
    assert.equal(BigInt(bitsAt(w, at) >>> 0), (all >> BigInt(at)) & 0xffffffffn, `bit ${at}`);
  }
});

test('CRC-32C', () => {
  assert.equal(crc32c(new TextEncoder().encode('123456789')), 0xe3069283);
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  const bytes = Uint8Array.from({ length: 300 }, (_, i) => (i * 37) ^ (i >> 3));
  for (let n = 0; n < 300; n++) {
    let plain = ~0;
    for (const b of bytes.subarray(0, n)) {
      plain ^= b;
      for (let i = 0; i < 8; i++) plain = (plain >>> 1) ^ (plain & 1 ? 0x82f63b78 : 0);
    }
    assert.equal(crc32c(bytes.subarray(0, n)), ~plain >>> 0);
    const cut = (n * 7) % (n + 1);
    assert.equal(crc32c(bytes.subarray(cut, n), crc32c(bytes.subarray(0, cut))), ~plain >>> 0);
  }
});

test('SHA-256', async () => {
  for (let n = 0; n < 200; n++) {
    const bytes = Uint8Array.from({ length: n }, (_, i) => i * n);
    const want = createHash('sha256').update(bytes).digest('hex');
    assert.equal(Buffer.from(plainSha256(bytes)).toString('hex'), want);
    assert.equal(await sha256(bytes), want);
  }
});

test('keys are bytes', () => {
  const buffer = new OwnBuffer();
  const bytes = (key) => Uint8Array.from(buffer.bytes.subarray(0, putKey(buffer, key)));
  const texts = ['', 'a', 'Grüße', '日本語', '🙂 emoji', '\0\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\u{10000}\u{10ffff}',
    'x'.repeat(1000), 'ü'.repeat(1000), `${'x'.repeat(700)}🙂`];
  for (const text of texts) {
    // bytes() evaluates buffer.bytes before putKey may replace it
    const n = putKey(buffer, text), want = new TextEncoder().encode(text);
    assert.deepEqual(buffer.bytes.slice(0, n), want);
    assert.deepEqual(bytes(want), want);
    assert.deepEqual(bytes(Buffer.from(want)), want);
  }
  const long = Uint8Array.from({ length: 5000 }, (_, i) => i), n = putKey(buffer, long);
  assert.deepEqual(buffer.bytes.slice(0, n), long);
  const pairs = [[0n, [0, 0]], [255n, [255, 0]], [0x123456789abcdef0n, [0x9abcdef0, 0x12345678]],
    [2n ** 64n - 1n, [-1, -1]], [-1n, [0xffffffff, 0xffffffff]], [-(2n ** 63n), [0, 0x80000000]],
    [-(2n ** 63n), [0, -0x80000000]]];
  for (const [integer, pair] of pairs) {
    const want = new Uint8Array(BigUint64Array.of(BigInt.asUintN(64, integer)).buffer);
    assert.deepEqual(bytes(integer), want, `${integer}`);
    assert.deepEqual(bytes(pair), want, `${pair}`);
  }
});

test('what is no key', () => {
  const buffer = new OwnBuffer();
  const lone = ['\ud800', '\udc00', 'a\ud83d', '\ud83da', '\ude42\ud83d', 'x'.repeat(500) + '\udfff'];
  const types = [1, 0, NaN, null, undefined, true, {}, [], [1], [1, 2, 3], [1n, 2n], ['1', '2'], [1.5, 0], [2 ** 32, 0],
    [0, -(2 ** 31) - 1], Symbol('s'), () => 1, new Uint16Array(4), new DataView(new ArrayBuffer(8)),
    new ArrayBuffer(8)];
  for (const key of [...lone, ...types]) assert.throws(() => putKey(buffer, key), TypeError);
  for (const key of [2n ** 64n, -(2n ** 63n) - 1n, 10n ** 40n]) assert.throws(() => putKey(buffer, key), RangeError);
});

test('specs', () => {
  const good = { standard: {}, 'a(b=c)': { b: 'c' }, 'a_1(b=1,c=Z_.+-9)': { b: '1', c: 'Z_.+-9' },
    'x(a1=1,a_=2,b=3)': 0 };
  for (const [text, params] of Object.entries(good)) {
    const spec = new Spec(text);
    if (params) assert.deepEqual(Object.fromEntries(spec.params), params);
  }
  const bad = ['', '(', 'A', '1a', '_a', 'a()', 'a(', 'a(b)', 'a(b=)', 'a(=c)', 'a(b=c', 'a(b=c))', 'a(b=c)x',
    'a(b=c,)',
    'a(,b=c)', 'a( b=c)', ' a', 'a ', 'a(b=c,b=d)', 'a(c=1,b=1)', 'a(b=c\n)', 'a\n', 'a(b=ü)', 'a(b=c(d))',
    'a'.repeat(513)];
  for (const text of bad) assert.throws(() => new Spec(text), internal.CorruptError, text);
});
