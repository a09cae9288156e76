// Entry bloomery/value: the keys of values in filters whose keys have a type, such as a column of a Parquet file. See
// docs/format.md, "Form of the keys".

/** A filter, or the keyForm of its info. */
export type Formed = string | { info(): { keyForm: string } };

const whole = /^[+-]?\d+$/, unsigned = /^\d+$/, decimal = /^([+-]?\d*)(?:\.(\d*?)0*)?$/, day = /^\d{4}-\d\d-\d\d$/;

/**
 * Returns the key of a value, for has and the other queries. A value is a BigInt or a whole number, or text: -12, 12.50
 * for decimals, 2026-11-29 for dates, of which an integer is the days since 1970. It throws TypeError for another
 * type, and RangeError if the type has no such value: then no filter has it.
 */
export function keyOf(of: Formed, value: string | number | bigint): Uint8Array {
  const form = typeof of === 'string' ? of : of.info().keyForm, words = form.split(',');
  const parameter = (name: string) => Number(words.find((w) => w.startsWith(name))?.slice(name.length) ?? 0);
  const type = words.find((w) => /^(text|u?int|date|dec|fix)/.test(w)) ?? 'bytes', isText = typeof value === 'string';
  if (!isText && typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
    throw new TypeError('a value is text, a BigInt or a whole number');
  }
  const text = String(value), width = parameter('width=');
  const none = () => new RangeError(`${text.slice(0, 80)} is not a value of the type of the keys: ${form}`);
  if (type === 'fixed' && !isText) throw new TypeError(`an integer cannot be a key of ${form}`);
  if (type === 'text' || type === 'fixed' || (type === 'bytes' && isText)) {
    const bytes = new TextEncoder().encode(text);
    if (width && bytes.length !== width) throw none();
    return bytes;
  }

  let n: bigint, size = type.endsWith('32') || type === 'date' ? 4 : 8;
  if (type === 'date' && isText) {
    const time = day.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
    if (!(new Date(time).getTime() === time) || new Date(time).toISOString().slice(0, 10) !== text) throw none();
    n = BigInt(time / 86_400_000);
  } else if (type.startsWith('dec')) {
    const scale = parameter('scale='), [, first, rest = ''] = decimal.exec(text) ?? [];
    if (first === undefined || rest.length > scale || !/\d/.test(first + rest) || text.length > 1000) throw none();
    n = big(first + rest.padEnd(scale, '0'));
    if (type === 'decimal') for (size = width || 1; !width && BigInt.asIntN(8 * size, n) !== n;) size++;
  } else {
    if (!(isText && type[0] === 'u' ? unsigned : whole).test(text)) throw none();
    n = big(text);
  }

  const bits = 8 * size, either = type === 'bytes' && n >= 0n;
  const fits = either || type[0] === 'u' ? BigInt.asUintN(bits, n) : BigInt.asIntN(bits, n);
  if (fits !== n || size > 255) throw none();
  const bytes = Uint8Array.from({ length: size }, (_, i) => Number(BigInt.asUintN(8, n >> BigInt(8 * i))));
  return type === 'decimal' ? bytes.reverse() : bytes;
}

/** BigInt takes no plus. */
const big = (text: string) => BigInt(text.replace('+', ''));
