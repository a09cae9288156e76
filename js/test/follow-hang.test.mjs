// First loads that fail, polls that hang or are slow, and functions of the caller that throw.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { follow, ReleaseError } from '../dist/follow.js';
import { FetchError, MagicError, open, TooLargeError } from '../dist/plain.js';
import { forge, golden } from './damage.mjs';
import { because, closing, following, is, refuses } from './following.mjs';
import { hashOf, newKey, Publisher } from './publisher.mjs';

const base = golden['blocked-0.bloom'];
const version = (i) => forge(base, (_, bytes) => (bytes[bytes.length - 1 - i] ^= 0x5a));

async function publisher() {
  const p = await new Publisher().listen();
  closing.push(p);
  p.publish(version(0));
  return p;
}

const object = (i) => `objects/${hashOf(version(i))}`;

test('a first load is tried again after errors that pass', async () => {
  const p = await publisher(), errors = [], good = Buffer.from(version(0));
  const ways = [
    (response) => response.writeHead(503).end(),
    (response) => response.destroy(),
    (response) => response.writeHead(302, { location: 'http://localhost:1/login' }).end(),
    (response, path) => (path === 'release.json' ? response.end(Buffer.alloc(70_000, 32)) : false),
    (response, path) => (path !== 'release.json' ? response.writeHead(404).end() : false),
    (response, path) => (path !== 'release.json' ? response.end(good.subarray(0, 70)) : false),
    (response, path) => (path !== 'release.json' ? response.end(Buffer.from(good).fill(1, 70)) : false),
  ];
  p.hook = (_, response, path) => errors.length < ways.length && ways[errors.length](response, path);
  const f = await following(p, { interval: 5, onError: (e) => errors.push(e) });
  f.close();
  assert.deepEqual(f.bytes, version(0));
  assert.equal(errors.length, ways.length, String(errors));
  assert.equal(f.error, undefined);
});

test('a first load ends with errors that do not pass', async () => {
  const p = await publisher(), refused = async (check, options) => {
    const errors = [];
    await assert.rejects(following(p, { interval: 5, onError: (e) => errors.push(e), ...options }), check);
    assert.equal(errors.length, 1, String(errors));
  };
  await refused(because('other key'), { keys: [newKey().text] });
  await refused(because('name'), { name: 'other' });
  await refused(is(TooLargeError), { maxBytes: 10 });
  await refused(/no memory/, { open: () => Promise.reject(new Error('no memory')) });
  for (const status of [400, 401, 403, 404, 410]) {
    p.hook = (_, response) => response.writeHead(status).end();
    await refused((e) => e instanceof FetchError && e.status === status);
  }
  p.hook = (_, response) => response.setHeader('content-type', 'text/html').end('\n <!doctype html><title>Log in');
  await refused(because('format'));
  await assert.rejects(following(p), (e) => {
    assert.equal(e.message.slice(0, p.url.length), p.url);
    assert.match(e.message, /content type text\/html: a web page came instead/);
    return e instanceof ReleaseError;
  });
  p.hook = () => false;
  p.publish(Buffer.from('no filter'));
  await refused(is(MagicError));
});

test('responses without a file are named', async () => {
  const p = await publisher();
  const opaque = Object.defineProperties(new Response(null), { type: { value: 'opaque' }, status: { value: 0 } });
  for (const [response, message] of [[opaque, /CORS/], [new Response(''), /no body/], [Response.error(), /no body/],
    [new Response(null, { status: 204 }), /HTTP status 204/]]) {
    let own = fetch;
    const f = await following(p, { fetch: (...args) => own(...args) });
    own = async () => response;
    await refuses(f, (e) => e instanceof FetchError && message.test(e.message), String(message));
  }
});

test('abort ends a first load that is tried again', async () => {
  const p = await publisher(), controller = new AbortController(), reason = new Error('enough');
  p.hook = (_, response) => response.writeHead(503).end();
  let asked = 0;
  const onError = () => ++asked === 3 && controller.abort(reason);
  await assert.rejects(following(p, { interval: 5, signal: controller.signal, onError }), reason);
});

