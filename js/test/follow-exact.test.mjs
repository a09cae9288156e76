// followExact: a month of updates, and publishers that serve badly.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CorruptError, ExactSet, openExact } from '../dist/exact.js';
import { siphash } from '../dist/hash/siphash.js';
import { MagicError } from '../dist/plain.js';
import { golden } from './damage.mjs';
import { because, closing, following, followingExact, followingSharded, is, refuses } from './following.mjs';
import { hashOf, Publisher } from './publisher.mjs';
import { trailed } from './trailed.mjs';

const read = (name) => new Uint8Array(readFileSync(new URL(name, import.meta.url)));

/**
 * A set that `bloomery exact build` and 30 times `exact update` wrote, of keys key0 to key1999. Its members on day d
 * are key d to key d + 99. Each update has 24 bytes.
 */
const month = read('days.exact'), base = month.length - 20 - 30 * 24;
const day = (d) => trailed(month.subarray(0, base + 24 * d), { updates: d });
const keys = Array.from({ length: 2000 }, (_, i) => `key${i}`);

/** The number of wrong answers of a follower on a day. */
const wrong = (f, d) => keys.filter((key, i) => f.has(key) !== (i >= d && i < d + 100)).length;

/** The delta of method 5 from a file to one that begins with its records. */
function append(from, to) {
  const [ofBase, ofTarget] = [from, to].map((file) => Buffer.from(hashOf(file), 'hex'));
  const start = Buffer.from([0x89, 0x42, 0x44, 5]);
  return Buffer.concat([start, ofBase.subarray(0, 4), ofTarget.subarray(0, 16), to.subarray(from.length - 20)]);
}

const exact = { kind: 'exact', fpr_planned: 0, fpr_posterior: 0, keys: 100 };

/** Publishes a day, with deltas from the days before. */
const publish = (p, d, more) => p.publish(day(d), {
  ...exact, deltas: Object.fromEntries(Array.from({ length: d }, (_, i) => [hashOf(day(i)), append(day(i), day(d))])),
  ...more,
});

async function publisher() {
  const p = await new Publisher().listen();
  closing.push(p);
  publish(p, 0);
  return p;
}

test('30 days, one by one and with gaps', async () => {
  const p = await publisher(), updates = [];
  const daily = await followingExact(p, { onUpdate: (update) => updates.push(update) });
  const weekly = await followingExact(p);
  assert.ok(daily.filter instanceof ExactSet);
  assert.equal(daily.release.kind, 'exact');
  assert.equal(wrong(daily, 0), 0);
  for (let d = 1; d <= 30; d++) {
    publish(p, d);
    const { filter, loaded } = daily;
    p.log.length = 0;
    assert.equal(await daily.poll(), true);
    assert.deepEqual(p.log, ['release.json', `objects/${hashOf(append(day(d - 1), day(d)))}`]);
    assert.deepEqual({ ...updates.at(-1), loaded: daily.loaded - loaded }, {
      release: daily.release, delta: true, failure: undefined,
      loaded: p.release.length + 24 + 24 + 20, // the delta: its prefix, the record and the trailer
    });
    assert.notEqual(daily.filter, filter);
    assert.equal(Buffer.compare(daily.bytes, day(d)), 0);
    assert.equal(daily.filter.info().updates, d);
    assert.equal(wrong(daily, d), 0, `day ${d}`);
    assert.equal(await daily.poll(), false);
    if (d % 7) continue;
    assert.equal(wrong(weekly, d - 7), 0, 'the set of before');
    p.log.length = 0;
    assert.equal(await weekly.poll(), true);
    assert.equal(p.log.length, 3, 'release.json, history and delta');
    assert.ok(!p.log.includes(`objects/${hashOf(day(d))}`), 'the whole file was loaded');
    assert.equal(wrong(weekly, d), 0, `week ${d / 7}`);
  }
  // The same content as a later release, and a set that was built anew.
  publish(p, 30);
  assert.equal(await daily.poll(), false);
  p.publish(day(0), exact);
  assert.equal(await daily.poll(), true);
  assert.equal(updates.at(-1).delta, false);
  assert.equal(wrong(daily, 0), 0);
});

