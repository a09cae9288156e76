// Ribbons of every shape against a plain definition in BigInt, over random solutions, and the parameters of specs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { internal } from './internal.mjs';
import { answer, halves, random, randomSections, small } from './ribbons.mjs';

const { families, Spec } = internal, ones = (1n << 64n) - 1n;
const family = families.find((f) => f.name === 'ribbon');
const specOf = ({ starts, ...numbers }) => {
  const items = Object.entries(numbers).filter(([name, v]) => v || name === 'r' || name === 'w');
  if (starts.length) items.push(['starts', starts.join('-')]);
  return `ribbon(${items.map((item) => item.join('=')).sort().join(',')})`;
};

/** Opens a ribbon of a shape, of random sections unless they are given. */
function open(shape, { sections, text = specOf(shape), keys = shape.tail || shape.starts.length ? 1n : 0n } = {}) {
  sections ??= randomSections(shape);
  const spec = new Spec(text);
  return { query: family.open({ header: { keys, spec }, spec, sections }), sections };
}

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
      const hi = n ? random() : ones, lo = n > 1 ? random() : ones, h = Int32Array.of(...halves(lo), ...halves(hi));
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
  const hashes = Array.from({ length: 50 }, () => Int32Array.of(...halves(random()), ...halves(random())));
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
