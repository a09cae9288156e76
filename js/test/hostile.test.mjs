// Followers behind a server that stalls, cuts, garbles, redirects, plays back and mixes releases. In every poll the
// filter is that of a release of the publisher, whole, and never an older one than before; stalls end in time.
//
// BLOOMERY_POLLS is the number of polls (default: 40), BLOOMERY_SEED the seed.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { open } from '../dist/plain.js';
import { forge, golden } from './damage.mjs';
import { following } from './following.mjs';
import { hashOf, newKey, Publisher } from './publisher.mjs';

const polls = Number(process.env.BLOOMERY_POLLS ?? 40);
const seed = Number(process.env.BLOOMERY_SEED ?? 28);
const base = golden['blocked-0.bloom'];

/** Version i of a filter: each has other bits. */
const version = (i) => forge(base, (v, bytes) => v.setUint32(bytes.length - 64, i, true));

/** Random numbers below n, of a fixed seed. */
function random(state) {
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** A delta of method 0: the whole target. */
function whole(from, to) {
  const of = Buffer.from(hashOf(to), 'hex');
  return Buffer.concat([Buffer.from([0x89, 0x42, 0x44, 0]), from.subarray(60, 64), of.subarray(0, 16), to]);
}

/** Milliseconds after which a silent request has failed. */
const timeout = 150;

/** What the server does with a response: functions of it, of the right body, and of bodies that it has sent before. */
const ways = {
  honest: undefined,
  silence: () => {},
  'silence in the body': (response, body, { below }) =>
    response.writeHead(200, { 'content-length': body.length }).write(body.subarray(0, 1 + below(body.length))),
  'a cut connection': (response, body, { below }) =>
    response.writeHead(200, { 'content-length': body.length })
      .write(body.subarray(0, 1 + below(body.length)), () => response.destroy()),
  'a short body': (response, body, { below }) => response.end(body.subarray(0, below(body.length))),
  'a flipped bit': (response, body, { below }) => {
    const copy = Buffer.from(body);
    copy[below(copy.length)] ^= 1 << below(8);
    response.end(copy);
  },
  'a longer body': (response, body) => response.end(Buffer.concat([body, body])),
  'an older body': (response, _, { below, bodies }) => response.end(bodies[below(bodies.length)]),
  'an older release': (response, body, { below, releases, path }) =>
    response.end(path === 'release.json' ? releases[below(releases.length)] : body),
  'another list': (response, _, { foreign }) => response.end(foreign),
  'a forged release': (response, _, { forged }) => response.end(forged),
  'not modified': (response) => response.writeHead(304).end(),
  'a part that was not asked for': (response, body, { below }) => {
    const from = below(body.length);
    response.writeHead(206, { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` });
    response.end(body.subarray(from));
  },
  'a redirect and silence': (response) => response.writeHead(302, { location: '?again' }).write('x'),
  'a redirect to another host': (response) => response.writeHead(302, { location: 'http://localhost:1/' }).end(),
  'a web page': (response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'),
  '404': (response) => response.writeHead(404).end(),
  '500': (response) => response.writeHead(500).end(),
};

test(`${polls} polls of a hostile server, seed ${seed}`, async () => {
  const below = random(seed), names = Object.keys(ways), p = await new Publisher().listen(), bodies = [], releases = [];
  after(() => p.close());
  const stranger = new Publisher({ keys: p.keys, name: 'other' }), thief = new Publisher({ keys: [newKey()] });
  let number = 0, way = 'honest', where = '';
  const publish = () => {
    const file = version(++number), old = version(number - 1);
    p.publish(file, { deltas: below(2) ? { [hashOf(old)]: whole(old, file) } : {} });
    bodies.push(p.release, Buffer.from(file));
    releases.push(p.release);
    stranger.publish(version(number + 1e6), { release: number + 1 });
    thief.publish(version(number + 2e6), { release: number + 2 });
  };
  publish();
  const files = new Map();
  const store = { get: async (name) => files.get(name), put: async (name, bytes) => void files.set(name, bytes) };
  const options = { store, timeout, minRate: 1e6, retries: below(2), onError: () => {} };
  p.hook = (request, response, path) => {
    if (!ways[way] || (where && !path.startsWith(where))) return false;
    const body = path === 'release.json' ? p.release : p.objects.get(path.replace('objects/', '')) ?? Buffer.from('x');
    const foreign = path === 'release.json' ? stranger.release : Buffer.from(version(number + 1e6));
    const forged = path === 'release.json' ? thief.release : Buffer.from(version(number + 2e6));
    ways[way](response, Buffer.from(body), { below, bodies, releases, foreign, forged, path });
    return true;
  };
  let f = await following(p, options), held = 1, updates = 0, refused = 0;
  for (let i = 0; i < polls; i++) {
    if (below(2)) publish();
    way = i % 8 ? names[below(names.length)] : 'an older release';
    where = ['', 'release.json', 'objects/'][below(3)];
    const what = `seed ${seed}, poll ${i}, ${way} for ${where || 'all'}`;
    if (!below(8)) { // a new start from the store
      f.close();
      f = await following(p, options);
    }
    const start = performance.now();
    const error = await f.poll().then(() => undefined, (e) => e);
    // The deadline is 2 * timeout, and 0.1 s for release.json and the filter. The machine may be busy.
    assert.ok(performance.now() - start < 2 * timeout + 100 + 10_000, `${what}: it took too long`);
    assert.ok(f.release.release >= held, `${what}: an older release`);
    held = f.release.release;
    assert.equal(f.release.name, 'list', what);
    assert.equal(Buffer.compare(f.bytes, version(held)), 0, `${what}: not the file of release ${held}`);
    assert.equal(await open(f.bytes).then((g) => g.has('a')), f.has('a'), what);
    assert.equal(f.error, error, `${what}: the error`);
    if (error) refused++;
    if (!error && ways[way] === undefined) {
      assert.equal(held, number, `${what}: not current`);
      updates++;
    }
    if (['silence', 'silence in the body', '500'].includes(way) && !where) assert.ok(error, `${what}: no error`);
  }
  way = 'honest';
  // The parts of a garbled download are tried once. A busy machine may be slow.
  for (let tries = 0; tries < 20 && (f.release.release < number || f.error); tries++) await f.poll().catch(() => {});
  assert.equal(f.error, undefined);
  assert.equal(f.release.release, number);
  assert.ok(polls < 30 || (updates > 0 && refused > polls / 4), `${updates} updates, ${refused} refused`);
  f.close();
});
