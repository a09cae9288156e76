// npm run test:go: compares the builds of test/builds.mjs, in WebAssembly and in JavaScript, with those of the Go
// command, byte by byte. With --update it writes the sums of the files of Go, which npm test compares. It needs Go.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../dist/build.js';
import { builds, families, lineOf } from './builds.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url)), folder = mkdtempSync(join(tmpdir(), 'bloomery-go-'));
const command = join(folder, 'bloomery'), lines = [];
let different = 0;
try {
  execFileSync('go', ['build', '-o', command, './cmd/bloomery'], { cwd: root, stdio: 'inherit' });
  for (const family of families) {
    for (const one of builds(family)) {
      const { fpr, seed } = one, keys = one.list(), list = join(folder, 'keys.txt'), file = join(folder, 'out.bloom');
      writeFileSync(list, keys.map((key) => `${key}\n`).join(''));
      const options = ['-o', file, '--spec', family, '--fpr', String(fpr), '--seed', String(seed)];
      execFileSync(command, ['build', '--quiet', ...options, list], { stdio: ['ignore', 'ignore', 'pipe'] });
      const go = readFileSync(file);
      lines.push(lineOf(one, go));
      for (const wasm of [true, false]) {
        const js = Buffer.from(await build(keys, { family, fpr, seed, wasm }));
        if (js.equals(go)) continue;
        different++;
        console.log(`different, wasm ${wasm}: ${lineOf(one, js)}, and Go has\n           ${lines.at(-1)}`);
      }
    }
  }
} catch (error) {
  if (error.code !== 'ENOENT') throw error;
  console.log('NOT RUN: the comparison with Go: there is no command go');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (process.argv.includes('--update') && lines.length) {
  writeFileSync(new URL('builds.txt', import.meta.url), lines.join('\n') + '\n');
}
if (lines.length) console.log(`${lines.length} builds, ${different} different`);
process.exitCode = different ? 1 : 0;
