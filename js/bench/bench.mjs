// Query times, opening times and sizes: README.md says how to run it and what the columns mean.
//
// usage: node bench.mjs [--json] [--keys N] [--turns N] [--cpu N] [--only NAME] [--files DIR]

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { keyOf } from './keys.mjs';
import { sizes } from './sizes.mjs';
import { median } from './stats.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean', default: false }, // print results in JSON instead of tables
    keys: { type: 'string', default: '1000000' },
    turns: { type: 'string', default: '11' },
    cpu: { type: 'string' }, // run on this processor only (Linux)
    only: { type: 'string' }, // only specs that contain this text
    files: { type: 'string' }, // keep keys and filters in this folder, and use those that are there
  },
});
const keys = Number(flags.keys), turns = Number(flags.turns);
if (!(keys >= 1000 && keys <= 1e8 && turns >= 1)) throw new Error('want --keys 1000 to 100000000, --turns 1 or more');
if (!existsSync(at('../dist/index.js'))) throw new Error('js/dist is missing: run npm ci && npm run build in js');

/** Specs and sizes of the filters. Searched families have a search of a few seconds. */
const specs = [
  ['blocked', '--fpr=1%'], ['blocked(layout=split)', '--fpr=1%'], ['partitioned(effort=fast)', '--fpr=1%'],
  ['blockpartitioned(effort=fast)', '--fpr=1%'], ['fuse', '--fpr=1%'], ['ribbon', '--fpr=1%'],
  ['ribbon(w=128)', '--fpr=1%'], ['standard', '--fpr=1%'],
  ['twochoice(effort=fast)', '--fpr=1%'], ['rankindexed', '--fpr=1%'], ['counting', '--fpr=1%'],
  ['guava', '--fpr=1%'], ['bitsandblooms', '--fpr=1%'], ['redisbloom', '--fpr=1%'],
];

const dir = flags.files ?? mkdtempSync(join(tmpdir(), 'bloomery-bench-'));
mkdirSync(dir, { recursive: true });
const progress = (text) => process.stderr.write(`${text}\n`);
const run = (program, args, cwd) => execFileSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26, cwd });

const ns = ({ median: m, low, high }) => `${m.toFixed(0)} (${low.toFixed(0)}-${high.toFixed(0)})`;

/** Builds the filter of a spec by the Go command and returns its path. */
function buildFilter(name, spec, size, n) {
  const path = join(dir, `${name}-${n}.bloom`), text = join(dir, `keys-${n}.txt`), command = join(dir, 'bloomery');
  if (existsSync(path)) return path;
  if (!existsSync(command)) run('go', ['build', '-o', command, './cmd/bloomery'], at('../..'));
  if (!existsSync(text)) writeFileSync(text, Array.from({ length: n }, (_, i) => `${keyOf(i)}\n`).join(''));
  run(command, ['build', '-o', path, '--spec', spec, ...size, text]);
  return path;
}

/** Runs a task in a process of its own. */
function turn(task) {
  const node = [process.execPath, at('turns.mjs'), JSON.stringify({ keys, turns, ...task })];
  const [program, ...args] = flags.cpu === undefined ? node : ['taskset', '-c', flags.cpu, ...node];
  return JSON.parse(run(program, args));
}

/** Returns the medians of a task. */
function measure(name, form, task) {
  const { turns: times, falsePositives } = turn(task), of = (f) => median(times.map(f));
  const row = {
    name, form, falsePositives,
    present: of((t) => t.filterPresent), absent: of((t) => t.filterAbsent),
    setPresent: of((t) => t.setPresent), setAbsent: of((t) => t.setAbsent),
    presentRatio: of((t) => t.filterPresent / t.setPresent), absentRatio: of((t) => t.filterAbsent / t.setAbsent),
  };
  progress(`${name}, ${form}: present ${ns(row.present)} ns, absent ${ns(row.absent)} ns`);
  return row;
}

const machine = `${cpus()[0].model}, node ${process.version}`;
const results = { machine, keys, turns, queries: [], copies: [], opening: [] };
try {
  for (const [spec, ...size] of specs) {
    if (!spec.includes(flags.only ?? '')) continue;
    const name = spec.replace('(effort=fast)', ''), file = buildFilter(name.replace(/\W+/g, '-'), spec, size, keys);
    for (const wasm of [true, false]) {
      const form = wasm ? 'WebAssembly' : 'plain';
      results.queries.push(measure(name, form, { file, wasm }));
      if (['blocked', 'partitioned'].includes(name)) {
        results.copies.push(measure(name, form, { file, wasm, shuffled: true }));
      }
    }
  }
  for (const peer of ['bloom-filters', 'bloomfilter']) {
    if (peer.includes(flags.only ?? '')) results.queries.push(measure(peer, 'JavaScript', { package: peer }));
  }
  const file = buildFilter('open', 'blocked(blocks=15625,k=6)', [], 100_000);
  for (const wasm of [true, false]) {
    const { first, turns: times } = turn({ open: true, file, wasm, turns: 101 });
    results.opening.push({ form: wasm ? 'WebAssembly' : 'plain', first, ...median(times) });
  }
  results.sizes = await sizes();
} finally {
  if (!flags.files) rmSync(dir, { recursive: true });
}

const ratio = ({ median: m, low, high }) => `${m.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`;

/** Prints a table of Markdown. */
function table(head, rows) {
  console.log(`| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}`);
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
  console.log();
}

const queryHead = ['filter', 'form', 'present, ns', 'absent, ns', 'present / Set', 'absent / Set', 'false positives'];
const queryRow = (r) => [
  r.name, r.form, ns(r.present), ns(r.absent), ratio(r.presentRatio), ratio(r.absentRatio),
  `${(100 * r.falsePositives).toFixed(2)}%`,
];
/** The times of the Sets of all processes: the median of their medians. */
const setRow = (rows) => {
  const times = ['setPresent', 'setAbsent'].map((f) => ns(median(rows.map((r) => r[f].median))));
  return ['Set', '', ...times, '1', '1', '0%'];
};
if (flags.json) {
  console.log(JSON.stringify(results, null, 2));
} else {
  console.log(`${results.machine}; ${keys} keys of 23 bytes; medians of ${turns} turns, 95% intervals in brackets.\n`);
  const orders = [
    ['The strings of the Set, in its order', results.queries],
    ['Copies, in a random order', results.copies],
  ];
  for (const [title, rows] of orders) {
    if (rows.length === 0) continue;
    console.log(`${title}:\n`);
    table(queryHead, [...rows.map(queryRow), setRow(rows)]);
  }
  console.log('Opening 1 MB with checksums:\n');
  table(['form', 'ms', 'first time, ms'], results.opening.map((r) => [
    r.form, ratio({ median: r.median / 1e6, low: r.low / 1e6, high: r.high / 1e6 }), (r.first / 1e6).toFixed(1),
  ]));
  console.log('Sizes in bytes:\n');
  table(['what', 'minified', 'minified and gzip'], results.sizes.map((r) => [r.name, r.minified, r.gzip]));
}
