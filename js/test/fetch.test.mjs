// fetchFilter and fetchSharded against a server that misbehaves.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  ChecksumError, CorruptError, fetchFilter, FetchError, fetchSharded, Filter, FormatError, MagicError, ManifestError,
  NoSecretError, open, openSharded, ShardedFilter, ShardError, TooLargeError, TruncatedError,
} from '../dist/plain.js';
import { openExact } from '../dist/exact.js';
import { forge, golden, secret } from './damage.mjs';

const sets = new URL('../../shard/testdata/sets/', import.meta.url);
/** A blocked filter, or only its header if there is to be no content. */
function blockedFile(blocks, content = true) {
  const spec = `blocked(blocks=${blocks},k=5,layout=line)`, at = Math.ceil((88 + spec.length) / 64) * 64;
  const b = new Uint8Array(at + (content ? 64 * blocks : 0));
  b.set(golden['blocked-0.bloom'].subarray(0, 88));
  for (let i = at; i < b.length; i++) b[i] = (i * i) >> 7;
  return forge(b, (v, c) => {
    c.set(new TextEncoder().encode(spec), 88);
    c.fill(0, 88 + spec.length, at);
    v.setUint32(56, spec.length, true);
    v.setBigUint64(40, BigInt(at + 64 * blocks), true);
    v.setBigUint64(64, BigInt(at), true);
    v.setBigUint64(72, BigInt(64 * blocks), true);
  });
}
// Large enough to arrive in several parts.
const large = blockedFile(20_000);

const manifest = readFileSync(new URL('blocked/manifest.json', sets));
const exact = new Uint8Array(readFileSync(new URL('days.exact', import.meta.url)));

/** What the server does with a path: a function of the request, the response, and how often the path was asked for. */
const paths = {
  '/large': (_, res) => res.end(large),
  '/empty': (_, res) => res.end(),
  '/short': (_, res) => res.end(large.subarray(0, 5000)),
  '/head': (_, res) => res.end(large.subarray(0, 100)),
  '/more': (_, res) => res.end(Buffer.concat([large, Buffer.from('x')])),
  '/manifest': (_, res) => res.end(manifest),
  '/exact': (_, res) => res.end(exact),
  '/html': (_, res) => res.end('<!doctype html>'),
  '/gzip': (_, res) => res.setHeader('content-encoding', 'gzip').end(gzipSync(large)),
  '/bytewise': (_, res) => {
    for (const b of golden['fuse-1.bloom']) res.write(Uint8Array.of(b));
    res.end();
  },
  '/damaged': (_, res) => {
    const b = large.slice();
    b[b.length - 9] ^= 1;
    res.end(b);
  },
  '/8GiB': (_, res) => res.end(blockedFile(2 ** 27, false)),
  // announced with 900 MB, and 10 MB come
  '/few': (_, res) => {
    res.write(blockedFile(14e6, false));
    for (let i = 0; i < 160; i++) res.write(new Uint8Array(65536));
    res.end();
  },
  '/unannounced': (_, res) => {
    const more = () => {
      while (!res.destroyed && res.write(golden['blocked-0.bloom'].subarray(0, 1)));
      if (!res.destroyed) res.once('drain', more);
    };
    res.write('\x89BLMRY\r\n', 'latin1');
    more();
  },
  '/missing': (_, res) => res.writeHead(404).end('not here'),
  '/busy': (_, res, n) => (n < 3 ? res.writeHead(503).end() : res.end(large)),
  '/never': (_, res) => res.writeHead(500).end(),
  '/breaks': broken({ tag: () => '"v1"' }),
  '/breaks-norange': broken({ tag: () => '"v1"', range: false, breaks: 2 }),
  '/breaks-changed': broken({ tag: (n) => `"v${n}"`, breaks: 2 }),
  '/breaks-wrong': broken({ tag: () => '"v1"', shift: 8, breaks: 1 }),
  '/breaks-always': broken({ tag: () => '"v1"', breaks: 1000, step: 0 }),
  '/hangs': (_, res) => res.write(large.subarray(0, 5000)),
};

/** Sends a part of the file and breaks the connection when the client has read it, for the first requests. */
function broken({ tag, range = true, breaks = 4, step = 300_000, shift = 0 }) {
  return (req, res, n) => {
    const from = range ? Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0) : 0;
    const send = large.subarray(from + (from ? shift : 0));
    res.setHeader('etag', tag(n));
    res.setHeader('content-length', send.length);
    if (from) res.writeHead(206, { 'content-range': `bytes ${from}-${large.length - 1}/${large.length}` });
    if (n > breaks) res.end(send);
    else res.write(send.subarray(0, step), () => setTimeout(() => res.destroy(), 150));
  };
}

