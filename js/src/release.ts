// The release.json of a publisher, and the history beside it. See docs/format/release.md.

import { FormatError } from './errors.js';
import { hasOnly, parseJSON } from './json.js';

/** Why a release is refused. */
export type ReleaseReason =
  | 'format' // it is damaged, or of a newer version
  | 'unsigned' // it has no signature
  | 'other key' // none of the given keys signed it
  | 'wrong signature' // it was changed after it was signed
  | 'expired' // its publisher or a mirror stopped
  | 'older' // the publisher had a newer one
  | 'name'; // it is of another publisher

/** A release that is refused, or that has expired: `reason` says which. */
export class ReleaseError extends FormatError {
  override name = 'ReleaseError';

  constructor(readonly reason: ReleaseReason, message: string) {
    super(message);
  }
}

/** An object of the publisher's folder. */
export interface ReleaseObject {
  /** 64 hexadecimal digits. */
  readonly sha256: string;
  /** Its length. */
  readonly bytes: number;
}

/** An older release, and the delta that leads from it to the current one, if there is one. */
export interface OlderRelease {
  readonly release: number;
  readonly sha256: string;
  readonly delta?: ReleaseObject;
}

/** What release.json says. */
export interface Release extends ReleaseObject {
  readonly name: string;
  /** The number of the release, which grows. */
  readonly release: number;
  /** Times such as 2026-11-22T15:00:00Z. */
  readonly published: string;
  readonly expires: string;
  /** A filter file, an exact set, or a sharded set, whose manifest has the hash and the length of the release. */
  readonly kind: 'file' | 'exact' | 'set';
  /** The length of the file, or of the manifest and all shards. */
  readonly total_bytes: number;
  readonly spec: string;
  /** The number of keys; of an exact set, of its members. */
  readonly keys: number;
  /** The false-positive rate that was planned, or 0, and that of the filter; 0 for an exact set. */
  readonly fpr_planned: number;
  readonly fpr_posterior: number;
  /** The number of keys of the universe of an exact set. */
  readonly universe?: number;
  readonly previous?: OlderRelease;
  /** The object with older releases. */
  readonly history?: ReleaseObject;
}

/** Who may publish. */
export interface Trust {
  /** Public keys, one or more, such as ed25519:MCow…: a release must have the signature of one of them. */
  keys?: readonly string[];
  /** True: releases without a signature are accepted. It takes no keys. */
  insecure?: boolean;
}

/** Stands for the id of a key where releases are not verified. */
export const unchecked = 'unchecked';

/** The largest lengths of release.json and of a history in bytes. */
export const maxRelease = 2 ** 16;
const maxHistory = 2 ** 20;

const encoder = /* @__PURE__ */ new TextEncoder();
const invalid = 'an invalid release', newer = 'a newer version: update bloomery';
const bad = (what: string) => new ReleaseError('format', what);

/** Throws ReleaseError unless ok. */
function want(ok: unknown, what: string): asserts ok {
  if (!ok) throw bad(what);
}

type Members = Record<string, unknown>;
export const isObject = (v: unknown): v is Members => typeof v === 'object' && v !== null && !Array.isArray(v);
const isNumber = (v: unknown, least = 0, most = Infinity) =>
  Number.isSafeInteger(v) && (v as number) >= least && (v as number) <= most;
const isRate = (v: unknown) => typeof v === 'number' && v >= 0 && v <= 1;
const isText = (v: unknown, least: number, most: number) =>
  typeof v === 'string' && /^( |[^\p{C}\p{Z}])*$/u.test(v) && v.length >= least && encoder.encode(v).length <= most;
const isHash = (v: unknown) => typeof v === 'string' && /^[0-9a-f]{64}$/.test(v);

/** Whether v is a time in its only form. */
const isTime = (v: unknown) => /^[\d-]{10}T[\d:]{8}Z$/.test(v as string) && Date.parse(v as string) > 0;

/** Whether v is an object of the publisher. */
const isRef = (v: unknown, most = Infinity) => isObject(v) && isHash(v.sha256) && isNumber(v.bytes, 1, most);
const isOptional = (v: unknown, most?: number) =>
  v === undefined || (isRef(v, most) && hasOnly(v as Members, 'sha256 bytes'));

/** Whether v is an older release than the one of number below. */
const isOlder = (v: unknown, below: number) =>
  isObject(v) && hasOnly(v, 'release published sha256 bytes keys fpr_posterior delta') &&
  isNumber(v.release, 1, below - 1) && isHash(v.sha256) && isOptional(v.delta);

/** Returns what f does, and throws ReleaseError if it throws. */
function valid<T>(f: () => T): T {
  try {
    return f();
  } catch {
    throw bad(invalid);
  }
}

