// The sections of a file as words of 32 bits.

import { CorruptError, TooLargeError } from './errors.js';
import type { Section } from './header.js';
import type { FilterFile } from './types.js';

/** Whether typed arrays have the byte order of files and of WebAssembly. */
export const littleEndian = /* @__PURE__ */ new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Returns the words of a section: a view of the file, or a copy if it is not aligned or the machine is big endian. */
export function sectionWords(file: Uint8Array, { offset, length }: Section): Uint32Array {
  const { buffer } = file, at = file.byteOffset + offset;
  if (littleEndian && at % 4 === 0) return new Uint32Array(buffer, at, length / 4);
  const words = new Uint32Array(length / 4), view = new DataView(buffer, at);
  for (let i = 0; i < words.length; i++) words[i] = view.getUint32(4 * i, true);
  return words;
}

/** Throws TypeError if the memory of a file is gone: all its bits would seem to be 0. */
export function present(file: Uint8Array): void {
  if (!file.length) throw new TypeError('no bytes in this filter: transferred');
}

/** Throws CorruptError unless the file has exactly sections of these numbers of 64-bit words. */
export function checkSections(file: Pick<FilterFile, 'spec' | 'sections'>, ...words: number[]): void {
  const { sections } = file;
  // Queries have indexes of words in 32 bits.
  if (sections.some((s) => s.length > 2 ** 32)) throw new TooLargeError('section of 2^34 or more');
  if (sections.length !== words.length || sections.some((s, i) => s.length !== 2 * words[i])) throw file.spec.bad();
}

/** Throws CorruptError unless all bits of the words from number from on are 0. */
export function checkZeros(words: Uint32Array, from: number): void {
  let at = Math.floor(from / 32), bad = at < words.length ? words[at] >>> (from % 32) : 0;
  while (++at < words.length) bad |= words[at];
  if (bad) throw new CorruptError('padding');
}

/** Returns the 32 bits from bit number at on. A word must follow the one that has that bit. */
export function bitsAt(words: Uint32Array, at: number): number {
  const i = Math.floor(at / 32), s = at & 31;
  return (words[i] >>> s) | ((words[i + 1] << 1) << (31 - s));
}
