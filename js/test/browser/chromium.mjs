// Chromium without a window, for the tests: the program of the system, driven by playwright-core.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

/** Programs that are Chromium, in the order in which they are taken. */
const names = ['chromium', 'chromium-browser', 'google-chrome'];

function executable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the path of Chromium: CHROMIUM of the environment, else a program in PATH. It throws if there is none. */
export function chromiumPath(env = process.env) {
  if (env.CHROMIUM) {
    if (!executable(env.CHROMIUM)) throw new Error(`CHROMIUM=${env.CHROMIUM} is not a program`);
    return env.CHROMIUM;
  }
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(executable);
    if (found) return found;
  }
  throw new Error('Chromium is missing: install it (Debian: apt-get install chromium) or set CHROMIUM to its path');
}

/** Starts Chromium. As root it has no sandbox, which Chromium requires. */
export function launch() {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: chromiumPath(), args });
}

/**
 * Watches a page, whose waiting ends after 15 s. It returns a list to which console errors, warnings and failed
 * requests are added as they come.
 */
export function watch(page) {
  const problems = [];
  page.setDefaultTimeout(15_000);
  page.on('console', (m) => {
    if (m.type() === 'error' || m.type() === 'warning') problems.push(`console: ${m.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`page: ${error}`));
  page.on('requestfailed', (request) => {
    // A follower that is closed aborts its request.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') problems.push(`request failed: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`status ${response.status()}: ${response.url()}`);
  });
  return problems;
}
