// A folder of releases that the Go command wrote, served with the example pages. It has release-N.json of each, and the
// objects of all.

import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '../../example/serve.mjs';

/**
 * Serves a copy of a folder of test/, with release 1 as the current one.
 *
 * @returns {Promise<{url: string, publish(n: number, change?: (text: string) => string): Promise<void>,
 *   close(): Promise<void>}>} url is that of the page; publish makes a release the current one, as the publisher does:
 *   by rename
 */
export async function servePublished(name) {
  const from = fileURLToPath(new URL(`../${name}`, import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), 'published-'));
  const publish = async (n, change = (text) => text) => {
    const text = await readFile(join(from, `release-${n}.json`), 'utf8');
    await writeFile(join(folder, 'release.new'), change(text));
    await rename(join(folder, 'release.new'), join(folder, 'release.json'));
  };
  await cp(join(from, 'objects'), join(folder, 'objects'), { recursive: true });
  await publish(1);
  const key = (await readFile(join(from, 'key.pub'), 'utf8')).trim();
  const server = await serve({ publisher: folder, key });
  const close = async () => {
    await server.close();
    await rm(folder, { recursive: true });
  };
  return { url: server.url + server.page, publish, close };
}

/** Waits until the page has a release. */
export const hasRelease = (page, n) =>
  page.waitForFunction((n) => document.querySelector('[data-fact=release]').textContent === String(n), n);

/** The updates that the page shows: release and how it was loaded, the last one first. */
export async function shownUpdates(page) {
  const rows = await page.locator('#updates tr').allTextContents();
  return rows.map((text) => /^(\d)(delta|whole file)/.exec(text).slice(1));
}

/**
 * Checks that the page at release 3 refuses each of the releases, says so, and takes it back with the next poll.
 *
 * @param {[number, ((text: string) => string) | undefined, RegExp][]} releases number, change, and what the page says
 */
export async function refuses(page, publish, releases) {
  for (const [n, change, says] of releases) {
    await publish(n, change);
    await page.click('#poll');
    await page.waitForFunction((source) =>
      new RegExp(source).test(document.querySelector('#failure:not([hidden])')?.textContent), says.source);
    assert.equal(await page.textContent('dd[data-fact=release]'), '3');
  }
  await publish(3);
  await page.click('#poll');
  await page.waitForSelector('#failure', { state: 'hidden' });
}
