// The page js/example/revoked in headless Chromium: it follows the publisher of test/published-exact without a reload.
// With BLOOMERY_SHOTS=FOLDER it leaves screenshots there.
//
// Release 1 has the set of js/example/revoked. Release 2 revokes two certificates. Release 3 restores one of them, and
// has another one, which is new and revoked.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, watch } from './chromium.mjs';
import { lowContrast } from './contrast.mjs';
import { hasRelease, refuses, servePublished, shownUpdates } from './published.mjs';

const shots = process.env.BLOOMERY_SHOTS;
/** What the releases change: issuer and serial number, and the releases in which it is revoked. */
const changes = [
  ['Alder Web CA', '47ba7b953ed2a493', [2]], ['Dogwood Device CA', 'c2a04f2ca8394bdc', [2, 3]],
  ['Fir Root CA', '00112233aabbccdd', [3]],
];
let browser, server, page, problems, publish;

const fact = (name) => page.textContent(`dd[data-fact=${name}]`);
const state = () => page.getAttribute('#verdict', 'data-state');
const hasState = (state) => page.waitForSelector(`#verdict[data-state=${state}]`);

async function ask(issuer, serial) {
  await page.selectOption('#issuer', issuer);
  await page.fill('#serial', serial);
}

before(async () => {
  [server, browser] = await Promise.all([servePublished('published-exact'), launch()]);
  ({ publish } = server);
  page = await browser.newPage();
  problems = watch(page);
  await page.goto(server.url);
  await hasRelease(page, 1);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test('the page follows new releases without a reload, by deltas', async () => {
  await page.evaluate(() => (globalThis.sameDocument = true));
  assert.equal(await fact('members'), '8,035');
  assert.equal(await fact('signature'), 'verified');
  const [alder] = changes;
  await ask(...alder);
  assert.equal(await state(), 'no');
  await publish(2);
  await hasState('yes'); // the page polls by itself
  assert.equal(await fact('members'), '8,037');
  await publish(3);
  await page.click('#poll');
  await hasState('no');
  await hasRelease(page, 3);
  assert.equal(await fact('universe'), '128,001');
  assert.equal(await fact('bytes'), '3,424 bytes');
  for (const [issuer, serial, releases] of changes) {
    await ask(issuer, serial);
    assert.equal(await state(), releases.includes(3) ? 'yes' : 'no', `${issuer} ${serial}`);
  }
  assert.deepEqual(await shownUpdates(page), [['3', 'delta'], ['2', 'delta'], ['1', 'whole file']]);
  const bytes = await page.locator('#updates td:last-child').allTextContents();
  assert.ok(Number(bytes[0]) < 950, `${bytes[0]} bytes for a release and a delta`);
  assert.ok(await page.evaluate(() => globalThis.sameDocument), 'the page was reloaded');
  assert.deepEqual(problems, [], 'errors in the console');
});

test('no answer of a follower in the page is wrong', async () => {
  const wrong = await page.evaluate(async () => {
    const [{ followExact }, { openExact }, { keys, url }, { certificate, issuers }] = await Promise.all([
      import('../../dist/follow.js'), import('../../dist/exact.js'), import('./publisher.js'), import('./list.js'),
    ]);
    // The page makes the list itself: to send it from the test would take most of the test's time.
    const certificates = issuers.flatMap(({ name, certificates }, i) =>
      Array.from({ length: certificates }, (_, j) => ({ name, ...certificate(i, j) })));
    const list = await followExact(url, { keys, open: openExact });
    list.close();
    return certificates.filter(({ name, serial, revoked }) => list.hasIn(name, serial) !== revoked);
  });
  assert.deepEqual(wrong.map(({ name, serial }) => [name, serial]), [changes[1].slice(0, 2)]);
});

test('a release that is older or changed is refused, and the page says so', async () => {
  await refuses(page, publish, [
    [1, undefined, /older/], [3, (text) => text.replace('"keys":8037', '"keys":8036'), /wrong signature/],
    [3, (text) => text.replace('"kind":"exact"', '"kind":"file"'), /wrong signature/],
  ]);
  assert.deepEqual(problems, []);
});

for (const [width, height] of [[390, 844], [1280, 900]]) {
  for (const colorScheme of ['light', 'dark']) {
    test(`${width} px, ${colorScheme}`, async () => {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      for (const [name, change] of [['no', changes[0]], ['yes', changes[1]]]) {
        await ask(...change);
        assert.equal(await state(), name);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${over} px too wide`);
        assert.deepEqual(await page.evaluate(lowContrast), [], name);
        const path = shots && join(shots, `revoked-follow-${width}-${colorScheme}-${name}.png`);
        if (path) await page.screenshot({ path, fullPage: true });
      }
    });
  }
}
