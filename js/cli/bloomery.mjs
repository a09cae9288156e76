#!/usr/bin/env node
// The command bloomery of npx: runs the program in the package of this platform, with its exit code.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { commandOf, native, packageOf, platforms } from './platforms.mjs';

/** The exit code of the command if it fails. */
const failed = 2;

/** Returns the path of the program. Throws if the program is not installed. */
function program() {
  if (!(native in platforms)) {
    throw new Error(`no package for ${native}, only for ${Object.keys(platforms).join(', ')}. ` +
      'With Go: go install github.com/bloomery/bloomery/cmd/bloomery@latest');
  }
  const name = packageOf(native);
  try {
    return createRequire(import.meta.url).resolve(`${name}/${commandOf(native)}`);
  } catch {
    throw new Error(`${name} is missing: install bloomery on this platform, with optional dependencies`);
  }
}

try {
  const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both. The program cleans up at the first one, and ends at once at a second one.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('error', fail);
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
} catch (error) {
  fail(error);
}

function fail(error) {
  console.error(`bloomery: ${error.message}`);
  process.exit(failed);
}
