// The page js/example in headless Chromium: typed into, pasted into, at two widths, in both colour schemes.
// With BLOOMERY_SHOTS=FOLDER it leaves screenshots there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { serve } from '../../example/serve.mjs';
import { launch, watch } from './chromium.mjs';
import { lowContrast } from './contrast.mjs';

const shots = process.env.BLOOMERY_SHOTS;

/** Returns the lines of a list of cmd/bloomery/domains. */
function list(name) {
  const path = new URL(`../../../cmd/bloomery/domains/${name}.txt.gz`, import.meta.url);
  return gunzipSync(readFileSync(path)).toString().trimEnd().split('\n');
}

const disposable = list('disposable'), ordinary = list('ordinary');
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** Opens the page and waits until it answers. */
async function open(url) {
  const page = await browser.newPage();
  const problems = watch(page);
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
      assert.equal(await page.textContent('#answer'), 'yopmail.com is probably on the list');
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
      const yes = 'probably';
      assert.deepEqual(answers, [yes, 'no', yes, 'no', yes, yes, 'no domain', yes, 'no', yes]);
      const count = await page.textContent('#count');
      assert.match(count, /^6 probably on the list, 3 not, 1 without a domain. 10 lines in /);
      await page.click('#clear');
      assert.equal(await page.textContent('#count'), 'Nothing to check yet.');
      assert.ok(await page.isHidden('#results'));
    });

    test('many, pasted', async () => {
      const lines = disposable.slice(0, 3000).concat(ordinary.slice(0, 3000));
      await page.evaluate((text) => {
        const field = document.querySelector('#lines');
        field.value = text;
        field.dispatchEvent(new Event('input'));
      }, lines.join('\n'));
      await page.waitForFunction(() => document.querySelector('#count').textContent.includes('6,000 lines'));
      const [, yes, no] = /^([0-9,]+) probably on the list, ([0-9,]+) not\. /.exec(await page.textContent('#count'));
      const [found, other] = [yes, no].map((n) => Number(n.replaceAll(',', '')));
      assert.equal(found + other, 6000);
      assert.ok(found >= 3000 && found < 3050, `${found} found`);
      assert.equal(await page.locator('#rows tr').count(), 500);
      assert.ok(await page.isVisible('#more'));
      await page.click('#clear');
    });

    test('no domain of the list is missed, and few others are found', async () => {
      const found = (lines) => page.evaluate(async (text) => {
        const { fetchFilter } = await import('../dist/index.js');
        const { domainOf, isListed } = await import('./domain.js');
        const filter = await fetchFilter('disposable.bloom');
        return text.split('\n').filter((line) => isListed(filter, domainOf(line))).length;
      }, lines.join('\n'));
      assert.equal(await found(disposable), disposable.length);
      // The expected number is n/256; five standard deviations more or less.
      const yes = await found(ordinary), mean = ordinary.length / 256, spread = 5 * Math.sqrt(mean);
      const expected = `${mean.toFixed()} ± ${spread.toFixed()}`;
      assert.ok(Math.abs(yes - mean) < spread, `${yes} wrong answers, expected ${expected}`);
    });

    test('the time is measured again', async () => {
      await page.evaluate(() => (document.querySelector('dd[data-fact=query]').textContent = ''));
      await page.click('#measure');
      assert.match(await fact(page, 'query'), /^[1-9][0-9]* ns$/);
    });

    test('no console error, no failed request', () => assert.deepEqual(problems, []));
  });
}

test('the server has the page and the package, and nothing else', async () => {
  const server = await serve({ plain: true });
  const status = async (path) => (await fetch(new URL(path, server.url))).status;
  for (const path of ['/', '/example', '/example/', '/example/NOTICE', '/dist/index.js']) {
    assert.equal(await status(path), 200, path);
  }
  const others = ['/package.json', '/example/..%2fpackage.json', '/dist', '/src/index.ts', '/%ff'];
  for (const path of others) assert.equal(await status(path), 404, path);
  const policy = (await fetch(server.url)).headers.get('content-security-policy');
  assert.match(policy, /^default-src 'self'; script-src 'self';/);
  await server.close();
});

describe('looks', () => {
  let server, page, problems;
  before(async () => {
    server = await serve();
    ({ page, problems } = await open(server.url));
  });
  after(async () => {
    await page?.close();
    await server?.close();
  });

  for (const [width, height] of [[390, 844], [1280, 900]]) {
    for (const colorScheme of ['light', 'dark']) {
      test(`${width} px, ${colorScheme}`, async () => {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        for (const [name, address] of [['start', ''], ['no', 'alex@gmail.com'], ['yes', 'alex@yopmail.com']]) {
          await page.click(name === 'yes' ? '#sample' : '#clear');
          await page.fill('#address', address);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(over <= 0, `${over} px too wide`);
          assert.deepEqual(await page.evaluate(lowContrast), [], name);
          const path = shots && join(shots, `${width}-${colorScheme}-${name}.png`);
          if (path) await page.screenshot({ path, fullPage: true });
        }
        assert.deepEqual(problems, []);
      });
    }
  }

  test('labels, and the keyboard alone', async () => {
    await page.reload();
    await page.waitForSelector('#address:enabled');
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
  });

  test('a filter that cannot be loaded is said', async () => {
    const body = 'something else, longer than a header '.repeat(9);
    await page.route('**/disposable.bloom', (route) => route.fulfill({ body }));
    await page.reload();
    await page.waitForSelector('#failure:visible');
    assert.match(await page.textContent('#failure'), /^The filter could not be loaded: /);
    assert.equal(await page.textContent('#answer'), 'No filter');
  });
});
