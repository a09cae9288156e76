// Queries without WebAssembly beside the npm package bloomfilter: README.md says how to run it.
//
// usage: node peer.mjs [--keys N] [--turns N] [--only NAME] [--dist DIR]
//        node peer.mjs TASK (a process of the benchmark)

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { domainOf, shortKeyOf } from './keys.mjs';
import { median } from './stats.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const kinds = { '16 bytes': shortKeyOf, domain: domainOf };
const specs = [
  'standard', 'bitsandblooms', 'blocked', 'fuse', 'ribbon', 'counting', 'rankindexed', 'guava', 'redisbloom',
  'partitioned(effort=fast)', 'blockpartitioned(effort=fast)', 'twochoice(effort=fast)',
];

/** Prints the medians of one filter and of bloomfilter, which answer the same keys in turns, in alternating order. */
async function compare({ file, kind, keys, turns, dist }) {
  const { open } = await import(pathToFileURL(join(dist, 'plain.js')));
  const { BloomFilter } = await import('bloomfilter');
  const filter = await open(readFileSync(file)), peer = BloomFilter.withTargetError(keys, 0.01);
  const present = Array.from({ length: keys }, (_, i) => kinds[kind](i));
  const absent = Array.from({ length: keys }, (_, i) => kinds[kind](5_000_000 + i));
  for (const key of present) peer.add(key);
  // Two loops of the same text, so that each is compiled for what it calls. A turn is a million queries.
  const rounds = Math.ceil(1e6 / keys);
  const askFilter = (queries) => {
    let n = 0;
    for (let i = 0; i < rounds; i++) for (const key of queries) if (filter.has(key)) n++;
    return n / rounds;
  };
  const askPeer = (queries) => {
    let n = 0;
    for (let i = 0; i < rounds; i++) for (const key of queries) if (peer.test(key)) n++;
    return n / rounds;
  };
  const rates = [askFilter(absent), askPeer(absent)].map((n) => n / keys);
  if (askFilter(present) !== keys || askPeer(present) !== keys) throw new Error('a key of the filter is absent');
  if (rates.some((rate) => rate > 0.02)) throw new Error(`false positives: ${rates}`);
  const time = (ask, queries) => {
    const start = process.cpuUsage();
    ask(queries);
    const { user, system } = process.cpuUsage(start);
    return (1000 * (user + system)) / (keys * rounds);
  };
  const all = [];
  for (let turn = 0; turn < turns; turn++) {
    const times = {};
    const steps = [
      () => (times.present = time(askFilter, present)), () => (times.peerPresent = time(askPeer, present)),
      () => (times.absent = time(askFilter, absent)), () => (times.peerAbsent = time(askPeer, absent)),
    ];
    for (const step of turn % 2 ? steps.reverse() : steps) step();
    all.push(times);
  }
  const of = (f) => median(all.map(f));
  console.log(JSON.stringify({
    present: of((t) => t.present), absent: of((t) => t.absent),
    peerPresent: of((t) => t.peerPresent), peerAbsent: of((t) => t.peerAbsent),
    presentRatio: of((t) => t.present / t.peerPresent), absentRatio: of((t) => t.absent / t.peerAbsent),
  }));
}

const ns = (m) => m.median.toFixed(0);
const ratio = (m) => `${m.median.toFixed(2)} (${m.low.toFixed(2)}-${m.high.toFixed(2)})`;

/** Builds the filters by the Go command and prints a table. */
function table() {
  const { values: flags } = parseArgs({
    options: {
      keys: { type: 'string', default: '1000000' },
      turns: { type: 'string', default: '11' },
      only: { type: 'string', default: '' }, // only specs that begin with this text
      dist: { type: 'string', default: at('../dist') }, // another build of the package
    },
  });
  const keys = Number(flags.keys), turns = Number(flags.turns);
  if (!(keys >= 1000 && keys <= 5e6 && turns >= 1)) throw new Error('want --keys 1000 to 5000000, --turns 1 or more');
  const dir = mkdtempSync(join(tmpdir(), 'bloomery-peer-'));
  const run = (program, args, cwd) => execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe', cwd });
  try {
    run('go', ['build', '-o', join(dir, 'bloomery'), './cmd/bloomery'], at('../..'));
    console.log(`node ${process.version}, ${keys} keys, medians of ${turns} turns, ns of processor time\n`);
    console.log('| filter | keys | present | absent | bloomfilter | present / bloomfilter | absent / bloomfilter |');
    console.log(`|${'---|'.repeat(7)}`);
    for (const [kind, keyOf] of Object.entries(kinds)) {
      const text = join(dir, 'keys.txt');
      writeFileSync(text, Array.from({ length: keys }, (_, i) => `${keyOf(i)}\n`).join(''));
      for (const spec of specs.filter((spec) => spec.startsWith(flags.only))) {
        const file = join(dir, 'filter.bloom');
        run(join(dir, 'bloomery'), ['build', '-o', file, '--spec', spec, '--fpr', '1%', text]);
        const task = JSON.stringify({ file, kind, keys, turns, dist: resolve(flags.dist) });
        const r = JSON.parse(run(process.execPath, [at('peer.mjs'), task]));
        console.log(`| ${[
          spec.replace(/\(.*/, ''), kind, ns(r.present), ns(r.absent), `${ns(r.peerPresent)}, ${ns(r.peerAbsent)}`,
          ratio(r.presentRatio), ratio(r.absentRatio),
        ].join(' | ')} |`);
      }
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const task = process.argv[2];
if (task?.startsWith('{')) await compare(JSON.parse(task));
else table();
