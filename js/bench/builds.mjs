// Builds in WebAssembly and in plain JavaScript beside the Go command: README.md says how to run it.
//
// usage: node builds.mjs [--keys N] [--turns N] [--only NAME] [--fpr RATE]
//        node builds.mjs TASK (a process of the benchmark)

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { domainOf, shortKeyOf } from './keys.mjs';
import { median } from './stats.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const kinds = { '16 bytes': shortKeyOf, domain: domainOf };
const families = ['standard', 'blocked', 'fuse', 'ribbon'];

/** Prints the ms of the first build in a process, and of a later one, whose code the engine has compiled. */
async function time({ kind, n, family, fpr, wasm }) {
  const { build } = await import('../dist/build.js');
  const keys = Array.from({ length: n }, (_, i) => kinds[kind](i)), times = [];
  for (let i = 0; i < 4; i++) {
    const start = performance.now();
    await build(keys, { family, fpr, wasm });
    times.push(performance.now() - start);
  }
  console.log(JSON.stringify({ first: times[0], later: times.at(-1) }));
}

/** Builds in turns, in alternating order, and prints a table. */
function table() {
  const { values: flags } = parseArgs({
    options: {
      keys: { type: 'string', default: '1000000' },
      turns: { type: 'string', default: '7' },
      only: { type: 'string', default: '' }, // only families whose name begins with this text
      fpr: { type: 'string', default: '0.01' },
    },
  });
  const n = Number(flags.keys), turns = Number(flags.turns), fpr = Number(flags.fpr);
  if (!(n >= 1000 && n <= 9e6 && turns >= 1)) throw new Error('want --keys 1000 to 9000000, --turns 1 or more');
  const dir = mkdtempSync(join(tmpdir(), 'bloomery-builds-')), command = join(dir, 'bloomery');
  const run = (program, args, cwd) => execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe', cwd });
  try {
    run('go', ['build', '-o', command, './cmd/bloomery'], at('../..'));
    console.log(`${cpus()[0].model}, ${cpus().length} processors, node ${process.version}; ${n} keys, rate ${fpr}`);
    console.log(`ns per key, medians of ${turns} turns; ratios to Go with 95% intervals\n`);
    console.log('| family | key | Go | plain, first | plain, later | WebAssembly, first | WebAssembly, later ' +
      '| first / Go | later / Go | plain, first / Go |');
    console.log(`|${'---|'.repeat(10)}`);
    for (const [kind, keyOf] of Object.entries(kinds)) {
      const list = join(dir, 'keys.txt'), file = join(dir, 'filter.bloom');
      writeFileSync(list, Array.from({ length: n }, (_, i) => `${keyOf(i)}\n`).join(''));
      for (const family of families.filter((name) => name.startsWith(flags.only))) {
        const go = () => {
          const start = performance.now();
          run(command, ['build', '--quiet', '-o', file, '--spec', family, '--fpr', flags.fpr, list]);
          return performance.now() - start;
        };
        const js = (wasm) =>
          JSON.parse(run(process.execPath, [at('builds.mjs'), JSON.stringify({ kind, n, family, fpr, wasm })]));
        go(); // the list is in memory from now on
        const all = Array.from({ length: turns }, (_, turn) => {
          const times = {}, steps = [
            () => (times.go = go()), () => (times.plain = js(false)), () => (times.wasm = js(true)),
            () => (times.go = (times.go + go()) / 2),
          ];
          for (const step of turn % 2 ? [steps[0], steps[2], steps[1], steps[3]] : steps) step();
          return times;
        });
        const of = (f) => median(all.map(f)), ns = (f) => ((of(f).median * 1e6) / n).toFixed(0);
        const ratio = (f) => {
          const { median: m, low, high } = of((t) => f(t) / t.go);
          return `${m.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`;
        };
        console.log(`| ${[
          family, kind, ns((t) => t.go), ns((t) => t.plain.first), ns((t) => t.plain.later),
          ns((t) => t.wasm.first), ns((t) => t.wasm.later), ratio((t) => t.wasm.first), ratio((t) => t.wasm.later),
          ratio((t) => t.plain.first),
        ].join(' | ')} |`);
      }
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const task = process.argv[2];
if (task?.startsWith('{')) await time(JSON.parse(task));
else table();
