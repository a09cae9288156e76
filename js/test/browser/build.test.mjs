// Builds in a page and in a worker of headless Chromium: the files that Node makes. build.test.mjs compares those with
// Go.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { build } from '../../dist/build.js';
import { families } from '../builds.mjs';
import { launch, watch } from './chromium.mjs';
import { policies, serveTests } from './server.mjs';

const keys = 30_000;

let browser, server;
before(async () => ([browser, server] = await Promise.all([launch(), serveTests(policies.plain)])));
after(async () => {
  await browser?.close();
  await server?.close();
});

for (const where of ['run', 'runInWorker']) {
  test(`builds in a ${where === 'run' ? 'page' : 'worker'}`, async () => {
    const page = await browser.newPage(), problems = watch(page);
    await page.goto(`${server.origin}/test/index.html`);
    await page.waitForFunction(() => 'run' in globalThis);
    const run = ([where, job]) => globalThis[where]('built', job);
    const { sums, missing } = await page.evaluate(run, [where, { families, keys }]);
    for (const [i, family] of families.entries()) {
      const file = await build(Array.from({ length: keys }, (_, i) => i), { family, fpr: 0.01, seed: 7 });
      assert.equal(sums[i], createHash('sha256').update(file).digest('hex'), family);
    }
    assert.equal(missing, 0);
    assert.deepEqual(problems, []);
    await page.close();
  });
}