const asked = new Map();
const log = [];
const server = createServer((req, res) => {
  const path = req.url.replace(/\?.*/, ''), n = (asked.get(path) ?? 0) + 1;
  asked.set(path, n);
  log.push(`${path} ${req.headers.range ?? ''}`.trim());
  if (paths[path]) return paths[path](req, res, n);
  const file = new URL(`.${path}`, sets);
  if (!existsSync(file)) return res.writeHead(404).end();
  res.end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${server.address().port}`;
after(() => {
  server.closeAllConnections();
  server.close();
});

/** Asks for a path anew and returns the requests. */
async function fetched(path, options, check) {
  asked.clear();
  log.length = 0;
  const filter = await fetchFilter(base + path, options);
  assert.ok(filter instanceof Filter);
  assert.equal(filter.info().bytes, large.length);
  check?.(filter);
  return [...log];
}

async function refused(path, error, options) {
  asked.clear();
  await assert.rejects(fetchFilter(base + path, options), (e) => {
    assert.ok(e instanceof error, `${path}: ${e.stack}`);
    return true;
  });
}

test('a file', async () => {
  const progress = [];
  assert.equal((await fetched('/large', { progress: (n, of) => progress.push([n, of]) })).length, 1);
  assert.deepEqual(progress.at(-1), [large.length, large.length]);
  assert.ok(progress.every(([n], i) => i === 0 || n > progress[i - 1][0]));
  await fetched('/large', { verify: false });
  await fetched('/gzip');
  const own = (url, init) => fetch(url, { ...init, headers: { ...init.headers, 'x-own': '1' } });
  await fetched('/large', { fetch: own });
  const fuse = await fetchFilter(`${base}/bytewise`, { secret });
  for (let i = 0; i < 40; i++) assert.ok(fuse.has(`key-${i}`));
  await refused('/bytewise', NoSecretError);
});

test('what is no filter', async () => {
  await refused('/empty', FetchError);
  await refused('/head', TruncatedError);
  await refused('/short', TruncatedError, { retries: 0 });
  await refused('/html', MagicError);
  await refused('/more', CorruptError);
  await refused('/damaged', ChecksumError);
  await refused('/missing', FetchError);
  await assert.rejects(fetchFilter('http://localhost:1/x', { retries: 0 }), FetchError);
  await assert.rejects(fetchFilter('relative'), TypeError);
});

test('memory is bounded by what arrives and by maxBytes', async () => {
  await refused('/8GiB', TooLargeError);
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const progress = () => (most = Math.max(most, process.memoryUsage().arrayBuffers - before));
  await refused('/few', FetchError, { retries: 0, progress });
  assert.ok(most > 5e6 && most < 80e6, `${most} bytes are allocated for 10 MB`);
  await refused('/unannounced', FormatError, { maxBytes: 1e6 });
  await refused('/large', TooLargeError, { maxBytes: 1000 });
  await refused('/large', TooLargeError, { maxBytes: large.length - 1 });
  await fetched('/large', { maxBytes: large.length });
});

test('a server that recovers', async () => {
  assert.equal((await fetched('/busy')).length, 3);
  await refused('/never', FetchError, { retries: 1 });
  assert.equal(asked.get('/never'), 2);
});

test('a download that breaks is resumed', async () => {
  const requests = await fetched('/breaks');
  assert.equal(requests.length, 5);
  assert.ok(requests.slice(1).every((r) => r.includes('bytes=')), requests.join());
});

test('a download that cannot be resumed starts anew', async () => {
  assert.equal((await fetched('/breaks-norange')).length, 3);
  // the file changed meanwhile: parts of two files are not combined
  assert.ok(!(await fetched('/breaks-changed')).at(-1).includes('bytes='));
  assert.ok((await fetched('/breaks-norange', { verify: false })).every((r) => !r.includes('bytes=')));
  // the server continues at another byte, without saying so
  const lying = async (url, init) => {
    const r = await fetch(url, init), headers = new Headers(r.headers);
    headers.delete('content-range');
    return new Response(r.body, { status: r.status, headers });
  };
  assert.equal((await fetched('/breaks-wrong', { fetch: lying })).length, 3);
  await refused('/breaks-always', FetchError, { retries: 1 });
});

test('abort', async () => {
  const controller = new AbortController(), reason = new Error('enough');
  setTimeout(() => controller.abort(reason), 100);
  await assert.rejects(fetchFilter(`${base}/hangs`, { signal: controller.signal }), reason);
  await assert.rejects(fetchFilter(`${base}/large`, { signal: controller.signal }), reason);
  // while it waits to try again
  const other = new AbortController(), before = performance.now();
  setTimeout(() => other.abort(reason), 300);
  await assert.rejects(fetchFilter(`${base}/never`, { signal: other.signal, retries: 20 }), reason);
  assert.ok(performance.now() - before < 5000);
});

test('a sharded set', async () => {
  // Requests of earlier tests that were given up may still arrive.
  const requests = () => log.filter((line) => line.startsWith('/blocked')).length;
  for (const path of ['/blocked/', '/blocked/manifest.json', '/blocked/manifest.json?v=2']) {
    log.length = 0;
    const set = await fetchSharded(base + path);
    assert.ok(set instanceof ShardedFilter);
    assert.equal(requests(), 1);
    const four = [set.lookup('a'), set.lookup('a'), set.lookup('example.com'), set.lookupMany(['a', 'bloomery'])];
    assert.deepEqual(await Promise.all(four), [true, true, true, [true, true]]);
    assert.equal(requests(), 1 + 3, 'one request for each of three shards');
    assert.equal(set.info().loaded, 3);
    await assert.rejects(set.lookup(1), TypeError);
    await assert.rejects(set.lookupCount('a'), TypeError);
  }
  await assert.rejects(fetchSharded(`${base}/none/`), FetchError);
  await assert.rejects(fetchSharded(`${base}/blocked.json`), ManifestError);
});

test('each function refuses what another one opens, and names it', async () => {
  for (const path of ['/blocked/', '/blocked/manifest.json', '/blocked/manifest.json?v=2', '/blocked/?v=2']) {
    log.length = 0;
    const message = /^TypeError: url: http.* has no filter file: use fetchSharded .*use follow /;
    await assert.rejects(fetchFilter(base + path), message);
    assert.deepEqual(log, [], 'it asks the server');
  }
  await assert.rejects(fetchFilter(`${base}/manifest`), /^MagicError: .*use openSharded or fetchSharded/);
  await assert.rejects(fetchFilter(`${base}/exact`), /^MagicError: .*use openExact/);
  for (const path of ['/large', '/bytewise', '/exact']) {
    const other = path === '/exact' ? /^ManifestError: .*use openExact/ : /^ManifestError: .*use open or fetchFilter/;
    await assert.rejects(fetchSharded(base + path), other);
    const file = path === '/exact' ? exact : large;
    await assert.rejects(openSharded(file, async () => file), other);
    await assert.rejects(openSharded(file.slice().buffer, async () => file), other);
  }
  await assert.rejects(open(manifest), /^MagicError: .*use openSharded or fetchSharded/);
  await assert.rejects(open(exact), /^MagicError: .*use openExact/);
  await assert.rejects(openExact(large), /^MagicError: .*use open or fetchFilter/);
  await assert.rejects(openExact(manifest), /^MagicError: .*use openSharded or fetchSharded/);
  // A folder of bloomery publish has release.json instead of manifest.json.
  const missing = /^FetchError: .*none\/manifest.json: HTTP status 404; if it is a folder of bloomery publish: use follow$/;
  await assert.rejects(fetchSharded(`${base}/none/`), missing);
  const release = readFileSync(new URL('published/release-1.json', import.meta.url), 'utf8');
  const published = /^ManifestError: .*use follow for a folder of bloomery publish$/;
  await assert.rejects(openSharded(release, async () => release), published);
});

/** A response of a kind that only browsers make. */
const odd = (properties) => Object.defineProperties(new Response(null), Object.fromEntries(
  Object.entries(properties).map(([name, value]) => [name, { value }])));

test('responses without a file are named', async () => {
  const file = golden['blocked-0.bloom'], ways = [
    [() => odd({ type: 'opaque', status: 0, ok: false }), 0, /CORS/],
    [() => odd({ type: 'opaqueredirect', status: 0, ok: false }), 0, /redirect/],
    [() => Response.error(), 0, /no body/],
    [() => new Response(null), 200, /no body/],
    [() => new Response(''), 200, /no body/],
    [() => new Response(null, { status: 204 }), 204, /HTTP status 204/],
    [() => odd({ status: 304, ok: false }), 304, /HTTP status 304/],
    [() => new Response('<!doctype html>', { status: 404 }), 404, /HTTP status 404/],
    [() => new Response(file, { status: 500 }), 500, /HTTP status 500/],
    [() => new Response(file.subarray(0, 9), { status: 206 }), 206, /HTTP status 206/],
  ];
  for (const [response, status, message] of ways) {
    const named = (e) => {
      assert.ok(e instanceof FetchError, e.stack);
      assert.equal(e.status, status);
      assert.match(e.message, message);
      assert.doesNotMatch(e.message, /end of the file/);
      return true;
    };
    const options = { fetch: async () => response(), retries: 0 };
    await assert.rejects(open(response()), named);
    await assert.rejects(openExact(response()), named);
    await assert.rejects(fetchFilter(`${base}/x`, options), named);
    await assert.rejects(fetchSharded(`${base}/x/`, options), named);
  }
  await assert.rejects(open(await fetch(`${base}/large`, { method: 'HEAD' })), { name: 'FetchError', status: 200 });
  await assert.rejects(open(await fetch(`${base}/missing`)), { name: 'FetchError', status: 404 });
  assert.ok(await open(await fetch(`${base}/large`)));
  assert.ok(await open(new Response(file, { status: 201 })));
  await assert.rejects(open(new Blob([])), TruncatedError);
});

test('a query of a set is never taken for that of a filter', async () => {
  const set = await fetchSharded(`${base}/blocked/`), filter = await fetchFilter(`${base}/large`);
  const both = ['constructor', 'size', 'info'];
  const names = (c) => Object.getOwnPropertyNames(c.prototype).filter((name) => !both.includes(name));
  assert.deepEqual(names(Filter).filter((name) => name in set), [], 'a promise counts as true');
  for (const name of names(Filter)) assert.throws(() => set[name]('absent'), TypeError);
  for (const name of names(ShardedFilter)) assert.throws(() => filter[name]('absent'), TypeError);
});

test('a shard that fails is never absent, and is tried again', async () => {
  let fail;
  const own = (url, init) => (url.endsWith('.bloom') && fail ? fail(url, init) : fetch(url, init));
  const set = await fetchSharded(`${base}/blocked/`, { fetch: own, retries: 0 });
  const change = (edit) => async (url, init) => {
    const bytes = new Uint8Array(await (await fetch(url, init)).arrayBuffer());
    return new Response(edit(bytes));
  };
  const ways = {
    'no connection': () => Promise.reject(new TypeError('failed')),
    'not found': async () => new Response('', { status: 404 }),
    'too short': change((b) => b.subarray(0, 64)),
    'one byte changed': change((b) => ((b[200] ^= 1), b)),
    'another filter of the same length': change((b) => forge(b, (_, c) => (c[200] ^= 1))),
    'another number of keys': change((b) => forge(b, (v) => v.setUint8(32, 99))),
    'another seed': change((b) => forge(b, (v) => v.setUint8(16, 99))),
  };
  for (const [name, way] of Object.entries(ways)) {
    fail = way;
    for (const ask of [() => set.lookup('a'), () => set.lookupMany(['a', 'b']), () => set.check()]) {
      await assert.rejects(ask(), (e) => {
        assert.ok(e instanceof ShardError && e.cause, `${name}: ${e.stack}`);
        return true;
      });
    }
    assert.equal(set.info().loaded, 0);
  }
  fail = undefined;
  assert.equal(await set.lookup('a'), true);
});

test('the loader of shards may ask for other keys', async () => {
  const keys = ['a', 'example.com', 'bloomery'];
  const asked = [];
  let set, others = 0;
  const own = (url, init) => {
    if (set && others < 3) asked.push(set.lookup(`another ${others++}`));
    return fetch(url, init);
  };
  set = await fetchSharded(`${base}/blocked/`, { fetch: own });
  for (const key of keys) assert.equal(await set.lookup(key), true, key);
  await Promise.all(asked);
});

test('transferred bytes of a shard are an error, not an absent key', async () => {
  const folder = new URL('blocked/', sets), shards = [];
  const set = await openSharded(readFileSync(new URL('manifest.json', folder)), async (name) => {
    shards.push(new Uint8Array(readFileSync(new URL(name, folder))));
    return shards.at(-1);
  });
  assert.equal(await set.lookup('a'), true);
  for (const { buffer } of shards) structuredClone(buffer, { transfer: [buffer] });
  await assert.rejects(set.lookup('a'), TypeError);
  await assert.rejects(set.lookupMany(['a']), TypeError);
});

test('a server without ranges that breaks at any place is given up', async () => {
  let n = 0;
  const flaky = async () => {
    const stop = n++ % 2 ? 100_000 : 300_000; // now more, now less than before
    let sent = false;
    return new Response(new ReadableStream({
      pull(c) {
        if (sent) c.error(new Error('broken'));
        else c.enqueue(large.slice(0, stop));
        sent = true;
      },
    }));
  };
  const options = { fetch: flaky, retries: 2, signal: AbortSignal.timeout(20_000) };
  await assert.rejects(fetchFilter(`${base}/large`, options), FetchError);
  assert.equal(n, 3);
});

test('a relative URL is that of the document', async () => {
  const urls = [], own = async (url) => (urls.push(url), new Response('', { status: 404 }));
  globalThis.document = { baseURI: `${base}/app/` };
  globalThis.location = { href: `${base}/other/page/` };
  try {
    await assert.rejects(fetchFilter('x', { fetch: own }));
    delete globalThis.document;
    await assert.rejects(fetchFilter('x', { fetch: own }));
  } finally {
    delete globalThis.document;
    delete globalThis.location;
  }
  assert.deepEqual(urls, [`${base}/app/x`, `${base}/other/page/x`]);
});
