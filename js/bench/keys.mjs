// The keys: text of 23 bytes, such as user-9e3779b1@000000000.

/** Returns key i, a flat string: a concatenation would be flattened by its first query. */
export function keyOf(i) {
  const mixed = (Math.imul(i + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
  return flat(`user-${mixed}@${String(i).padStart(9, '0')}`);
}

/** Returns a copy of a string of ASCII characters whose characters are in one piece. */
export function flat(text) {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Returns keys from to from+n-1. */
export function keysFrom(from, n) {
  return Array.from({ length: n }, (_, i) => keyOf(from + i));
}

/** Returns copies of keys in a random order, always the same, side by side in memory. */
export function shuffled(keys) {
  const order = Uint32Array.from(keys, (_, i) => i);
  for (let i = order.length - 1, x = 1; i > 0; i--) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((x / 2 ** 32) * (i + 1)), at = order[i];
    order[i] = order[j];
    order[j] = at;
  }
  return Array.from(order, (i) => flat(keys[i]));
}

const hashOf = (i) => Math.imul(i + 1, 0x9e3779b1) >>> 0;

/** Returns key i of 16 bytes, such as k9e3779b10000000, for i below 10^7. */
export function shortKeyOf(i) {
  return flat(`k${hashOf(i).toString(16).padStart(8, '0')}${String(i).padStart(7, '0')}`);
}

/** Returns a domain of 20 bytes, such as m17wdrqp0000.example, for i below 10^6, or of a few more. */
export function domainOf(i) {
  return flat(`m${hashOf(i).toString(36).padStart(7, '0')}${i.toString(36).padStart(4, '0')}.example`);
}