test('deltas that are damaged, or lead elsewhere', async () => {
  const p = await publisher(), updates = [];
  const f = await followingExact(p, { onUpdate: (update) => updates.push(update) });
  const good = append(day(0), day(1));
  const cases = [good.subarray(0, 20), good.subarray(0, 47), Buffer.concat([good, good])];
  for (let at = 0; at < good.length; at++) cases.push(Buffer.from(good).fill(good[at] ^ 4, at, at + 1));
  cases.push(append(day(0), day(2)), append(day(1), day(2)), Buffer.alloc(48), Buffer.alloc(70_000));
  for (const [i, delta] of cases.entries()) {
    // The first 16 bytes of the SHA-256 of the target are not compared: that in the release is.
    const matters = i < 3 || i - 3 < 8 || i - 3 >= 24;
    publish(p, 1, { deltas: { [hashOf(day(0))]: delta } });
    assert.equal(await f.poll(), true);
    assert.equal(Buffer.compare(f.bytes, day(1)), 0, `delta ${i}`);
    const update = updates.at(-1), larger = delta.length >= day(1).length;
    assert.equal(update.delta, !matters, `delta ${i}`);
    if (matters && !larger) assert.ok(update.failure instanceof Error, `delta ${i}`);
    assert.equal(wrong(f, 1), 0);
    publish(p, 0);
    await f.poll();
  }
});

test('other content is refused, and the set stays', async () => {
  const p = await publisher(), f = await followingExact(p, { maxBytes: 1000 });
  p.publish(golden['blocked-0.bloom'].subarray(0, 1000), exact);
  await refuses(f, is(MagicError), 'a filter');
  p.publish(day(3).subarray(0, -1), exact);
  await refuses(f, (e) => e.name === 'TruncatedError', 'a cut set');
  p.publish(day(3).with(40, 0), exact);
  await refuses(f, (e) => e.name === 'ChecksumError', 'a damaged set');
  publish(p, 3, { bytes: 1001, total_bytes: 1001 });
  await refuses(f, (e) => e.name === 'TooLargeError', 'a large set');
  publish(p, 3, { total_bytes: 999 });
  await refuses(f, because('format'), 'more bytes in total');
  publish(p, 3, { kind: 'tree' });
  await refuses(f, because('format'), 'an unknown kind');
  publish(p, 3);
  p.objects.set(hashOf(append(day(0), day(3))), Buffer.from(append(day(0), day(3)).fill(0, 30)));
  p.objects.set(hashOf(day(3)), Buffer.from(day(3).with(9, 7)));
  await refuses(f, is(CorruptError), 'another object');
  assert.equal(wrong(f, 0), 0);
  p.put(day(3));
  assert.equal(await f.poll(), true);
  assert.equal(wrong(f, 3), 0);
});

test('another kind than the function follows', async () => {
  const p = await publisher(), exact = await followingExact(p);
  p.log.length = 0;
  for (const start of [following, followingSharded]) {
    await assert.rejects(start(p), /^TypeError: a release of kind exact: use followExact$/);
  }
  assert.deepEqual(p.log, ['release.json', 'release.json'], 'the set is not loaded');
  for (const kind of ['file', 'set']) {
    p.publish(golden['blocked-0.bloom'], { kind });
    await assert.rejects(followingExact(p), new RegExp(`^TypeError: a release of kind ${kind}: use follow(Sharded)?$`));
    await refuses(exact, is(TypeError), kind);
  }
  const f = await following(p.publish(golden['blocked-0.bloom']) && p);
  assert.throws(() => f.hasIn('x', 'y'), TypeError);
  publish(p, 1);
  await refuses(f, is(TypeError), 'exact');
});

test('a store, partitions and a secret', async () => {
  const p = await publisher(), kept = new Map(), folder = '../../exact/testdata/';
  const v = JSON.parse(readFileSync(new URL(`${folder}partitions-siphash.json`, import.meta.url), 'utf8'));
  const store = { get: async (name) => kept.get(name), put: async (name, bytes) => void kept.set(name, bytes) };
  const options = { open: (file) => openExact(file, { secret: v.secret, hashes: [siphash] }), store };
  p.publish(read(`${folder}${v.file}`), exact);
  (await followingExact(p, options)).close();
  p.hook = (_, response) => response.writeHead(500).end();
  const f = await followingExact(p, options);
  const texts = v.keys.filter(({ text }) => text !== undefined);
  assert.ok(texts.length > 0);
  for (const { partition, text, has } of texts) assert.equal(f.hasIn(partition, text), has, `${partition} ${text}`);
  assert.throws(() => f.has('x'), TypeError);
  await assert.rejects(f.poll(), { name: 'FetchError' });
});
