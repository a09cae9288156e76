// The golden files with their vectors, in a page and in a worker of headless Chromium, under two policies.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { chromiumPath, launch, watch } from './chromium.mjs';
import { policies, serveTests } from './server.mjs';

const folder = new URL('../../../internal/container/testdata/vectors/', import.meta.url);
const vectors = readdirSync(folder).filter((name) => name.endsWith('.json')).map((name) => {
  const vector = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
  return { name, vector, file: readFileSync(new URL(vector.file, folder), 'hex') };
});

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

for (const [name, policy] of Object.entries(policies)) {
  describe(`policy ${policy}`, () => {
    let server, page, problems;
    before(async () => {
      server = await serveTests(policy, { '/vectors.json': JSON.stringify(vectors) });
      page = await browser.newPage();
      problems = watch(page);
      await page.goto(`${server.origin}/test/index.html`);
      await page.waitForFunction(() => 'run' in globalThis);
    });
    after(async () => {
      await page?.close();
      await server?.close();
    });

    for (const where of ['run', 'runInWorker']) {
      for (const entry of ['index', 'plain']) {
        test(`${entry} in a ${where === 'run' ? 'page' : 'worker'}`, async () => {
          const run = ([where, job]) => globalThis[where]('golden', job);
          const done = await page.evaluate(run, [where, { entry, url: '/vectors.json' }]);
          assert.deepEqual(done.wrong, []);
          assert.equal(done.filters, vectors.length);
          assert.ok(done.filters >= 100 && done.answers > 4000, `${done.filters} filters, ${done.answers} answers`);
          if (entry === 'plain' || name === 'plain') assert.equal(done.wasm, 0);
          else assert.ok(done.wasm > 0, 'WebAssembly answers no filter');
          assert.deepEqual(problems, []);
        });
      }
    }
  });
}

test('the policy without wasm-unsafe-eval forbids WebAssembly', async () => {
  const server = await serveTests(policies.plain);
  const page = await browser.newPage();
  await page.goto(`${server.origin}/test/index.html`);
  const compile = () => {
    try {
      new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
      return 'compiled';
    } catch (error) {
      return error.name;
    }
  };
  assert.equal(await page.evaluate(compile), 'CompileError');
  await page.close();
  await server.close();
});

test('a missing Chromium is an error that says what to install', () => {
  assert.throws(() => chromiumPath({ PATH: '/nowhere' }), /apt-get install chromium/);
  const env = { PATH: '/usr/bin', CHROMIUM: '/nowhere/chromium' };
  assert.throws(() => chromiumPath(env), /CHROMIUM=\/nowhere\/chromium/);
});
