// Hash functions in BigInts, step by step as their authors define them: what the fast ones must return.

import { internal } from './internal.mjs';

const mask = (1n << 64n) - 1n, low32 = 0xffffffffn;
const p32 = [0n, 0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn];
const p64 = [0n, 0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n,
  0x27d4eb2f165667c5n];

const u64 = (v) => v & mask;
const rotl = (v, s) => u64((v << s) | (v >> (64n - s)));
const shiftXor = (v, s) => v ^ (v >> s);
export const fold = (a, b) => ((a * b) >> 64n) ^ u64(a * b);

/** The word of the probe of a key after that of x. */
export const next = (x, hi) => u64(((u64(9n * x) << 25n) | (u64(9n * x) >> 39n)) + hi);
const swap32 = (v) => [0n, 8n, 16n, 24n].reduce((sum, s) => (sum << 8n) | ((v >> s) & 255n), 0n);
const swap64 = (v) => (swap32(v & low32) << 32n) | swap32(v >> 32n);
const read64 = (v) => (at) => v.getBigUint64(at, true), read32 = (v) => (at) => BigInt(v.getUint32(at, true));
const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

const avalanche = (x) => shiftXor(u64(shiftXor(x, 37n) * 0x165667919e3779f9n), 32n);
const avalanche64 = (x) => shiftXor(u64(shiftXor(u64(shiftXor(x, 33n) * p64[2]), 29n) * p64[3]), 32n);

const secret64 = read64(internal.secret), secret32 = read32(internal.secret);

/** Returns [Lo, Hi] of XXH3-128. */
export function xxh3(bytes, seed) {
  const n = bytes.length, length = BigInt(n), v = viewOf(bytes), in64 = read64(v), in32 = read32(v);
  if (n === 0) {
    return [64, 80].map((at) => avalanche64(seed ^ secret64(at) ^ secret64(at + 8)));
  }
  if (n < 4) {
    const c = (bytes[0] << 16) | (bytes[n >> 1] << 24) | bytes[n - 1] | (n << 8), low = BigInt(c >>> 0);
    const swapped = swap32(low), high = ((swapped << 13n) | (swapped >> 19n)) & low32;
    const flips = [(secret32(0) ^ secret32(4)) + seed, (secret32(8) ^ secret32(12)) - seed];
    return [low ^ u64(flips[0]), high ^ u64(flips[1])].map(avalanche64);
  }
  if (n < 9) {
    const flip = u64((secret64(16) ^ secret64(24)) + (seed ^ (swap32(seed & low32) << 32n)));
    const product = ((in32(0) | (in32(n - 4) << 32n)) ^ flip) * (p64[1] + (length << 2n));
    let lo = u64(product);
    const hi = u64((product >> 64n) + (lo << 1n));
    lo ^= hi >> 3n;
    return [shiftXor(u64(shiftXor(lo, 35n) * 0x9fb21c651e98df25n), 28n), avalanche(hi)];
  }
  if (n < 17) {
    const flips = [u64((secret64(32) ^ secret64(40)) - seed), u64((secret64(48) ^ secret64(56)) + seed)];
    const first = (in64(0) ^ in64(n - 8) ^ flips[0]) * p64[1], last = in64(n - 8) ^ flips[1];
    const lo = u64(first + ((length - 1n) << 54n)), hi = u64((first >> 64n) + last + (last & low32) * (p32[2] - 1n));
    const second = (lo ^ swap64(hi)) * p64[2];
    return [avalanche(u64(second)), avalanche(u64((second >> 64n) + hi * p64[2]))];
  }
  if (n > 240) return long(v, n, seed);

  let lo = u64(length * p64[1]), hi = 0n;
  const mix16 = (at, s, seed) => fold(in64(at) ^ u64(secret64(s) + seed), in64(at + 8) ^ u64(secret64(s + 8) - seed));
  const mix = (i, j, s, by = seed) => {
    lo = u64(lo + mix16(i, s, by)) ^ u64(in64(j) + in64(j + 8));
    hi = u64(hi + mix16(j, s + 16, by)) ^ u64(in64(i) + in64(i + 8));
  };
  if (n < 129) {
    if (n > 96) mix(48, n - 64, 96);
    if (n > 64) mix(32, n - 48, 64);
    if (n > 32) mix(16, n - 32, 32);
    mix(0, n - 16, 0);
  } else {
    for (let i = 0; i < 4; i++) mix(32 * i, 32 * i + 16, 32 * i);
    lo = avalanche(lo);
    hi = avalanche(hi);
    for (let i = 4; 32 * i + 32 <= n; i++) mix(32 * i, 32 * i + 16, 3 + 32 * (i - 4));
    mix(n - 16, n - 32, 103, u64(-seed));
  }
  return [avalanche(u64(lo + hi)), u64(-avalanche(u64(lo * p64[1] + hi * p64[4] + (length - seed) * p64[2])))];
}

