// npx bloomery: the package and that of this platform, packed and installed without a network. Needs Go.

import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { mainManifest, pack, platformManifest } from '../cli/pack.mjs';
import { commandOf, native, packageOf, platforms } from '../cli/platforms.mjs';
import { open } from '../dist/plain.js';

const own = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));

test('package.json as it is published', () => {
  const { optionalDependencies, bin, ...manifest } = mainManifest();
  const packages = Object.keys(platforms).map(packageOf);
  assert.deepEqual(optionalDependencies, Object.fromEntries(packages.map((name) => [name, own.version])));
  assert.ok(manifest.files.includes(bin.bloomery));
  for (const member of ['scripts', 'devDependencies', 'dependencies']) {
    assert.equal(manifest[member], undefined, member);
  }
  assert.deepEqual(manifest.exports, own.exports);
  // What is not published yet must not be needed by npm ci.
  assert.equal(own.optionalDependencies, undefined);
  for (const platform of Object.keys(platforms)) {
    const { name, version, os, cpu, files } = platformManifest(platform);
    assert.deepEqual([name, version, `${os}-${cpu}`], [packageOf(platform), own.version, platform]);
    assert.ok(files.includes(commandOf(platform).split('/')[0]));
  }
});

const noGo = spawnSync('go', ['version']).error && 'Go is missing';
const missing = native in platforms ? noGo : `no package for ${native}`;
const skip = missing && `NOT RUN: ${missing}`;
if (skip) console.log(`${skip}: npx bloomery`);

describe('installed', { skip }, () => {
  let folder;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bloomery-cli-'));
    const tarballs = await pack({ out: folder, packed: [native] });
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    const install = ['install', '--offline', '--no-audit', '--no-fund', '--cache', join(folder, 'cache'), ...tarballs];
    const { code, stderr } = await command('npm', install);
    assert.equal(code, 0, stderr);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs a program in the folder. It returns its exit code and what it prints. */
  const command = (name, args) => new Promise((resolve) => {
    execFile(name, args, { cwd: folder, timeout: 120_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }));
  });
  const npx = (...args) => command('npx', ['--no', '--offline', '--cache', join(folder, 'cache'), 'bloomery', ...args]);
  const launcher = () => join(folder, 'node_modules', 'bloomery', 'cli', 'bloomery.mjs');
  /** What npx starts, without the seconds that npx itself takes. */
  const bloomery = (...args) => command(process.execPath, [launcher(), ...args]);

  test('npx bloomery --version', async () => {
    const { code, stdout, stderr } = await npx('--version');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^bloomery .*, file format 1, go/);
  });

  test('builds a filter that the package opens, and has exit codes', async () => {
    await writeFile(join(folder, 'list.txt'), 'alder\nbirch\n');
    const built = await bloomery('build', '-o', 'list.bloom', '--fpr', '1e-6', 'list.txt');
    assert.equal(built.code, 0, built.stderr);
    const filter = await open(await readFile(join(folder, 'list.bloom')));
    assert.deepEqual(filter.hasMany(['alder', 'birch', 'cedar']), [true, true, false]);
    await writeFile(join(folder, 'other.txt'), 'cedar\n');
    const yes = await bloomery('check', 'list.bloom', 'list.txt');
    assert.deepEqual([yes.code, yes.stdout], [0, 'alder\nbirch\n']);
    assert.equal((await npx('check', 'list.bloom', 'other.txt')).code, 1);
    assert.equal((await bloomery('check', 'list.bloom', 'no such file')).code, 2);
  });

  test('hexadecimal keys are the bytes of a Uint8Array', async () => {
    const hashes = ['123456', 'qwerty'].map((password) => createHash('sha1').update(password).digest());
    await writeFile(join(folder, 'hashes.txt'), hashes.map((hash) => `${hash.toString('hex')}\n`).join(''));
    const args = ['build', '-o', 'hashes.bloom', '--fpr', '1e-6', '--input-format', 'hex', 'hashes.txt'];
    const { code, stderr } = await bloomery(...args);
    assert.equal(code, 0, stderr);
    const filter = await open(await readFile(join(folder, 'hashes.bloom')));
    assert.deepEqual(filter.hasMany([...hashes, hashes[0].toString('hex')]), [true, true, false]);
  });

  test('the platform is a program without an install script', async () => {
    const path = join(folder, 'node_modules', packageOf(native));
    const { scripts } = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));
    assert.equal(scripts, undefined);
    assert.ok(process.platform === 'win32' || (await stat(join(path, commandOf(native)))).mode & 0o111);
  });

  /** Starts a build that reads its keys from a pipe, and ends it when it has begun to read. */
  const ends = async (end) => {
    const args = [launcher(), 'build', '-o', 'never.bloom', '--spec', 'blocked', '--fpr', '1%', '-'];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['pipe', 'ignore', 'pipe'], detached: true });
    child.stdin.on('error', () => {});
    const exit = new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code)));
    // More than the pipe holds: when it is written, the program reads, and so it listens to signals.
    await new Promise((resolve) => child.stdin.write('key\n'.repeat(100_000), resolve));
    end(child);
    const code = await exit;
    child.stdin.destroy();
    return code;
  };
  const windows = process.platform === 'win32' && 'NOT RUN: Windows has no signals';

  test('signals', { skip: windows }, async () => {
    assert.equal(await ends((child) => child.kill('SIGTERM')), 143);
    assert.equal(await ends((child) => process.kill(-child.pid, 'SIGINT')), 130, 'Ctrl-C');
    await assert.rejects(stat(join(folder, 'never.bloom')));
  });

  test('a package that is missing', async () => {
    const there = join(folder, 'node_modules', '@bloomery'), away = join(folder, 'away');
    await rename(there, away);
    const { code, stderr } = await command(process.execPath, [launcher(), '--version']);
    await rename(away, there);
    assert.equal(code, 2);
    assert.match(stderr, /^bloomery: @bloomery\/cli-.* is missing: install bloomery on this platform/);
  });
});
