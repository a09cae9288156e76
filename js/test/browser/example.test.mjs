// The page js/example in headless Chromium: typed into, pasted into, at two widths, in both colour schemes.
// With BLOOMERY_SHOTS=FOLDER it leaves screenshots there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { serve } from '../../example/serve.mjs';
import { launch, problemsOf } from './chromium.mjs';
import { lowContrast } from './contrast.mjs';

const shots = process.env.BLOOMERY_SHOTS;

/** Returns the lines of a list of examples/domains. */
function list(name) {
  const path = new URL(`../../../examples/domains/${name}.txt.gz`, import.meta.url);
  return gunzipSync(readFileSync(path)).toString().trimEnd().split('\n');
}

const disposable = list('disposable'), ordinary = list('ordinary');
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** Opens the page and waits until it answers. */
async function open(url, options = {}) {
  const page = await browser.newPage(options);
  const problems = problemsOf(page);
  await page.goto(url);
  await page.waitForSelector('#address:enabled');
  await page.waitForFunction(() => / ns$/.test(document.querySelector('[data-fact=query]').textContent));
  return { page, problems };
}

const fact = (page, name) => page.textContent(`dd[data-fact=${name}]`);
const state = (page) => page.getAttribute('#verdict', 'data-state');

for (const plain of [false, true]) {
  describe(`policy ${plain ? 'without' : 'with'} WebAssembly`, () => {
    let server, page, problems;
    before(async () => {
      server = await serve({ plain });
      ({ page, problems } = await open(server.url));
    });
    after(async () => {
      await page?.close();
      await server?.close();
    });

    test('facts', async () => {
      assert.equal(await fact(page, 'bytes'), '159,952 bytes');
      assert.equal(await fact(page, 'keys'), '133,604');
      assert.equal(await fact(page, 'rate'), '0.4%, 1 in 250');
      assert.equal(await fact(page, 'family'), 'fuse');
      assert.equal(await fact(page, 'form'), plain ? 'plain JavaScript' : 'WebAssembly');
      assert.match(await fact(page, 'query'), /^[1-9][0-9]* ns$/);
      assert.match(await fact(page, 'open'), /^(less than 1|[1-9][0-9,]*) ms$/);
    });

    test('an answer for each letter', async () => {
      await page.fill('#address', '');
      assert.equal(await state(page), 'none');
      await page.focus('#address');
      await page.keyboard.type('alex@yopmail');
      assert.equal(await state(page), 'none');
      await page.keyboard.type('.com');
      assert.equal(await state(page), 'yes');
      assert.equal(await page.textContent('#answer'), 'yopmail.com is very likely on the list');
      await page.keyboard.type('x');
      assert.equal(await state(page), 'no');
      assert.equal(await page.textContent('#detail'), 'This is certain.');
      await page.waitForFunction(() => document.querySelector('#spoken').textContent.includes('yopmail.comx is not'));
    });

    test('examples', async () => {
      for (const [button, want] of [['alex@yopmail.com', 'yes'], ['alex@gmail.com', 'no'], ['alex@yahoo.be', 'yes']]) {
        await page.click(`[data-try="${button}"]`);
        assert.equal(await page.inputValue('#address'), button);
        assert.equal(await state(page), want);
      }
      assert.ok(!disposable.includes('yahoo.be'), 'yahoo.be is not a wrong yes');
      assert.match(await page.textContent('#detail'), /^This yes is wrong: yahoo.be/);
    });

    test('many', async () => {
      await page.click('#sample');
      await page.waitForFunction(() => document.querySelectorAll('#rows tr').length === 10);
      const answers = await page.locator('#rows td:last-child').allTextContents();
      const yes = 'very likely';
      assert.deepEqual(answers, [yes, 'no', yes, 'no', yes, yes, 'no domain', yes, 'no', yes]);
      assert.match(await page.textContent('#count'), /^6 on the list, 3 not, 1 without a domain. 10 lines in /);
      await page.click('#clear');
      assert.equal(await page.textContent('#count'), 'Nothing to check yet.');
      assert.ok(await page.isHidden('#results'));
    });

    test('no domain of the list is missed, and few others are found', async () => {
      const paste = async (lines) => {
        await page.fill('#lines', lines.join('\n'));
        const all = `${lines.length.toLocaleString('en')} lines`;
        await page.waitForFunction((all) => document.querySelector('#count').textContent.includes(all), all);
        const [, yes, no] = /^([0-9,]+) on the list, ([0-9,]+) not\. /.exec(await page.textContent('#count'));
        return [yes, no].map((n) => Number(n.replaceAll(',', '')));
      };
      assert.deepEqual(await paste(disposable), [disposable.length, 0]);
      assert.equal(await page.locator('#rows tr').count(), 500);
      const [yes, no] = await paste(ordinary);
      assert.equal(yes + no, ordinary.length);
      // The expected number is n/256; five standard deviations more or less.
      const mean = ordinary.length / 256, spread = 5 * Math.sqrt(mean);
      const expected = `${mean.toFixed()} ± ${spread.toFixed()}`;
      assert.ok(Math.abs(yes - mean) < spread, `${yes} wrong answers, expected ${expected}`);
      await page.click('#clear');
    });

    test('the time is measured again', async () => {
      await page.evaluate(() => (document.querySelector('dd[data-fact=query]').textContent = ''));
      await page.click('#measure');
      assert.match(await fact(page, 'query'), /^[1-9][0-9]* ns$/);
    });

    test('no console error, no failed request', () => assert.deepEqual(problems, []));
  });
}

