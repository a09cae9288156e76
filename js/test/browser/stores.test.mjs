// The stores of followers in headless Chromium.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, watch } from './chromium.mjs';
import { policies, serveTests } from './server.mjs';

let browser, server;
before(async () => ([browser, server] = await Promise.all([launch(), serveTests(policies.plain)])));
after(async () => {
  await browser?.close();
  await server?.close();
});

for (const where of ['run', 'runInWorker']) {
  test(`indexedDBStore and cacheStore in a ${where === 'run' ? 'page' : 'worker'}`, async () => {
    const context = await browser.newContext(), page = await context.newPage(), problems = watch(page);
    await page.goto(`${server.origin}/test/index.html`);
    await page.waitForFunction(() => 'run' in globalThis);
    assert.deepEqual(await page.evaluate((where) => globalThis[where]('stored'), where), []);
    assert.deepEqual(problems, []);
    await context.close();
  });
}
