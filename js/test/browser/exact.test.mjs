// The page js/example/revoked in headless Chromium: the answers of an exact set from a file. With BLOOMERY_SHOTS=FOLDER
// it leaves screenshots there.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { certificate, issuers } from '../../example/revoked/list.js';
import { serve } from '../../example/serve.mjs';
import { launch, watch } from './chromium.mjs';
import { lowContrast } from './contrast.mjs';

const shots = process.env.BLOOMERY_SHOTS;
let browser, server, page, problems;

const fact = (name) => page.textContent(`dd[data-fact=${name}]`);
const state = () => page.getAttribute('#verdict', 'data-state');
const all = (i) => Array.from({ length: issuers[i].certificates }, (_, j) => certificate(i, j));
const counts = issuers.map((_, i) => all(i).filter((c) => c.revoked).length);

before(async () => {
  [server, browser] = await Promise.all([serve({ plain: true }), launch()]);
  page = await browser.newPage();
  problems = watch(page);
  await page.goto(`${server.url}revoked/`);
  await page.waitForSelector('#serial:enabled');
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test('facts', async () => {
  assert.equal(await fact('universe'), '128,000');
  assert.equal(await fact('members'), counts.reduce((a, b) => a + b).toLocaleString('en'));
  assert.equal(await fact('partitions'), String(issuers.length));
  assert.ok(parseFloat(await fact('bits')) < 4, await fact('bits'));
});

test('an answer for a serial number', async () => {
  assert.equal(await state(), 'none');
  for (const [i, issuer] of issuers.entries()) {
    await page.selectOption('#issuer', issuer.name);
    for (const { serial, revoked } of all(i).slice(0, 20)) {
      await page.fill('#serial', serial.toUpperCase());
      assert.equal(await state(), revoked ? 'yes' : 'no', `${issuer.name} ${serial}`);
    }
  }
  await page.fill('#serial', '123');
  assert.equal(await state(), 'none');
  assert.equal(await page.textContent('#detail'), '13 more.');
});

test('examples', async () => {
  for (const [i, { name, certificates }] of issuers.entries()) {
    await page.selectOption('#issuer', name);
    for (const [button, want, n] of [['revoked', 'yes', counts[i]], ['valid', 'no', certificates - counts[i]]]) {
      await page.click(`[data-try=${button}]`);
      assert.equal(await state(), n ? want : 'none', `${name}, ${button}`);
      if (!n) assert.equal(await page.textContent('#answer'), `${name} has revoked ${counts[i] ? 'all' : 'none'}.`);
    }
  }
});

test('no answer is wrong', async () => {
  await page.click('#all');
  await page.waitForFunction(() => document.querySelector('#total').textContent.includes('answers'));
  assert.match(await page.textContent('#total'), /^128,000 answers, 0 wrong, [0-9,]+ ns each\.$/);
  const rows = await page.locator('#rows tr').allTextContents();
  const want = issuers.map(({ name, certificates }, i) =>
    `${name}${certificates.toLocaleString('en')}${counts[i].toLocaleString('en')}0`);
  assert.deepEqual(rows, want);
});

for (const [width, height] of [[390, 844], [1280, 900]]) {
  for (const colorScheme of ['light', 'dark']) {
    test(`${width} px, ${colorScheme}`, async () => {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await page.selectOption('#issuer', issuers[2].name);
      for (const [name, button] of [['yes', 'revoked'], ['no', 'valid']]) {
        await page.click(`[data-try=${button}]`);
        assert.equal(await state(), name);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${over} px too wide`);
        assert.deepEqual(await page.evaluate(lowContrast), [], name);
        const path = shots && join(shots, `revoked-${width}-${colorScheme}-${name}.png`);
        if (path) await page.screenshot({ path, fullPage: true });
      }
    });
  }
}

test('no console error, no failed request', () => assert.deepEqual(problems, []));
