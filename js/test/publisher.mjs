// A publisher for tests: makes releases in memory and serves them, well or badly.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';

/** Returns the SHA-256 in hexadecimal. */
export const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Makes a key pair: `text` is the public key as keygen writes it. */
export function newKey() {
  const { privateKey } = generateKeyPairSync('ed25519');
  return keyOf(privateKey);
}

/** Returns the key pair of 32 secret bytes. */
export function keyOfSeed(seed) {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  return keyOf(createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' }));
}

function keyOf(secret) {
  const raw = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32);
  return { secret, text: `ed25519:${raw.toString('base64')}`, id: hashOf(raw).slice(0, 16) };
}

const iso = (time) => `${new Date(time).toISOString().slice(0, 19)}Z`;

/** Returns the bytes of release.json: one member a line, signed by the keys. */
export function writeRelease(members, keys) {
  const lines = Object.entries(members).filter(([, v]) => v !== undefined)
    .map(([name, v]) => `"${name}":${JSON.stringify(v)}`);
  const signed = `{\n${lines.join(',\n')},`;
  const signatures = keys.map(({ secret, id }) =>
    ({ key: id, signature: sign(null, Buffer.from(`bloomery-release-v1\n${signed}`), secret).toString('base64') }));
  return Buffer.from(`${signed}\n"signatures":${JSON.stringify(signatures)}\n}\n`);
}

/** A publisher that serves its folder at `url`. `log` has the paths of all requests. */
export class Publisher {
  objects = new Map();
  history = [];
  log = [];
  /** Answers a request instead of the folder if it returns true: (request, response, path) => boolean. */
  hook = () => false;

  constructor({ keys = [newKey()], name = 'list' } = {}) {
    this.keys = keys;
    this.name = name;
  }

  async listen() {
    this.server = createServer((request, response) => this.#answer(request, response));
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}/${this.name}/`;
    return this;
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  put(bytes) {
    const sha256 = hashOf(bytes);
    this.objects.set(sha256, Buffer.from(bytes));
    return { sha256, bytes: bytes.length };
  }

  /**
   * Publishes a filter file, or what `more` says instead of some members. deltas: from the SHA-256 of an old file to
   * the bytes of a delta.
   */
  publish(file, { deltas = {}, ...more } = {}) {
    const ref = this.put(file), now = Date.now(), number = more.release ?? (this.history[0]?.release ?? 0) + 1;
    this.history = this.history.filter(({ release }) => release < number);
    const last = this.history[0];
    const delta = (sha256) => (deltas[sha256] ? { delta: this.put(deltas[sha256]) } : {});
    const older = this.history.map(({ delta: _, ...old }) => ({ ...old, ...delta(old.sha256) }));
    const lines = older.map((o) => `\n${JSON.stringify(o)}`);
    const list = `{"format":"bloomery-history","version":1,"releases":[${lines.join()}\n]}\n`;
    const history = older.length && this.put(Buffer.from(list));
    this.members = {
      format: 'bloomery-release', version: 1, name: this.name, release: number,
      published: iso(now), expires: iso(now + 604_800_000), kind: 'file', ...ref, total_bytes: ref.bytes,
      spec: 'blocked(blocks=2,k=5,layout=line)', keys: 3, fpr_planned: 0.01, fpr_posterior: 0.0101,
      previous: last && { release: last.release, sha256: last.sha256, ...delta(last.sha256) },
      history: history || undefined,
      ...more,
    };
    this.history.unshift({
      release: this.members.release, published: this.members.published, ...ref, keys: 3, fpr_posterior: 0.0101,
    });
    this.release = writeRelease(this.members, this.keys);
    return this.members;
  }

  #answer(request, response) {
    const path = new URL(request.url, this.url).pathname.replace(`/${this.name}/`, '');
    this.log.push(path);
    if (this.hook(request, response, path)) return;
    if (path === 'release.json') {
      const tag = `"${hashOf(this.release).slice(0, 16)}"`;
      if (request.headers['if-none-match'] === tag) return response.writeHead(304).end();
      return response.writeHead(200, { etag: tag }).end(this.release);
    }
    const body = this.objects.get(path.replace('objects/', ''));
    if (!body) return response.writeHead(404).end();
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0), last = body.length - 1;
    if (from) response.writeHead(206, { 'content-range': `bytes ${from}-${last}/${body.length}` });
    response.end(body.subarray(from));
  }
}
