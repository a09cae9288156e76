// Builds in a page and in a worker of headless Chromium, with and without WebAssembly: the files that Node makes.
// build.test.mjs compares those with Go.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { build } from '../../dist/build.js';
import { families } from '../builds.mjs';
import { launch, watch } from './chromium.mjs';
import { policies, serveTests } from './server.mjs';

const keys = 30_000;

const numbers = Array.from({ length: keys }, (_, i) => i), texts = numbers.map((i) => `text ${i}`);

let browser, sums;
before(async () => {
  browser = await launch();
  sums = [];
  for (const family of families) {
    for (const all of [numbers, texts]) {
      const file = await build(all, { family, fpr: 0.01, seed: 7, wasm: false });
      sums.push(createHash('sha256').update(file).digest('hex'));
    }
  }
});
after(() => browser?.close());

for (const [policy, text] of Object.entries(policies)) {
  for (const where of ['run', 'runInWorker']) {
    test(`builds in a ${where === 'run' ? 'page' : 'worker'} under ${text}`, async () => {
      const server = await serveTests(text), page = await browser.newPage(), problems = watch(page);
      await page.goto(`${server.origin}/test/index.html`);
      await page.waitForFunction(() => 'run' in globalThis);
      const run = ([where, job]) => globalThis[where]('built', job);
      const built = await page.evaluate(run, [where, { families, keys }]);
      assert.deepEqual(built, { sums, missing: 0, wasm: policy === 'wasm' });
      assert.deepEqual(problems, []);
      await page.close();
      await server.close();
    });
  }
}
