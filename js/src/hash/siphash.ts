// SipHash-2-4 with 128 bits of output (J.-P. Aumasson, D. J. Bernstein), on words of 32 bits.

import type { Hash, HashFunction } from '../types.js';
import { carry } from '../wide.js';

const label = 'bloomery: this sentence is hashed to recognise the secret of a keyed filter, format 1';
const state = new Int32Array(8);

/** The rounds of SipHash on state. */
function rounds(n: number): void {
  let [al, ah, bl, bh, cl, ch, dl, dh] = state;
  while (n--) {
    let t = (al + bl) | 0;
    ah = (ah + bh + carry(t, al)) | 0;
    al = t;
    t = (cl + dl) | 0;
    ch = (ch + dh + carry(t, cl)) | 0;
    cl = t;
    t = ((bl << 13) | (bh >>> 19)) ^ al;
    bh = ((bh << 13) | (bl >>> 19)) ^ ah;
    bl = t;
    t = ((dl << 16) | (dh >>> 16)) ^ cl;
    dh = ((dh << 16) | (dl >>> 16)) ^ ch;
    dl = t;
    t = al;
    al = ah;
    ah = t;
    t = (cl + bl) | 0;
    ch = (ch + bh + carry(t, cl)) | 0;
    cl = t;
    t = (al + dl) | 0;
    ah = (ah + dh + carry(t, al)) | 0;
    al = t;
    t = ((bl << 17) | (bh >>> 15)) ^ cl;
    bh = ((bh << 17) | (bl >>> 15)) ^ ch;
    bl = t;
    t = ((dl << 21) | (dh >>> 11)) ^ al;
    dh = ((dh << 21) | (dl >>> 11)) ^ ah;
    dl = t;
    t = cl;
    cl = ch;
    ch = t;
  }
  state[0] = al;
  state[1] = ah;
  state[2] = bl;
  state[3] = bh;
  state[4] = cl;
  state[5] = ch;
  state[6] = dl;
  state[7] = dh;
}

/** Returns SipHash under a secret of 16 bytes. */
export function siphash(secret: Uint8Array): HashFunction {
  const key = new DataView(secret.slice().buffer);
  const k = [0, 4, 8, 12].map((i) => key.getInt32(i, true));
  // "somepseudorandomlygeneratedbytes", in words; the last change marks the output of 128 bits
  const start = Int32Array.of(
    0x70736575 ^ k[0], 0x736f6d65 ^ k[1], 0x6e646f6d ^ k[2] ^ 0xee, 0x646f7261 ^ k[3],
    0x6e657261 ^ k[0], 0x6c796765 ^ k[1], 0x79746573 ^ k[2], 0x74656462 ^ k[3],
  );
  return (v, n, out) => {
    state.set(start);
    let at = 0;
    for (; at + 8 <= n; at += 8) word(v.getInt32(at, true), v.getInt32(at + 4, true));
    let l = 0, h = n << 24;
    for (let i = 0; at + i < n; i++) {
      if (i < 4) l |= v.getUint8(at + i) << (8 * i);
      else h |= v.getUint8(at + i) << (8 * (i - 4));
    }
    word(l, h);
    state[4] ^= 0xee;
    half(out, 0);
    state[2] ^= 0xdd;
    half(out, 2);
  };
}

function word(l: number, h: number): void {
  state[6] ^= l;
  state[7] ^= h;
  rounds(2);
  state[0] ^= l;
  state[1] ^= h;
}

function half(out: Hash, at: number): void {
  rounds(4);
  out[at] = state[0] ^ state[2] ^ state[4] ^ state[6];
  out[at + 1] = state[1] ^ state[3] ^ state[5] ^ state[7];
}

/** Returns the key check of a keyed hash: 64 bits that recognise the secret and do not reveal it. */
export function keyCheck(sum: HashFunction): bigint {
  const bytes = Uint8Array.from(label, (c) => c.charCodeAt(0)), h = new Int32Array(8);
  sum(new DataView(bytes.buffer), bytes.length, h);
  return (BigInt(h[3] >>> 0) << 32n) | BigInt((h[2] | 1) >>> 0);
}