describe('looks', () => {
  let server;
  before(async () => (server = await serve()));
  after(() => server?.close());

  for (const [width, height] of [[390, 844], [1280, 900]]) {
    for (const colorScheme of ['light', 'dark']) {
      test(`${width} px, ${colorScheme}`, async () => {
        const { page, problems } = await open(server.url, { viewport: { width, height }, colorScheme });
        for (const [name, address] of [['start'], ['no', 'alex@gmail.com'], ['yes', 'alex@yopmail.com']]) {
          if (name === 'yes') await page.click('#sample');
          if (address) await page.fill('#address', address);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(over <= 0, `${over} px too wide`);
          assert.deepEqual(await page.evaluate(lowContrast), [], name);
          const path = shots && join(shots, `${width}-${colorScheme}-${name}.png`);
          if (path) await page.screenshot({ path, fullPage: true });
        }
        assert.deepEqual(problems, []);
        await page.close();
      });
    }
  }

  test('labels, and the keyboard alone', async () => {
    const { page } = await open(server.url);
    const unnamed = await page.evaluate(() =>
      [...document.querySelectorAll('input, textarea, button')]
        .filter((e) => !(e.labels?.length || e.textContent.trim()))
        .map((e) => e.outerHTML));
    assert.deepEqual(unnamed, []);
    const seen = [];
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press('Tab');
      seen.push(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.try));
    }
    const tries = ['alex@yopmail.com', 'alex@gmail.com', 'alex@yahoo.be'];
    assert.deepEqual(seen, ['address', ...tries, 'lines', 'sample', 'clear', 'measure']);
    await page.focus('[data-try="alex@yopmail.com"]');
    await page.keyboard.press('Enter');
    assert.equal(await state(page), 'yes');
    await page.close();
  });

  test('a filter that cannot be loaded is said', async () => {
    const page = await browser.newPage();
    const body = 'something else, longer than a header '.repeat(9);
    await page.route('**/disposable.bloom', (route) => route.fulfill({ body }));
    await page.goto(server.url);
    await page.waitForSelector('#failure:visible');
    assert.match(await page.textContent('#failure'), /^The filter could not be loaded: /);
    assert.equal(await page.textContent('#answer'), 'No filter');
    await page.close();
  });
});
