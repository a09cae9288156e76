// Entry bloomery/build: builds filter files. They have the bytes that the bloomery command writes.

import { blocked } from './build/blocked.js';
import { fuse } from './build/fuse.js';
import { Hashes } from './build/hashes.js';
import type { Maker } from './build/maker.js';
import { ribbon } from './build/ribbon.js';
import { standard } from './build/standard.js';
import { Turns } from './build/steps.js';
import { write } from './build/write.js';
import { keyCheck, sip } from './hash/sip.js';
import { secretBytes } from './hash/siphash.js';
import { xxh3 } from './hash/xxh3.js';
import type { Key } from './key.js';
import { abortSignal, any, callback, check, flag, type Rule, want } from './options.js';
import { type Start, wasmStart } from './wasm/builder.js';
import { within } from './watch.js';

export type { Key } from './key.js';

/** How far a build has come. */
export interface BuildProgress {
  /** The number of keys that have come, duplicates included. */
  keys: number;
  /** The share of the work after the last key that is done: 0 while keys come, then up to 1. */
  done: number;
}

/** A family that build knows. Filters of fuse and ribbon are smaller; keys can be added later to the others. */
export type BuildSpec = 'standard' | 'blocked' | 'fuse' | 'ribbon';

/** What is built, by either of two names of one option. */
type Choice =
  | {
    /** The family of the filter, without parameters. */
    spec: BuildSpec;
    family?: undefined;
  }
  | {
    /** Another name of spec. */
    family: BuildSpec;
    spec?: undefined;
  };

/** What is built, and how. Either spec or family is required. */
export type BuildOptions = Choice & {
  /** The highest false-positive rate, above 0 and below 1. Default: 0.01. The file stores it. */
  fpr?: number;
  /** The seed of the hash function: an integer of 0 to 2^64-1. Default: 0. */
  seed?: number | bigint;
  /** Instead of a seed: the secret of a keyed hash, 16 bytes, or 32 hexadecimal digits. Readers need it. */
  secret?: Uint8Array | string;
  /** True: WebAssembly builds if available. False: JavaScript builds. Default: WebAssembly from 16,384 keys on. */
  wasm?: boolean;
  /** Is called every few hundredths of a second. */
  progress?: (state: BuildProgress) => void;
  /** Stops the build, which then rejects with the reason of the signal. */
  signal?: AbortSignal;
};

const makers: Record<BuildSpec, Maker> = { standard, blocked, fuse, ribbon };

const isSeed = (v: any) => (typeof v === 'bigint' ? v >= 0n && !(v >> 64n) : Number.isSafeInteger(v) && v >= 0);
const isSpec: Rule = [
  `one of ${Object.keys(makers)}`, (v) => Object.keys(makers).includes(v),
];
const rules: Record<string, Rule> = {
  spec: isSpec,
  family: isSpec,
  fpr: ['a rate above 0 and below 1', (v) => typeof v === 'number' && v > 0 && v < 1],
  secret: any,
  seed: ['an integer below 2^64, from 2^53 a BigInt', isSeed],
  wasm: flag,
  progress: callback,
  signal: abortSignal,
};

/** From how many keys on WebAssembly is worth its start. */
const many = 1 << 14;

/**
 * Builds a filter of keys, and returns the bytes of its file. The command `bloomery build` writes the same bytes with
 * the same spec, rate, and seed or secret. The order of the keys does not matter. A key that comes twice counts once in
 * fuse and ribbon, and twice in the size of the others.
 *
 * Keys are an array or another iterable, also an asynchronous one, of texts, bytes, BigInts, pairs of 32-bit halves,
 * and numbers that are integers below 2^53: the same keys as their BigInts. They are hashed as they come: 16 bytes a
 * key. Fuse takes about 25 bytes per key more while it solves, ribbon about 35 in WebAssembly and 60 in JavaScript.
 *
 * JavaScript builds where there is no WebAssembly, the page's Content-Security-Policy forbids it, or there is no memory
 * for it. The bytes are the same.
 *
 * The thread is given free every 30 ms: a page stays responsive, but a worker is the better place for large builds.
 * It rejects with TypeError if an option or a key is wrong, with RangeError if the family has no filter of the rate or
 * the memory does not suffice, with the reason of the signal, and with what the iterable throws.
 */
export async function build(
  keys: Iterable<Key | number> | AsyncIterable<Key | number>, options: BuildOptions,
): Promise<Uint8Array> {
  const own = check(options, rules);
  const { family, spec = family, fpr = 0.01, seed = 0n, secret, wasm, progress, signal } = own;
  want('spec', spec, spec, isSpec[0]);
  want('family', family, (family ?? spec) === spec, 'the spec');
  want('seed', seed, secret === undefined || own.seed === undefined, 'none with a secret');
  const sum = secret === undefined ? xxh3(BigInt(seed)) : sip(secretBytes(secret));
  const hashes = new Hashes(sum), turns = new Turns(signal);
  let start: Start | undefined;
  const begin = async () => {
    start = await wasmStart();
    if (start && secret === undefined) hashes.use(start, BigInt(seed));
  };
  const { length, size } = Object(keys), soon = wasm ?? (length ?? size) >= many;
  if (soon) await begin();
  await take(keys, hashes, turns, progress, wasm === undefined && !soon && begin);
  const all = { parts: hashes.parts(), length: hashes.length };
  const built = await turns.run(makers[spec].make(all, fpr, start), (done) => progress?.({ keys: all.length, done }));
  const keyed = secret === undefined ? { hash: 1, seed: BigInt(seed) } : { hash: 2, seed: keyCheck(sum) };
  const file = write(built, { family: makers[spec].id, ...keyed, rate: fpr });
  progress?.({ keys: all.length, done: 1 });
  return file;
}

/** Hashes the keys. */
async function take(
  keys: Iterable<Key | number> | AsyncIterable<Key | number>, hashes: Hashes, turns: Turns,
  progress: BuildOptions['progress'], begin: false | (() => Promise<void>),
): Promise<void> {
  /** Reports whether to pause: asked after each key. */
  const due = () => hashes.length % 1024 === 0 && (turns.due || hashes.length === many);
  const pause = async () => {
    if (hashes.length === many && begin) await begin();
    progress?.({ keys: hashes.length, done: 0 });
    await turns.give();
  };
  const later = typeof keys !== 'string' && (keys as AsyncIterable<Key>)?.[Symbol.asyncIterator];
  const now = typeof keys !== 'string' && (keys as Iterable<Key>)?.[Symbol.iterator];
  want('keys', keys, later || now, 'an iterable of keys');
  if (!later) {
    for (const key of keys as Iterable<Key | number>) {
      hashes.add(key);
      if (due()) await pause();
    }
    return;
  }
  const source = (keys as AsyncIterable<Key | number>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await (turns.signal ? within(turns.signal, source.next()) : source.next());
      if (done) return;
      hashes.add(value);
      if (due()) await pause();
    }
  } catch (error) {
    Promise.resolve(source.return?.()).catch(() => {}); // not awaited: it may wait for a key that never comes
    throw error;
  }
}
