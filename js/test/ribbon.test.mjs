// Ribbons of every shape against a plain definition in BigInt, over random solutions, and the parameters of specs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { internal } from './internal.mjs';

const { families, Spec } = internal;
const family = families.find((f) => f.name === 'ribbon');
const mask = (1n << 64n) - 1n, golden = 0x9e3779b97f4a7c15n;

let state = 88172645463325252n;
function random() {
  state ^= (state << 13n) & mask;
  state ^= state >> 7n;
  state ^= (state << 17n) & mask;
  return state;
}
const fold = (a, b) => ((a * b) >> 64n) ^ ((a * b) & mask);
const rotl = (v, s) => ((v << s) | (v >> (64n - s))) & mask;
const parity = (v) => [...v.toString(2)].filter((c) => c === '1').length % 2;
const halves = (v) => [Number(BigInt.asIntN(32, v)), Number(BigInt.asIntN(32, v >> 32n))];

function factor(j) {
  if (j === 0n) return 1n;
  let z = (j * golden) & mask;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
  return z ^ (z >> 31n) | 1n;
}

function layersOf({ w, wide, starts }) {
  return starts.map((T) => {
    const width = T < 2048 ? 64 : w;
    const [B, ...thresholds] = T < 2048 ? [32, 0, 6, 13, 32] : w === 64 ? [128, 0, 17, 38, 128]
      : T < 49152 ? [256, 0, 20, 51, 256] : [512, 0, 41, 102, 512];
    const slots = T + width * Math.ceil(T / 2 ** 18), wider = Math.ceil((slots / 64) * wide / 1024);
    return { T, width, B, thresholds, wider, blocks: slots / 64, buckets: Math.ceil(T / B) };
  });
}

/** The numbers of 64-bit words of the sections. */
function sizes(shape) {
  const layers = layersOf(shape), columns = shape.value_bits + shape.r;
  const sum = (f) => layers.reduce((n, layer) => n + f(layer), 0);
  return [
    sum((l) => l.blocks * columns + l.wider), Math.ceil(sum((l) => l.buckets) / 32),
    Math.ceil(shape.tail * (columns + (shape.wide > 0)) / 64),
  ];
}

/** What docs/format/ribbon.md says about a key: its value, or -1 if it is absent. */
function answer(shape, sections, hi, lo) {
  const { r, value_bits: values, seed, tail, tail_seed } = shape, columns = values + r;
  if (values) lo &= ~0xffffffffn;
  const word = (i, at) => BigInt(sections[i][2 * at]) | BigInt(sections[i][2 * at + 1]) << 32n;
  const bit = (i, at) => Number(word(i, Math.floor(at / 64)) >> BigInt(at % 64) & 1n);
  const x = hi ^ lo, c = fold(x, 0x71bf41d65460b8e9n), d = fold(x, 0x04666d532545ae33n);
  const print = fold(x, 0x50a89a3be7770cbfn);
  const decide = (fingerprints, of) => {
    for (let k = 0; k < fingerprints; k++) if (of(values + k) !== Number(print >> BigInt(k) & 1n)) return -1;
    return Array.from({ length: values }, (_, k) => of(k) * 2 ** k).reduce((a, b) => a + b, 0);
  };
  let first = 0, bucket = 0;
  for (const [i, { T, width, B, thresholds, wider, blocks, buckets }] of layersOf(shape).entries()) {
    const j = BigInt(i + 16 * seed), t = Number(((hi * factor(j)) & mask) * BigInt(T) >> 64n);
    const at = 2 * (bucket + Math.floor(t / B));
    if (t % B >= thresholds[bit(1, at) + 2 * bit(1, at + 1)]) {
      const turn = 11n * j % 64n, s = t + width * Math.floor(t / 2 ** 18), b = Math.floor(s / 64);
      const row = (rotl(c, turn) | 1n | (width > 64 ? rotl(d, turn) << 64n : 0n)) << BigInt(s % 64);
      assert.ok(b + width / 64 < blocks, 'the window is in the layer');
      return decide(r + (b + width / 64 < wider), (k) => {
        let sum = 0;
        for (let n = 0; n <= width / 64; n++) {
          const at = first + (b + n) * columns + Math.min(b + n, wider) + k;
          sum ^= parity(word(0, at) & (row >> BigInt(64 * n)) & mask);
        }
        return sum;
      });
    }
    first += blocks * columns + wider;
    bucket += buckets;
  }
  return decide(columns - values + (shape.wide > 0), (k) => {
    let sum = 0;
    for (let at = 0; at < tail; at++) {
      const salt = (BigInt(4 * tail_seed + (at >> 6) + 1) * golden) & mask;
      const word = fold(fold(x ^ salt, 0x7ea8b4433010cd85n) ^ hi, 0x80b5ac432cbdf5c9n);
      sum ^= bit(2, k * tail + at) & Number(word >> BigInt(at % 64) & 1n);
    }
    return sum;
  });
}

