// One process of the benchmark: a filter and a Set of the same keys answer the same queries in turns, or a file is
// opened again and again. Its argument is a task in JSON; it prints the times of all turns in JSON.
//
// Times are processor time of the process, so that other processes of the machine count only as far as they take its
// caches. They include the garbage collector and the compiler.

import { readFileSync } from 'node:fs';
import { keysFrom, shuffled } from './keys.mjs';

const absentFrom = 500_000_000;

/** Returns what answers queries: a function has(key). */
async function filterOf({ package: name, file, wasm }, keys) {
  if (name === 'bloom-filters') {
    const { default: { BloomFilter } } = await import('bloom-filters');
    const filter = BloomFilter.create(keys.length, 0.01);
    for (const key of keys) filter.add(key);
    return (key) => filter.has(key);
  }
  if (name === 'bloomfilter') {
    const { BloomFilter } = await import('bloomfilter');
    const filter = BloomFilter.withTargetError(keys.length, 0.01);
    for (const key of keys) filter.add(key);
    return (key) => filter.test(key);
  }
  const { open } = await import('../dist/index.js');
  const filter = await open(readFileSync(file), { wasm });
  if (filter.info().wasm !== wasm) throw new Error(`${file}: WebAssembly is ${filter.info().wasm}, want ${wasm}`);
  return (key) => filter.has(key);
}

/** Returns the processor time in ns since start, a value of process.cpuUsage. */
function since(start) {
  const { user, system } = process.cpuUsage(start);
  return 1000 * (user + system);
}

/** Returns the processor time of f in ns. */
function time(f) {
  const start = process.cpuUsage();
  f();
  return since(start);
}

async function queries(task) {
  const keys = keysFrom(0, task.keys), set = new Set(keys), has = await filterOf(task, keys);
  let present = keys, absent = keysFrom(absentFrom, task.keys);
  if (task.shuffled) {
    present = shuffled(present);
    absent = shuffled(absent);
  }
  // Two loops of the same text, so that each is compiled for what it calls.
  const countSet = (queries) => {
    let n = 0;
    for (const key of queries) if (set.has(key)) n++;
    return n;
  };
  const countFilter = (queries) => {
    let n = 0;
    for (const key of queries) if (has(key)) n++;
    return n;
  };
  if (countFilter(present) !== task.keys) throw new Error('a key of the filter is absent');
  if (countSet(present) !== task.keys || countSet(absent) !== 0) throw new Error('the Set is wrong');
  const found = countFilter(absent), turns = [];
  for (let turn = 0; turn < task.turns; turn++) {
    const times = {};
    const both = [
      () => (times.setPresent = time(() => countSet(present)) / task.keys),
      () => (times.filterPresent = time(() => countFilter(present)) / task.keys),
      () => (times.setAbsent = time(() => countSet(absent)) / task.keys),
      () => (times.filterAbsent = time(() => countFilter(absent)) / task.keys),
    ];
    for (const f of turn % 2 ? both.reverse() : both) f();
    turns.push(times);
  }
  return { turns, falsePositives: found / task.keys };
}

async function openings({ file, wasm, turns }) {
  const { open } = await import('../dist/index.js');
  const bytes = readFileSync(file), times = [];
  // The first opening compiles the module.
  for (let turn = 0; turn <= turns; turn++) {
    const start = process.cpuUsage();
    await open(bytes, { wasm });
    times.push(since(start));
  }
  return { first: times[0], turns: times.slice(1) };
}

const task = JSON.parse(process.argv[2]);
console.log(JSON.stringify(await (task.open ? openings(task) : queries(task))));