test('what a function of the caller throws is no error of the poll', async (t) => {
  const p = await publisher(), own = new Error('my mistake'), errors = [];
  const f = await following(p, { onUpdate: () => { throw own; }, onError: (e) => errors.push(e) });
  assert.deepEqual(errors, [own]);
  assert.equal(f.error, undefined);
  p.publish(version(1));
  assert.equal(await f.poll(), true);
  assert.deepEqual(f.bytes, version(1));
  assert.equal(f.error, undefined);
  // The exception of onError, or of onUpdate without it, is that of the program. The tests' runner must not hear of it.
  const runners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  t.after(() => runners.forEach((listener) => process.on('unhandledRejection', listener)));
  for (const options of [{ onUpdate: () => { throw own; } }, { onError: () => { throw own; } }]) {
    p.hook = () => false;
    const heard = once(process, 'unhandledRejection'), g = await following(p, options);
    p.hook = (_, response) => response.writeHead(500).end();
    await assert.rejects(g.poll(), FetchError);
    assert.equal((await heard)[0], own);
    assert.ok(is(FetchError)(g.error));
  }
});

test('intervals never make a storm of polls', async () => {
  const p = await publisher(), keys = p.keys.map((k) => k.text);
  for (const interval of [NaN, 0, -1, '60', null]) {
    await assert.rejects(follow(p.url, { open, keys, interval }), /^TypeError: interval: want milliseconds from 1/);
  }
  assert.deepEqual(p.log, []);
  const f = await following(p, { interval: Infinity });
  await new Promise((resolve) => setTimeout(resolve, 300));
  f.close();
  assert.equal(p.log.length, 2, 'a timer of Infinity would fire at once');
});

test('a redirect with one byte and then silence', async () => {
  const p = await publisher(), f = await following(p, { timeout: 300 });
  p.hook = (_, response) => (response.writeHead(302, { location: '?a' }).write('x'), true);
  await refuses(f, is(FetchError), 'redirects');
  p.hook = (request, response) => {
    if (request.url.includes('?')) return true;
    response.writeHead(302, { location: '?a' }).write('x');
    return true;
  };
  await refuses(f, (e) => e instanceof FetchError && /no byte came for 300 ms/.test(e.message), 'silence behind one');
});

test('a drip of bytes ends with the deadline of the poll', async () => {
  const p = await publisher(), f = await following(p, { timeout: 400, minRate: 1e6, retries: 50 });
  p.publish(version(1));
  const timers = [];
  p.hook = (_, response, path) => {
    if (path === 'release.json') return false;
    timers.push(setInterval(() => response.write('x'), 50));
    return true;
  };
  const start = performance.now();
  await refuses(f, (e) => /not loaded within 1 s, which is less than 1000000 bytes per second/.test(e.message), 'drip');
  timers.forEach(clearInterval);
  assert.ok(performance.now() - start >= 790, 'before its time');
});

test('a request that ignores its signal', async () => {
  let own = fetch;
  const p = await publisher(), f = await following(p, { timeout: 100, fetch: (...args) => own(...args) });
  own = () => new Promise(() => {});
  await refuses(f, is(FetchError), 'no answer');
  own = async () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
  await refuses(f, is(FetchError), 'no body');
  own = fetch;
  assert.equal(await f.poll(), false);
});

test('the next poll goes on with what a slow one has loaded', async () => {
  const p = await publisher(), ranges = [], file = Buffer.from(version(1));
  const f = await following(p);
  p.publish(version(1));
  p.hook = (request, response, path) => {
    if (path !== object(1)) return false;
    const { range } = request.headers, from = Number(/\d+/.exec(range ?? '')?.[0] ?? 0);
    ranges.push(range);
    const status = range ? 206 : 200, headers = { 'content-length': file.length - from };
    response.writeHead(status, headers).write(file.subarray(from, from + 70), () => {
      setTimeout(() => response.destroy(), 100);
    });
    return true;
  };
  await refuses(f, is(FetchError), 'the first part');
  await refuses(f, is(FetchError), 'the second part');
  p.hook = (request, _, path) => (path === object(1) && ranges.push(request.headers.range), false);
  assert.equal(await f.poll(), true);
  assert.deepEqual(ranges, [undefined, 'bytes=70-', 'bytes=140-']);
  assert.deepEqual(f.bytes, version(1));
});

test('parts that were garbled are loaded anew', async () => {
  const p = await publisher(), f = await following(p), file = Buffer.from(version(1));
  p.publish(version(1));
  p.hook = (_, response, path) => {
    if (path !== object(1)) return false;
    response.writeHead(200, { 'content-length': file.length });
    response.write(Buffer.alloc(70), () => setTimeout(() => response.destroy(), 100));
    return true;
  };
  await refuses(f, is(FetchError), 'garbled');
  p.hook = () => false;
  await assert.rejects(f.poll(), /is damaged/);
  assert.equal(await f.poll(), true);
  assert.deepEqual(f.bytes, version(1));
});
