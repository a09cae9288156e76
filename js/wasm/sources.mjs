// The sources of the WebAssembly core, and the file that holds it.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The path of the C source. */
export const source = at('core.c');
/** The path of the generated file. */
export const generated = at('../src/wasm/core.gen.ts');

/** The arguments of clang, wasm-ld and wasm-opt, without the names of files. */
export const flags = {
  clang: ['--target=wasm32', '-std=c11', '-ffreestanding', '-Os', '-mbulk-memory', '-Wall', '-Wextra', '-Werror', '-c'],
  lld: ['--no-entry', '--strip-all', '--stack-first', '-z', 'stack-size=8192', '--import-memory'],
  opt: ['-O3', '--enable-bulk-memory'],
};

/** Returns the SHA-256, in hexadecimal, of all that the core is made from: core.c, the queries of bloomery.h, flags. */
export function sourceSum() {
  const header = readFileSync(at('../../c/bloomery.h'), 'utf8');
  const other = /^#ifndef BLOOMERY_QUERIES_ONLY\n[^]*?^#endif \/\* BLOOMERY_QUERIES_ONLY \*\/\n/gm;
  const queries = header.replace(other, '');
  if (queries === header) throw new Error('c/bloomery.h has no part that BLOOMERY_QUERIES_ONLY leaves out');
  return createHash('sha256').update(readFileSync(source)).update('\0').update(queries).update('\0')
    .update(JSON.stringify(flags)).digest('hex');
}

/** Returns what the generated file says: the SHA-256 of its sources, and the bytes of the module. */
export function readGenerated() {
  const text = readFileSync(generated, 'utf8');
  const sum = /^\/\/ Sources: sha256 ([0-9a-f]{64})$/m.exec(text)?.[1];
  const base64 = [...text.matchAll(/^ {2}'([A-Za-z0-9+/=]+)'/gm)].map((m) => m[1]).join('');
  return { sum, core: inflateSync(Buffer.from(base64, 'base64')) };
}
