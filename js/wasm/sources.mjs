// The modules: their sources, and the files that hold them.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The arguments of clang, wasm-ld and wasm-opt, without the names of files. */
export const flags = {
  clang: ['--target=wasm32', '-std=c11', '-ffreestanding', '-Os', '-mbulk-memory', '-Wall', '-Wextra', '-Werror', '-c'],
  lld: ['--no-entry', '--strip-all', '--stack-first', '-z', 'stack-size=8192', '--import-memory'],
  opt: ['-O3', '--enable-bulk-memory'],
};

/** Returns what a module has of bloomery.h: its queries, or with hashesOnly the part before them. */
function headerOf(hashesOnly) {
  const header = readFileSync(at('../../c/bloomery.h'), 'utf8');
  const other = /^#ifndef BLOOMERY_QUERIES_ONLY\n[^]*?^#endif \/\* BLOOMERY_QUERIES_ONLY \*\/\n/gm;
  const hashes = /^\/\* ---- Numbers:[^]*?(?=^\/\* ---- Queries\.)/m.exec(header)?.[0];
  const queries = header.replace(other, '');
  if (queries === header) throw new Error('c/bloomery.h has no part that BLOOMERY_QUERIES_ONLY leaves out');
  if (!hashes) throw new Error('c/bloomery.h has no part between "---- Numbers" and "---- Queries"');
  return hashesOnly ? hashes : queries;
}

/**
 * Returns the module of a C source in this folder, with the parts that it includes.
 *
 * @returns {{
 *   name: string, title: string, source: string, generated: string, sum(): string,
 *   read(): { sum: string, code: Buffer },
 * }} the paths of the source and the generated file, the SHA-256, in hexadecimal, of all that the module is made from,
 *   and what the generated file says: that sum, and the bytes of the module
 */
function moduleOf(name, title, { parts = [], hashesOnly = false } = {}) {
  const source = at(`${name}.c`), generated = at(`../src/wasm/${name}.gen.ts`);
  return {
    name, title, source, generated,
    sum: () => {
      const texts = [source, ...parts.map(at)].map((path) => readFileSync(path, 'utf8'));
      texts.push(headerOf(hashesOnly), JSON.stringify(flags));
      return createHash('sha256').update(texts.join('\0')).digest('hex');
    },
    read: () => {
      const text = readFileSync(generated, 'utf8');
      const sum = /^\/\/ Sources: sha256 ([0-9a-f]{64})$/m.exec(text)?.[1];
      const base64 = [...text.matchAll(/^ {2}'([A-Za-z0-9+/=]+)'/gm)].map((m) => m[1]).join('');
      return { sum, code: inflateSync(Buffer.from(base64, 'base64')) };
    },
  };
}

export const modules = [
  moduleOf('core', 'The WebAssembly core'),
  moduleOf('build', 'The WebAssembly of builds', { parts: ['fuse.h', 'sort.h', 'ribbon.h'], hashesOnly: true }),
];