const specOf = ({ starts, ...numbers }) => {
  const items = Object.entries(numbers).filter(([name, v]) => v || name === 'r' || name === 'w');
  if (starts.length) items.push(['starts', starts.join('-')]);
  return `ribbon(${items.map((item) => item.join('=')).sort().join(',')})`;
};

/** Opens a ribbon of a shape. Sections are random bits unless they are given. */
function open(shape, { sections, text = specOf(shape), keys = shape.tail || shape.starts.length ? 1n : 0n } = {}) {
  sections ??= sizes(shape).map((n) => Uint32Array.from({ length: 2 * n }, () => Number(random() >> 32n)));
  const layers = layersOf(shape), ends = [2 * layers.reduce((n, l) => n + l.buckets, 0),
    shape.tail * (shape.value_bits + shape.r + (shape.wide > 0))];
  ends.forEach((end, i) => { // zeros behind the last bit
    for (let at = end; at < 32 * sections[i + 1].length; at++) sections[i + 1][at >> 5] &= ~(1 << (at & 31));
  });
  const spec = new Spec(text);
  return { query: family.open({ header: { keys, spec }, spec, sections }), sections };
}

const small = { r: 2, value_bits: 0, w: 64, wide: 0, seed: 0, starts: [], tail: 0, tail_seed: 0 };
const shapes = [
  { ...small, tail: 1, tail_seed: 65535 }, { ...small, tail: 96, wide: 1 },
  { ...small, tail: 256, tail_seed: 7, value_bits: 32, r: 0 }, { ...small, starts: [64] },
  { ...small, starts: [1984, 2048, 64], seed: 3, tail: 33, tail_seed: 1 },
  { ...small, starts: [16_384, 960], seed: 65_535, tail: 97, r: 1, wide: 511 },
  { ...small, starts: [16_384, 2048, 1024, 64], w: 128, tail: 200, value_bits: 5, wide: 1023 },
  { ...small, starts: [49_152, 49_088], w: 128, seed: 12, tail: 64, r: 31, wide: 3, value_bits: 1 },
  { ...small, starts: [2 ** 18 + 64, 4096], w: 128, r: 1, tail: 10 },
  { ...small, starts: [2 ** 18 * 2, 2 ** 18 - 64], r: 3, wide: 700, seed: 1 },
  { ...small, starts: [640], r: 32, value_bits: 32, tail: 60 },
  { ...small, starts: Array(16).fill(64), tail: 60, value_bits: 3, r: 0 },
];
for (const shape of shapes) {
  test(specOf(shape), () => {
    const { query, sections } = open(shape);
    let present = 0;
    for (let n = 0; n < 1500; n++) {
      const hi = n ? random() : mask, lo = n > 1 ? random() : mask, h = Int32Array.from([...halves(lo), ...halves(hi)]);
      const want = answer(shape, sections, hi, lo);
      assert.equal(query.has(h), want >= 0, `has of ${hi} ${lo}`);
      if (shape.value_bits) assert.equal(query.get(h), want < 0 ? undefined : BigInt(want), `get of ${hi} ${lo}`);
      present += want >= 0;
    }
    assert.equal('get' in query, shape.value_bits > 0);
    if (shape.r < 10) assert.ok(present > 100, `${present} present`);
  });
}

