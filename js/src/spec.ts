// The spec of a filter: the name of a family and parameters that fix all sizes.

import { CorruptError, TooLargeError } from './errors.js';

const canonical = /^[a-z][a-z0-9_]*(\([a-z][a-z0-9_]*=[\w.+-]+(,[a-z][a-z0-9_]*=[\w.+-]+)*\))?$/;

/** A spec in canonical form, such as blocked(blocks=17,k=7,layout=line). */
export class Spec {
  readonly text: string;
  readonly family: string;
  readonly params: ReadonlyMap<string, string>;

  /** Parses the canonical form, as files have it, and nothing else. It throws CorruptError. */
  constructor(text: string) {
    const [family, ...items] = text.replace(/\)$/, '').split(/[(,]/), params = items.map((item) => item.split('='));
    this.text = text;
    this.family = family;
    this.params = new Map(params as [string, string][]);
    if (text.length > 512 || !canonical.test(text) || params.some(([name], i) => i && name <= params[i - 1][0])) {
      throw this.bad();
    }
  }

  has(name: string): boolean {
    return this.params.has(name);
  }

  /** Throws CorruptError unless the parameters are all of required and any of optional: names between spaces. */
  want(required: string, optional = ''): void {
    const names = required.split(' '), known = names.concat(optional.split(' '));
    if (!names.every((n) => this.has(n)) || ![...this.params.keys()].every((n) => known.includes(n))) throw this.bad();
  }

  /** The integer parameter of that name, of 0 to 2^64-1 in canonical decimal form, or 0 if it is not given. */
  uint64(name: string): bigint {
    const text = this.params.get(name) ?? '0';
    if (!/^(0|[1-9]\d{0,19})$/.test(text) || BigInt(text) >> 64n) throw this.bad();
    return BigInt(text);
  }

  /**
   * The integer parameter of that name, or 0 if it is not given. It throws CorruptError unless it is of least to most,
   * and TooLargeError above 2^53-1, which JavaScript does not count to.
   */
  uint(name: string, least = 0, most = Infinity): number {
    const v = this.uint64(name);
    if (v < least || v > most) throw this.bad();
    if (v >> 53n) throw new TooLargeError(`${name} of 2^53 or more`);
    return Number(v);
  }

  /** The error for a spec that is not canonical, not that of a built filter, or not that of the file's sections. */
  bad(): CorruptError {
    return new CorruptError(`spec ${this.text}`);
  }
}