/** XXH3-128 of more than 240 bytes. */
function long(v, n, seed) {
  const secret = new DataView(new ArrayBuffer(192)), s = read64(secret), input = read64(v), length = BigInt(n);
  for (let at = 0; at < 192; at += 16) {
    secret.setBigUint64(at, secret64(at) + seed, true);
    secret.setBigUint64(at + 8, secret64(at + 8) - seed, true);
  }
  const acc = [p32[3], p64[1], p64[2], p64[3], p64[4], p32[2], p64[5], p32[1]];
  const stripe = (at, from) => {
    for (let i = 0; i < 8; i++) {
      const value = input(at + 8 * i), key = value ^ s(from + 8 * i);
      acc[i ^ 1] = u64(acc[i ^ 1] + value);
      acc[i] = u64(acc[i] + (key & low32) * (key >> 32n));
    }
  };
  const stripes = Math.floor((n - 1) / 64);
  for (let i = 0; i < stripes; i++) {
    stripe(64 * i, 8 * (i % 16));
    if (i % 16 < 15) continue;
    for (let j = 0; j < 8; j++) acc[j] = u64((shiftXor(acc[j], 47n) ^ s(128 + 8 * j)) * p32[1]);
  }
  stripe(n - 64, 121);
  const merge = (from, start) => {
    for (let i = 0; i < 8; i += 2) start += fold(acc[i] ^ s(from + 8 * i), acc[i + 1] ^ s(from + 8 * i + 8));
    return avalanche(u64(start));
  };
  return [merge(11, u64(length * p64[1])), merge(117, u64(~(length * p64[2])))];
}

/** Returns the two numbers of MurmurHash3 x64 128 with seed 0. */
export function murmur3(bytes) {
  const n = bytes.length, c1 = 0x87c37b91114253d5n, c2 = 0x4cf5ad432745937fn, whole = n - (n % 16);
  const padded = new Uint8Array(whole + 16), input = read64(viewOf(padded));
  padded.set(bytes);
  const mixed = (k, a, b, by) => u64(rotl(u64(k * a), by) * b);
  let h1 = 0n, h2 = 0n;
  for (let at = 0; at <= whole; at += 16) {
    h1 ^= mixed(input(at), c1, c2, 31n);
    if (at < whole) h1 = u64(u64(rotl(h1, 27n) + h2) * 5n + 0x52dce729n);
    h2 ^= mixed(input(at + 8), c2, c1, 33n);
    if (at < whole) h2 = u64(u64(rotl(h2, 31n) + h1) * 5n + 0x38495ab5n);
  }
  const step = (x, by) => u64(shiftXor(x, 33n) * by);
  const last = (x) => shiftXor(step(step(x, 0xff51afd7ed558ccdn), 0xc4ceb9fe1a85ec53n), 33n);
  h1 ^= BigInt(n);
  h2 ^= BigInt(n);
  h1 = u64(h1 + h2);
  h2 = u64(h2 + h1);
  h1 = last(h1);
  h2 = last(h2);
  h1 = u64(h1 + h2);
  return [h1, u64(h2 + h1)];
}

/** Returns MurmurHash64A. */
export function murmur64a(bytes, seed) {
  const m = 0xc6a4a7935bd1e995n, n = bytes.length, whole = n - (n % 8);
  const padded = new Uint8Array(whole + 8), input = read64(viewOf(padded));
  padded.set(bytes);
  let h = seed ^ u64(BigInt(n) * m);
  for (let at = 0; at < whole; at += 8) h = u64((h ^ u64(shiftXor(u64(input(at) * m), 47n) * m)) * m);
  if (n % 8) h = u64((h ^ input(whole)) * m);
  return shiftXor(u64(shiftXor(h, 47n) * m), 47n);
}