test('without keys', () => {
  const hashes = Array.from({ length: 50 }, () => Int32Array.from([...halves(random()), ...halves(random())]));
  const none = open({ ...small, r: 1, value_bits: 3 }).query;
  const all = open({ ...small, r: 0, value_bits: 3 }).query;
  for (const h of hashes) {
    assert.equal(none.has(h), false);
    assert.equal(none.get(h), undefined);
    assert.equal(all.has(h), true);
    assert.equal(all.get(h), 0n);
  }
});

test('specs and sections that contradict', () => {
  const shape = { ...small, starts: [2048, 64], tail: 20 }, text = specOf(shape);
  assert.equal(text, 'ribbon(r=2,starts=2048-64,tail=20,w=64)');
  open(shape);
  const edits = [
    ['r=2', 'r=33'], ['r=2', 'r=0'], ['r=2', 'r=02'], ['r=2,', ''], ['w=64', 'w=32'], ['w=64', 'w=96'],
    ['w=64', 'w=256'], [',w=64', ''], ['starts=2048-64', 'starts=2048'], ['starts=2048-64', 'starts=2048-64-64'],
    ...['2048-65', '2048-0', '2048-', '-2048', '2048--64', '2048-064', '2.048e3-64', '0x800-64', '1e21', 'Infinity',
      'x', Array(17).fill(64).join('-'), '9007199254740992', '18446744073709551616'].map((s) => ['2048-64', s]),
    ['tail=20', 'tail=0'], ['tail=20', 'tail=257'], ['tail=20', 'tail=90'], ['w=64', 'w=64,wide=0'],
    ['w=64', 'w=64,wide=1'], ['w=64', 'w=64,wide=1024'], ['starts', 'seed=0,starts'], ['starts', 'seed=65536,starts'],
    [',w=64', ',tail_seed=0,w=64'], [',w=64', ',tail_seed=65536,w=64'], [',w=64', ',value_bits=0,w=64'],
    [',w=64', ',value_bits=33,w=64'], [',w=64', ',value_bits=1,w=64'], ['r=2', 'q=1,r=2'],
  ];
  for (const [from, to] of edits) {
    assert.ok(text.includes(from));
    assert.throws(() => open(shape, { text: text.replace(from, to) }), { name: /^(Corrupt|TooLarge)Error$/ }, to);
  }
  const others = [{ r: 32, wide: 1 }, { tail: 0, tail_seed: 1 }, { starts: [], seed: 1 }];
  for (const other of others) assert.throws(() => open({ ...shape, ...other }), { name: 'CorruptError' });
  assert.throws(() => open(shape, { keys: 0n }), { name: 'CorruptError' });
  assert.throws(() => open(small, { keys: 1n }), { name: 'CorruptError' });
  const { sections } = open(shape), fails = (other, what) => {
    const spec = new Spec(text);
    const file = { header: { keys: 1n, spec }, spec, sections: other };
    assert.throws(() => family.open(file), { name: 'CorruptError' }, what);
  };
  fails(sections.slice(0, 2), '2 sections');
  fails([...sections, new Uint32Array(2)], '4 sections');
  sections.forEach((s, i) => {
    fails(sections.with(i, s.slice(2)), `section ${i} is short`);
    fails(sections.with(i, new Uint32Array(s.length + 2)), `section ${i} is long`);
  });
  for (const [i, bit] of [[1, 36], [1, 63], [2, 40], [2, 63]]) {
    const other = sections.map((s) => s.slice());
    other[i][bit >> 5] |= 1 << (bit & 31);
    fails(other, `bit ${bit} of section ${i}`);
  }
});
