// The keys of test vectors.

/** Returns a key of a vector in each form in which this package takes it. */
export function keysOf({ text, bytes, integer }) {
  if (text !== undefined) return [text, new TextEncoder().encode(text)];
  if (bytes !== undefined) return [Uint8Array.from(Buffer.from(bytes, 'hex'))];
  const v = BigInt(integer), words = [Number(v & 0xffffffffn), Number(v >> 32n)];
  return [v, BigInt.asIntN(64, v), words, words.map((w) => w | 0)];
}
