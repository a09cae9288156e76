// Answers queries for the differential trial of the readers. Standard input has lines FILE, SECRET, KEYS and OUT,
// separated by tabs: SECRET is hexadecimal or "-". It opens FILE, a filter file or the folder of a sharded set, answers
// the keys of the file KEYS, or none if that is "-", writes OUT and prints "ok" or "refused" and why.
//
// KEYS: for each key its kind (1 byte: 0 bytes, 1 text, 2 integer), its length (4 bytes), and its bytes. OUT: for each
// key 18 bytes: has, the count (8 bytes), 1 if there is a value, the value (8 bytes). All numbers are little endian.
//
// usage: node answers.mjs [--plain|--wasm]

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const form = process.argv[2] ?? '--plain';
if (!['--plain', '--wasm'].includes(form)) throw new Error(`unknown option ${form}: want --plain or --wasm`);
const { FormatError, ManifestError, open, openSharded, ShardError } =
  await import(form === '--wasm' ? '../dist/index.js' : '../dist/plain.js');

const { openExact } = await import('../dist/exact.js'), { siphash } = await import('../dist/hash/siphash.js');

/** The families that WebAssembly does not answer. */
const plainOnly = ['guava', 'bitsandblooms', 'redisbloom', 'spark', 'dcso'];

const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the keys of a file as this package takes them. */
function readKeys(path) {
  const b = readFileSync(path), keys = [];
  let integers = 0;
  for (let at = 0; at < b.length; ) {
    const kind = b[at], n = b.readUInt32LE(at + 1), bytes = b.subarray(at + 5, at + 5 + n);
    if (bytes.length !== n) throw new Error(`${path}: ends in a key`);
    at += 5 + n;
    if (kind === 0) keys.push(bytes);
    else if (kind === 1) keys.push(text.decode(bytes));
    else if (kind === 2 && n === 8) {
      // in turn: unsigned, its lower and upper half, and signed
      const turn = integers++ % 4;
      if (turn % 2) keys.push([bytes.readUInt32LE(0), bytes.readUInt32LE(4)]);
      else keys.push(turn ? bytes.readBigInt64LE(0) : bytes.readBigUInt64LE(0));
    } else if (kind === 3) keys.push({ name: bytes.subarray(1, 1 + bytes[0]), key: bytes.subarray(1 + bytes[0]) });
    else throw new Error(`${path}: kind ${kind} of ${n} bytes`);
  }
  return keys;
}

function openPath(path, secret) {
  if (!existsSync(path) || !statSync(path).isDirectory()) return readFile(path).then((b) => open(b, { secret }));
  return readFile(join(path, 'manifest.json'))
    .then((manifest) => openSharded(manifest, (name) => readFile(join(path, name)), { secret }))
    .then((set) => Object.assign(set, { // the names of a filter
      has: set.lookup, hasMany: set.lookupMany, count: set.lookupCount, get: set.lookupValue,
    }));
}

/** Answers the keys of an exact set. */
async function answerExact(file, secret, keysPath, out) {
  const set = await openExact(file, { secret, hashes: [siphash] }), { partitions } = set.info();
  const keys = keysPath === '-' ? [] : readKeys(keysPath), b = Buffer.alloc(18 * keys.length);
  for (let i = 0; i < keys.length; i++) {
    const { name = '', key = keys[i] } = keys[i];
    b[18 * i] = (partitions ? set.hasIn(name, key) : set.has(key)) ? 1 : 0;
  }
  writeFileSync(out, b);
}

/** Whether the filter has a method for its family. */
async function can(filter, method) {
  try {
    await filter[method]('');
    return true;
  } catch (e) {
    if (e instanceof TypeError) return false;
    throw e;
  }
}

async function answer(path, secret, keysPath, out) {
  if (!statSync(path).isDirectory()) {
    const file = readFileSync(path);
    if (file.subarray(0, 4).equals(Buffer.from('\x89BLX', 'latin1'))) {
      return answerExact(file, secret === '-' ? undefined : secret, keysPath, out);
    }
  }
  const filter = await openPath(path, secret === '-' ? undefined : secret);
  const { wasm, family, spec } = filter.info();
  const none = spec?.includes('segments=0'); // a fuse filter of no keys has nothing to ask for
  if (form === '--wasm' && wasm === false && !plainOnly.includes(family) && !none) {
    throw new Error(`${path}: not answered by WebAssembly`);
  }
  if (keysPath === '-') {
    await filter.check?.(); // a sharded set
    writeFileSync(out, '');
    return;
  }
  const keys = readKeys(keysPath), b = Buffer.alloc(18 * keys.length), info = filter.info();
  // A sharded set says what its family can do when it is asked.
  const able = { counts: info.counts ?? await can(filter, 'count'), values: info.values ?? await can(filter, 'get') };
  const many = await filter.hasMany(keys);
  for (let i = 0; i < keys.length; i++) {
    const has = await filter.has(keys[i]);
    if (has !== many[i]) throw new Error(`key ${i}: has is ${has}, hasMany is ${many[i]}`);
    b[18 * i] = has ? 1 : 0;
    b.writeBigUInt64LE(able.counts ? BigInt(await filter.count(keys[i])) : 0n, 18 * i + 1);
    const value = able.values ? await filter.get(keys[i]) : undefined;
    if (value !== undefined) {
      b[18 * i + 9] = 1;
      b.writeBigUInt64LE(value, 18 * i + 10);
    }
  }
  writeFileSync(out, b);
}

for await (const line of createInterface({ input: process.stdin })) {
  const [path, secret, keys, out] = line.split('\t');
  try {
    await answer(path, secret, keys, out);
    console.log('ok');
  } catch (e) {
    if (!(e instanceof FormatError || e instanceof ManifestError || e instanceof ShardError)) throw e;
    console.log(`refused ${e.name}: ${e.message}`.replaceAll('\n', ' '));
  }
}
