// The manifest of a sharded set: manifest.json in its folder. See docs/format.md, "Sharded sets".

import { ManifestError } from './errors.js';
import { hashNames } from './header.js';
import { parseJSON } from './json.js';
import { beginning } from './options.js';
import { sha256 } from './sha256.js';
import { Spec } from './spec.js';

/** A manifest that was checked. */
export interface Manifest {
  readonly spec: Spec;
  /** The number of the hash function in files. */
  readonly hash: number;
  /** Hash 1: the seed. Hash 2: the key check. */
  readonly seed: bigint;
  /** Header.form of the shards. */
  readonly form: string;
  /** 0 if none was planned. */
  readonly fprPlanned: number;
  readonly shards: readonly Entry[];
}

/** A shard in a manifest. */
export interface Entry {
  readonly file: string;
  readonly keys: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly fpr_prior: number;
  readonly fpr_posterior: number;
}

/** The largest length of a manifest in bytes. */
export const maxManifest = 2 ** 29 + 2 ** 16;

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v);
const isSize = (v: unknown, least: number) => Number.isSafeInteger(v) && (v as number) >= least;
const isRate = (v: unknown) => typeof v === 'number' && v >= 0 && v <= 1;
const bad = (what: string) => new ManifestError(`manifest: ${what}`);
/** A value for an error message. The toString of an object may be anything. */
const show = (v: unknown) => (typeof v === 'object' ? 'object' : v);

/** Throws ManifestError if a file begins as a filter or an exact set does. */
export function refuseOther(file: Uint8Array): void {
  if (file[0] === 0x89 && file[1] === 0x42) throw bad(`it begins with ${beginning(file)}`);
}

/** Parses and checks a manifest. It rejects with ManifestError. */
export async function parseManifest(file: string | Uint8Array): Promise<Manifest> {
  if (file.length > maxManifest) throw bad('more than 512 MiB');
  if (typeof file !== 'string') refuseOther(new Uint8Array(file));
  let m: unknown;
  try {
    const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const text = typeof file === 'string' ? file : utf8.decode(file);
    m = parseJSON(text);
  } catch (e) {
    throw bad((e as Error).message);
  }
  if (!isObject(m) || m.format !== 'bloomery-shards') {
    const isRelease = isObject(m) && m.format === 'bloomery-release';
    throw bad(`it is not that of a sharded set${isRelease ? ': use follow for a folder of bloomery publish' : ''}`);
  }
  if (m.version !== 1) throw bad(`version ${show(m.version)}: update bloomery`);
  if (m.routing !== 1) throw bad(`routing ${show(m.routing)}: update bloomery`);
  const { plan, shards, ...head } = m;
  const names = 'count format fpr_planned hash key_check key_form routing seed spec version'.split(' ');
  const unknown = Object.keys(head).find((name) => !names.includes(name));
  if (unknown !== undefined) throw bad(`unknown field ${unknown}`);
  const { spec, hash: name, seed, key_check: check, key_form: form, fpr_planned: rate, count } = head;
  const hash = hashNames.indexOf(name as string);
  if (hash < 1 || hash === 5) throw bad(`hash ${show(name)}`);
  const seedValue = parse(seed, /^(0|[1-9][0-9]{0,19})$/, '');
  const checkValue = parse(check ?? '0', /^(0|[1-9a-f][0-9a-f]{0,15})$/, '0x');
  if ((hash !== 1 && seedValue) || (hash === 2) !== (checkValue > 0n) || check === '0') throw bad('seed or key_check');
  if (form !== undefined && (form === 'bytes' || !/^[a-z0-9,=]+$/.test(form as string))) throw bad('key_form');
  if (rate !== undefined && !(isRate(rate) && rate !== 0 && rate !== 1)) throw bad('fpr_planned');
  if (typeof spec !== 'string' || spec.length > 512) throw bad('spec');
  if (!isSize(count, 1) || (count as number) > 2 ** 20) throw bad('count');
  if (!Array.isArray(shards) || shards.length !== count) throw bad('the number of shards is not count');
  shards.forEach((e, i) => checkEntry(e, i, shards.length));
  const fields = {
    format: m.format, version: 1, plan: '', spec, hash: name, seed, key_check: check, key_form: form, routing: 1,
    fpr_planned: rate, count,
  };
  const sum = await sha256(new TextEncoder().encode(JSON.stringify(fields)));
  if (sum.slice(0, 32) !== plan) throw bad('plan is not that of its fields: it was edited');
  let parsed: Spec;
  try {
    parsed = new Spec(spec);
  } catch (e) {
    throw bad((e as Error).message);
  }
  return {
    spec: parsed, hash, form: (form as string) ?? 'bytes', seed: seedValue || checkValue,
    fprPlanned: (rate as number) ?? 0, shards: shards as Entry[],
  };
}

/** Returns a number of 64 bits that is text. */
function parse(text: unknown, form: RegExp, prefix: string): bigint {
  const v = typeof text === 'string' && form.test(text) ? BigInt(prefix + text) : -1n;
  if (v < 0n || v >> 64n) throw bad('seed or key_check');
  return v;
}

function checkEntry(e: unknown, i: number, count: number): void {
  if (!isObject(e) || Object.keys(e).sort().join() !== 'bytes,file,fpr_posterior,fpr_prior,keys,sha256') {
    throw bad(`the fields of shard ${i}`);
  }
  const five = (n: number) => String(n).padStart(5, '0');
  const name = `${five(i)}-of-${five(count)}`, file = e.file;
  const suffix = typeof file === 'string' && file.startsWith(name) && file.slice(name.length);
  if (!suffix || !/^(\.[a-z0-9]{1,32})?\.bloom$/.test(suffix)) throw bad(`the name of shard ${i}`);
  if (!isSize(e.keys, 0) || !isSize(e.bytes, 1) || !isRate(e.fpr_prior) || !isRate(e.fpr_posterior) ||
    typeof e.sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(e.sha256)) {
    throw bad(`a field of shard ${i}`);
  }
}
