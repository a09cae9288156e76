// The page js/example/follow in headless Chromium: it follows the publisher of test/published without a reload. With
// BLOOMERY_SHOTS=FOLDER it leaves screenshots there.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, watch } from './chromium.mjs';
import { lowContrast } from './contrast.mjs';
import { hasRelease, refuses, servePublished, shownUpdates } from './published.mjs';

const shots = process.env.BLOOMERY_SHOTS;
let browser, server, page, problems, publish;

const fact = (name) => page.textContent(`dd[data-fact=${name}]`);
const state = () => page.getAttribute('#verdict', 'data-state');
const release = (n) => hasRelease(page, n);

before(async () => {
  [server, browser] = await Promise.all([servePublished('published'), launch()]);
  ({ publish } = server);
  page = await browser.newPage();
  problems = watch(page);
  await page.goto(server.url);
  await release(1);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test('the page follows new releases without a reload, by deltas', async () => {
  await page.evaluate(() => (globalThis.sameDocument = true));
  assert.equal(await fact('keys'), '2,000');
  assert.equal(await fact('signature'), 'verified');
  await page.fill('#domain', 'fresh-two.example');
  assert.equal(await state(), 'no');
  await publish(2);
  await release(2); // the page polls by itself
  await page.waitForSelector('#verdict[data-state=yes]');
  assert.equal(await page.textContent('#answer'), 'fresh-two.example is blocked');
  assert.equal(await page.textContent('#changed'), 'Release 2 has changed this: it was not blocked before.');
  const spoken = await page.textContent('#spoken');
  assert.match(spoken, /^fresh-two\.example is blocked now\. Release 2, delta, \d+ bytes\.$/);
  assert.equal(await fact('keys'), '1,999');
  await publish(3);
  await page.click('#poll');
  await release(3);
  assert.equal(await state(), 'no');
  assert.deepEqual(await shownUpdates(page), [['3', 'delta'], ['2', 'delta'], ['1', 'whole file']]);
  const bytes = await page.locator('#updates td:last-child').allTextContents();
  assert.ok(Number(bytes[0].replace(',', '')) < 1100, `${bytes[0]} bytes for a release and a delta`);
  assert.ok(await page.evaluate(() => globalThis.sameDocument), 'the page was reloaded');
  assert.deepEqual(problems, [], 'errors in the console');
});

test('asked for a new release when there is none', async () => {
  await page.click('#poll');
  await page.waitForFunction(() => /^Nothing new at .*: release 3 is the newest\.$/
    .test(document.querySelector('#asked').textContent));
  assert.equal(await page.getAttribute('#asked', 'role'), 'status');
});

test('live regions speak when something changes, and not otherwise', async () => {
  await publish(2, (text) => text.replace('"keys":1999', '"keys":1998'));
  await page.evaluate(() => {
    globalThis.changes = { failure: 0, spoken: 0 };
    const count = (records) => records.forEach(({ target }) => (changes[target.id] += 1));
    for (const id of ['failure', 'spoken']) {
      new MutationObserver(count).observe(document.getElementById(id), { childList: true });
    }
  });
  await page.fill('#domain', 'gmail.com');
  await page.waitForFunction(() => changes.spoken === 1);
  assert.equal(await page.textContent('#spoken'), 'gmail.com is not blocked. This is certain.');
  await page.click('#poll');
  await page.waitForSelector('#failure:not([hidden])');
  assert.match(await page.textContent('#asked'), /^No new release at .*: see the message above\.$/);
  await page.waitForTimeout(1200); // the page looks for errors twice a second
  assert.deepEqual(await page.evaluate(() => changes), { failure: 1, spoken: 1 });
  await publish(3);
  await page.click('#poll');
  await page.waitForSelector('#failure', { state: 'hidden' });
});

test('a release that is older or changed is refused, and the page says so', async () => {
  await refuses(page, publish, [
    [1, undefined, /older.*This is a rollback: .* The page keeps the newer one\.$/],
    [3, (text) => text.replace('"keys":1994', '"keys":1995'), /wrong signature/],
  ]);
  assert.deepEqual(problems, []);
});

test('a page whose list is missing at first recovers when it is there', async () => {
  const other = await browser.newPage();
  other.setDefaultTimeout(15_000);
  for (const answer of [{ status: 404, body: 'not found' }, { status: 503, body: 'busy' }, 'connectionrefused']) {
    await other.route('**/published/release.json', (route) =>
      typeof answer === 'string' ? route.abort(answer) : route.fulfill(answer));
    await other.goto(server.url);
    await other.waitForSelector('#verdict[data-state=failed]');
    assert.match(await other.textContent('#failure'), /^The list cannot be loaded: .*release\.json/);
    await other.unroute('**/published/release.json');
    await hasRelease(other, 3);
    await other.waitForSelector('#failure', { state: 'hidden' });
    await other.fill('#domain', 'blocked-in-three.example');
    assert.equal(await other.getAttribute('#verdict', 'data-state'), 'yes');
  }
  await other.close();
});

for (const [width, height] of [[400, 844], [1280, 900]]) {
  for (const colorScheme of ['light', 'dark']) {
    test(`${width} px, ${colorScheme}`, async () => {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      for (const [name, domain] of [['no', 'gmail.com'], ['yes', 'blocked-in-three.example']]) {
        await page.fill('#domain', domain);
        assert.equal(await state(), name);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${over} px too wide`);
        assert.deepEqual(await page.evaluate(lowContrast), [], name);
        const path = shots && join(shots, `follow-${width}-${colorScheme}-${name}.png`);
        if (path) await page.screenshot({ path, fullPage: true });
      }
    });
  }
}
