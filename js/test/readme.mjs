// The programs in README.md and docs/, and a project that has the package from its tarball.

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const site = 'https://example.com/';

/** The pages of the package, as paths in js/. */
export const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)];

/**
 * Returns the blocks of a language in the pages: their page, their number there from 1, their code, and the lines that
 * they print according to the comments behind their calls of console.log.
 */
export async function programs(language) {
  // README.md of the repository has a program, too.
  const all = await Promise.all([...pages, '../README.md'].map(async (page) => {
    const text = await readFile(join(root, page), 'utf8');
    const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
    return Array.from(blocks, ([, code], i) => ({
      page: page.replace('../', 'repository '),
      number: i + 1,
      code,
      prints: Array.from(code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm), ([, line]) => line),
    }));
  }));
  return all.flat();
}

/**
 * Packs the package as it is built, and installs the tarball in an empty project, without a network.
 *
 * @returns {Promise<{folder: string, files: string[], remove(): Promise<void>}>} files: those of the tarball
 */
export async function project() {
  const folder = await mkdtemp(join(tmpdir(), 'bloomery-package-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const [{ filename, files }] = JSON.parse((await run('npm', pack, { cwd: root })).stdout);
    await writeFile(join(folder, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }\n');
    const tarball = join(folder, basename(filename));
    const install = ['install', '--offline', '--no-audit', '--no-fund', '--cache', join(folder, 'cache'), tarball];
    await run('npm', install, { cwd: folder });
    await cp(join(root, 'example', 'disposable.bloom'), join(folder, 'disposable.bloom'));
    await cp(join(root, 'example', 'revoked', 'revoked.exact'), join(folder, 'revoked.exact'));
    return { folder, files: files.map(({ path }) => path), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Serves what the programs of the pages fetch from example.com. */
export async function serveSite() {
  const served = {
    '/disposable.bloom': join(root, 'example', 'disposable.bloom'),
    '/not-a-filter.html': join(root, 'example', 'index.html'),
  };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, site);
    const set = /^\/hashes\.set\/([a-z0-9.-]+)$/.exec(pathname);
    const path = served[pathname] ?? (set && join(root, '..', 'shard', 'testdata', 'sets', 'blocked', set[1]));
    const published = /^\/(published|revoked)\/(release\.json|objects\/[0-9a-f]{64})$/.exec(pathname);
    const folder = published?.[1] === 'revoked' ? 'published-exact' : 'published';
    const release = published && join(root, 'test', folder, published[2].replace('release', 'release-2'));
    const body = (path || release) && (await readFile(path || release).catch(() => undefined));
    if (body) response.end(body);
    else response.writeHead(404).end();
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/**
 * Runs a program of a page in the project, with the files of example.com from origin. It returns the lines that the
 * program prints and rejects if it fails.
 *
 * @param {string[]} command the program that runs it, with arguments
 */
export async function runProgram(command, folder, name, code, origin) {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), code.replaceAll(site, origin));
  const { stdout } = await run(command[0], [...command.slice(1), name], { cwd: folder, timeout: 60_000 });
  return stdout.split('\n').slice(0, -1);
}
