// npm run tarballs: writes the tarballs that are published: the package bloomery, with the command as optional packages
// of platforms, and these packages.
//
//   node cli/pack.mjs [--out FOLDER] [--platform native|linux-x64|...] [--no-main]
//
// The command is cross-compiled by Go into a static binary. package.json of the repository has neither the command nor
// its packages, so that `npm ci` needs nothing that is not published yet: this script adds them. Publish the platforms
// first, then bloomery-VERSION.tgz: `npm publish FILE`. Pack on Linux or macOS: tarballs of Windows have no program
// bits.

import { execFileSync } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commandOf, native, packageOf, platforms } from './platforms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)), repository = dirname(root.replace(/[\\/]$/, ''));
const own = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/** package.json of the package that is published. */
export function mainManifest() {
  const { scripts, devDependencies, ...manifest } = own;
  return {
    ...manifest,
    bin: { bloomery: 'cli/bloomery.mjs' },
    files: [...own.files, 'cli/bloomery.mjs', 'cli/platforms.mjs'],
    optionalDependencies: Object.fromEntries(Object.keys(platforms).map((p) => [packageOf(p), own.version])),
  };
}

/** package.json of the package of a platform. */
export function platformManifest(platform) {
  const [os, cpu] = platform.split('-');
  return {
    name: packageOf(platform),
    version: own.version,
    description: `The command bloomery for ${platform}. Install the package bloomery instead.`,
    keywords: own.keywords,
    license: 'MIT AND Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND CC0-1.0', // of all that is linked
    homepage: own.homepage,
    bugs: own.bugs,
    repository: own.repository,
    type: 'commonjs',
    publishConfig: own.publishConfig,
    preferUnplugged: true,
    os: [os],
    cpu: [cpu],
    files: ['bin', 'LICENSES.txt'],
  };
}

/** Compiles the command for a platform into a file. */
function compile(platform, file) {
  const args = ['build', '-trimpath', '-ldflags=-s -w', '-o', file, './cmd/bloomery'];
  const env = { ...process.env, ...platforms[platform], CGO_ENABLED: '0', GOWORK: 'off' };
  execFileSync('go', args, { cwd: repository, stdio: ['ignore', 'inherit', 'inherit'], env });
}

/** Writes the licenses of what a program has into a file. */
function writeLicenses(program, file) {
  const args = ['test', './internal/docs', '-count=1', '-run=^TestLicensesOf$', '-licenses-of', program];
  const env = { ...process.env, GOWORK: 'off' };
  execFileSync('go', [...args, '-licenses-to', file], { cwd: repository, stdio: ['ignore', 2, 2], env });
}

/**
 * Packs a folder with a package.json into a tarball in out. The modes of files, of which one may be a program, do not
 * depend on the umask. It returns the path.
 */
async function packFolder(folder, out, program) {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o644);
  }
  if (program) await chmod(join(folder, program), 0o755);
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', out];
  const [{ filename, size }] = JSON.parse(execFileSync('npm', args, {
    cwd: folder, encoding: 'utf8', shell: process.platform === 'win32',
  }));
  const file = join(out, filename.replace('@', '').replace('/', '-'));
  console.log(`${file} (${(size / 1e6).toFixed(1)} MB)`);
  return file;
}

/**
 * Writes the tarballs of platforms, and of the package itself if main, which must be built, into a folder.
 *
 * @returns {Promise<string[]>} their paths, the main one first
 */
export async function pack({ out, packed = Object.keys(platforms), main = true }) {
  const staging = await mkdtemp(join(tmpdir(), 'bloomery-pack-')), tarballs = [];
  /** Makes the folder of a package, with its package.json and LICENSE. */
  const folderOf = async (name, manifest) => {
    const folder = join(staging, name);
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    return folder;
  };
  try {
    await mkdir(out, { recursive: true });
    if (main) {
      const manifest = mainManifest(), folder = await folderOf('bloomery', manifest);
      for (const path of manifest.files) await cp(join(root, path), join(folder, path), { recursive: true });
      tarballs.push(await packFolder(folder, out, manifest.bin.bloomery));
    }
    for (const platform of packed) {
      const manifest = platformManifest(platform), folder = await folderOf(platform, manifest);
      const command = join(folder, commandOf(platform));
      await writeFile(join(folder, 'README.md'), `# ${manifest.name}\n\n${manifest.description}\n`);
      compile(platform, command);
      writeLicenses(command, join(folder, 'LICENSES.txt'));
      tarballs.push(await packFolder(folder, out, commandOf(platform)));
    }
    return tarballs;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: join(root, 'dist-npm') },
      platform: { type: 'string', multiple: true },
      'no-main': { type: 'boolean' },
    },
  });
  const packed = values.platform?.map((p) => (p === 'native' ? native : p));
  const wrong = packed?.find((p) => !(p in platforms));
  if (wrong) {
    console.error(`pack.mjs: no package for ${wrong}; there are ${Object.keys(platforms).join(', ')}`);
    process.exit(2);
  }
  await pack({ out: resolve(values.out), packed, main: !values['no-main'] });
}