/** Parses the text of an object of a format, which has these members besides. */
function parse(text: string, format: string, names: string): Members {
  const m: unknown = valid(() => parseJSON(text));
  want(isObject(m) && m.format === format, invalid);
  want(m.version === 1, newer);
  want(hasOnly(m, `format version ${names}`), invalid);
  return m;
}

const decode = (file: Uint8Array) =>
  valid(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(file));

const members = 'name release published expires kind sha256 bytes total_bytes spec keys fpr_planned fpr_posterior ' +
  'universe previous history';

/** The line that ends the signed part. */
const mark = '\n"signatures":';

/**
 * Parses release.json and verifies that one of the keys signed it. signers are the ids of all keys that did. Nothing
 * outside the signed part has an effect. It does not compare the time of expiry. It rejects with ReleaseError, with
 * TypeError for a key that is none, and with Error where the platform lacks Ed25519: pages need HTTPS and a browser of
 * 2025 or later.
 */
export async function parseRelease(file: Uint8Array, trust: Trust): Promise<Release & { signers: string[] }> {
  const [signed, tail, more] = decode(file).split(mark);
  want(signed.startsWith('{\n') && signed.endsWith(',') && tail !== undefined && more === undefined,
    invalid);
  const signers = trust.insecure ? [unchecked] : await verify(signed, `{${mark}${tail}`, trust.keys ?? []);
  const m = parse(`${signed.slice(0, -1)}\n}`, 'bloomery-release', members), release = m.release as number;
  want(['file', 'exact', 'set'].includes(m.kind as string), newer);
  want(isRef(m) && isText(m.name, 1, 128) && isText(m.spec, 0, 512) && isNumber(release, 1) && isNumber(m.keys) &&
    isNumber(m.total_bytes, m.bytes as number) && (m.kind === 'set' || m.total_bytes === m.bytes) &&
    isRate(m.fpr_planned) && isRate(m.fpr_posterior) &&
    (m.universe === undefined || (m.kind === 'exact' && isNumber(m.universe, 1))) &&
    isTime(m.published) && isTime(m.expires) && (m.expires as string) > (m.published as string) &&
    (m.previous === undefined || isOlder(m.previous, release)) && isOptional(m.history, maxHistory), invalid);
  return { ...m as unknown as Release, signers };
}

/** Parses a history. It throws ReleaseError. */
export function parseHistory(file: Uint8Array): OlderRelease[] {
  const { releases } = parse(decode(file), 'bloomery-history', 'releases');
  want(Array.isArray(releases), invalid);
  want(releases.every((v, i) => isOlder(v, i ? releases[i - 1].release : Infinity)), invalid);
  return releases;
}

function fromBase64(text: string, length: number): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return bytes.length === length ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the ids of the keys that signed the text, at least one. tail is the JSON of the signatures. */
async function verify(signed: string, tail: string, keys: readonly string[]): Promise<string[]> {
  const message = encoder.encode(`bloomery-release-v1\n${signed}`);
  const all = valid(() => parseJSON(tail)) as Members, list = all.signatures;
  want(hasOnly(all, 'signatures') && Array.isArray(list) && list.length <= 16 && list.every((s) => isObject(s) &&
    hasOnly(s, 'key signature') && typeof s.key === 'string' && typeof s.signature === 'string'), invalid);
  const signers = new Set<string>();
  let reason: ReleaseReason = list.length ? 'other key' : 'unsigned';
  for (const text of keys) {
    const key = publicKey(text), id = await keyId(text), subtle = platform();
    for (const s of list) {
      if (s.key !== id) continue;
      const signature = fromBase64(s.signature, 64);
      const imported = await subtle.importKey('raw', key, 'Ed25519', false, ['verify']).catch((cause: unknown) => {
        throw new Error('no Ed25519: update the browser', { cause });
      });
      if (signature && await subtle.verify('Ed25519', imported, signature, message)) signers.add(id);
      else reason = 'wrong signature';
    }
  }
  if (signers.size) return [...signers];
  throw new ReleaseError(reason, `the release is refused: ${reason}`);
}

/** The cryptography of the platform. */
function platform(): SubtleCrypto {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) throw new Error('the page needs HTTPS');
  return subtle;
}

/** Returns the SHA-256 of bytes in hexadecimal, by the platform. */
export async function digest(bytes: Uint8Array): Promise<string> {
  const sum = new Uint8Array(await platform().digest('SHA-256', bytes as BufferSource));
  return Array.from(sum, (b) => b.toString(16).padStart(2, '0')).join('');
}

/** Returns the 32 bytes of a public key, or throws TypeError. */
export function publicKey(text: string): Uint8Array<ArrayBuffer> {
  const [, digits = ''] = text.split('ed25519:'), key = fromBase64(digits, 32);
  if (!key) throw new TypeError(`keys: want ed25519: and 44 characters, and got ${text.length} characters`);
  return key;
}

/** Returns the id of a public key. */
export const keyId = async (text: string): Promise<string> => (await digest(publicKey(text))).slice(0, 16);
