// npm run test:runtimes: the programs of README.md and docs/ in Deno and Bun, from the npm packages deno and bun
// (190 MB). Not part of npm test.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programs, project, runProgram, serveSite } from './readme.mjs';

const versions = { deno: '2.9.6', bun: '1.4.5' };
const run = { deno: ['run', '--no-remote', '--allow-read', '--allow-net=127.0.0.1'], bun: ['run'] };

const folder = await mkdtemp(join(tmpdir(), 'bloomery-runtimes-'));
const [installed, site] = await Promise.all([project(), serveSite()]);
try {
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: folder, stdio: 'ignore' });
  const blocks = await programs('js');
  for (const [name, args] of Object.entries(run)) {
    const program = join(folder, 'node_modules', '.bin', name);
    for (const [i, { page, number, code, prints }] of blocks.entries()) {
      const lines = await runProgram([program, ...args], installed.folder, `${name}-${i}.mjs`, code, site.origin);
      assert.deepEqual(lines, prints, `program ${number} of ${page} in ${name}`);
    }
    console.log(`${name} ${versions[name]}: ${blocks.length} programs of README.md and docs/`);
  }
} finally {
  site.close();
  await installed.remove();
  await rm(folder, { recursive: true, force: true });
}
