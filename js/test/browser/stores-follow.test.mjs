// Followers with a store in headless Chromium: pages that are closed, reloaded, offline, or out of space.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { launch } from './chromium.mjs';
import { servePublished } from './published.mjs';

let server, browser, context, page;
before(async () => {
  [server, browser] = await Promise.all([servePublished('published'), launch()]);
  context = await browser.newContext();
  page = await context.newPage();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** A page of the server that runs no program. */
const blank = () => new URL('../../NOTICE', server.url).href;

/** Follows the publisher with a store of a kind. It returns what the follower has, and the error of a failed start. */
async function follows(kind, name, options = {}) {
  return page.evaluate(async ([kind, name, options]) => {
    const { follow } = await import('/dist/follow.js'), { open } = await import('/dist/plain.js');
    const { keys, url } = await import('/example/follow/publisher.js');
    const { [kind === 'cache' ? 'cacheStore' : 'indexedDBStore']: make } = await import(`/dist/store/${kind}.js`);
    const errors = [], signal = AbortSignal.timeout(10_000), onError = (e) => errors.push(`${e.name}: ${e.message}`);
    const f = await follow(url, {
      keys, open, signal, onError, interval: 1e9, retries: 0, store: make(name), ...options,
    });
    const has = f.has('fresh-two.example');
    await f.poll().catch(() => {});
    f.close();
    return { release: f.release.release, has, errors };
  }, [kind, name, options]);
}

for (const kind of ['indexeddb', 'cache']) {
  test(`${kind}: a page that is reloaded has its filter while the server is down`, async () => {
    await server.publish(2);
    await page.goto(blank());
    assert.deepEqual(await follows(kind, 'a list/1'), { release: 2, has: true, errors: [] });
    await page.reload();
    await page.route('**/published/**', (route) => route.abort('connectionrefused'));
    const offline = await follows(kind, 'a list/1');
    assert.deepEqual([offline.release, offline.has], [2, true]);
    assert.ok(offline.errors.every((e) => e.startsWith('FetchError')), offline.errors.join());
    await page.unroute('**/published/**');
    // A mirror with an older release is refused after a reload, too; another name knows nothing of it.
    await server.publish(1);
    const older = await follows(kind, 'a list/1');
    assert.equal(older.release, 2);
    assert.match(older.errors.join(), /ReleaseError: .*older/);
    assert.deepEqual(await follows(kind, 'other'), { release: 1, has: false, errors: [] });
    await server.publish(2);
  });

  test(`${kind}: a page that is closed during a put leaves the old record or the new one`, async () => {
    for (let round = 0; round < 2; round++) {
      const writer = await context.newPage();
      await writer.goto(blank());
      await writer.evaluate(async ([kind, round]) => {
        const module = await import(`/dist/store/${kind}.js`), make = module.cacheStore ?? module.indexedDBStore;
        const store = make('torn');
        if (!round) await store.put('filter', new Uint8Array(20_000_000).fill(1));
        globalThis.never = store.put('filter', new Uint8Array(20_000_000).fill(round + 2));
      }, [kind, round]);
      await writer.close();
      const [length, same] = await page.evaluate(async (kind) => {
        const module = await import(`/dist/store/${kind}.js`), make = module.cacheStore ?? module.indexedDBStore;
        const bytes = await make('torn').get('filter');
        return [bytes.length, bytes.every((b) => b === bytes[0])];
      }, kind);
      assert.equal(length, 20_000_000);
      assert.ok(same, 'a mixture of both');
    }
  });

  test(`${kind}: an origin that is out of space`, async () => {
    const other = await browser.newContext(), client = await other.newPage();
    await client.goto(blank());
    const session = await other.newCDPSession(client);
    await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(blank()).origin, quotaSize: 100_000 });
    const got = await client.evaluate(async (kind) => {
      const module = await import(`/dist/store/${kind}.js`), make = module.cacheStore ?? module.indexedDBStore;
      const store = make('full');
      await store.put('filter', new Uint8Array(1000).fill(7));
      const error = await store.put('filter', new Uint8Array(3_000_000)).catch((e) => e.name);
      return [error, (await store.get('filter'))?.length];
    }, kind);
    assert.deepEqual(got, ['QuotaExceededError', 1000], 'the old record stays');
    await other.close();
  });

  test(`${kind}: what is missing or forbidden is reported, and the filter is used`, async () => {
    await page.goto(blank());
    const forbid = (kind) => {
      const forbidden = () => {
        throw new DOMException('forbidden by a setting', 'SecurityError');
      };
      const member = kind === 'cache' ? 'caches' : 'indexedDB';
      Object.defineProperty(globalThis, member, { configurable: true, value: { open: forbidden } });
    };
    await page.evaluate(forbid, kind);
    const { release, errors } = await follows(kind, 'forbidden');
    assert.equal(release, 2);
    assert.match(errors[0], /StoreError: .*forbidden by a setting/);
    await page.evaluate((member) => Object.defineProperty(globalThis, member, { value: undefined }),
      kind === 'cache' ? 'caches' : 'indexedDB');
    assert.match((await follows(kind, 'forbidden')).errors[0], /StoreError: .*missing/);
  });
}

test('cache: the last record stays, and the space of the others is free', async () => {
  await page.goto(blank());
  const got = await page.evaluate(async () => {
    const { cacheStore } = await import('/dist/store/cache.js'), store = cacheStore('last');
    for (let i = 0; i < 12; i++) await store.put('filter', Uint8Array.of(i)); // 10 is after 9, not after 1
    await Promise.all([20, 21].map((i) => cacheStore('last').put('filter', Uint8Array.of(i)))); // two pages
    await store.put('filter', Uint8Array.of(30));
    const urls = (await (await caches.open('bloomery')).keys()).filter(({ url }) => url.includes('/last/'));
    return [[...await store.get('filter')], urls.length];
  });
  assert.deepEqual(got, [[30], 1]);
});

test('a page that is online again polls', async () => {
  await server.publish(2);
  await page.goto(blank());
  await page.evaluate(async () => {
    const { follow } = await import('/dist/follow.js'), { open } = await import('/dist/plain.js');
    const { keys, url } = await import('/example/follow/publisher.js');
    globalThis.follower = await follow(url, { keys, open, interval: 1e9, retries: 0 });
    await follower.poll();
  });
  await context.setOffline(true);
  await page.evaluate(() => follower.poll().catch(() => {}));
  assert.equal(await page.evaluate(() => follower.error.name), 'FetchError');
  await server.publish(3);
  await context.setOffline(false);
  await page.waitForFunction(() => follower.release.release === 3 && !follower.error);
});

test('a database that is not that of followers', async () => {
  const other = await browser.newContext(), client = await other.newPage();
  await client.goto(blank());
  const got = await client.evaluate(async () => {
    const { indexedDBStore } = await import('/dist/store/indexeddb.js');
    const opening = indexedDB.open('bloomery', 2);
    await new Promise((resolve) => (opening.onsuccess = resolve));
    opening.result.close();
    return indexedDBStore('x').get('filter').catch((e) => e.name);
  });
  assert.equal(got, 'VersionError');
  await other.close();
});

test('without a browser both reject', async () => {
  const [{ indexedDBStore }, { cacheStore }] = await Promise.all(
    [import('../../dist/store/indexeddb.js'), import('../../dist/store/cache.js')],
  );
  for (const store of [indexedDBStore('x'), cacheStore('x')]) {
    await assert.rejects(store.get('filter'), /missing/);
    await assert.rejects(store.put('filter', await readFile(new URL(import.meta.url))), /missing/);
  }
});
