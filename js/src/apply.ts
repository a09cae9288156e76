// How a delta makes the target of its base. See docs/format/delta.md, whose names this file uses.
//
// Only allocations and loops are bounded here: all else that is wrong shows in the SHA-256 of the target, which the
// caller compares. Reads outside of an array are 0, and writes have no effect.

import { crc32c } from './crc32c.js';
import { CorruptError, FormatError, TooLargeError } from './errors.js';
import { parseHeader, viewOf } from './header.js';
import { trailerBytes } from './records.js';
import type { Spec } from './spec.js';

const { ceil, floor, max, min } = Math;

const damaged = (how = 'damaged') => new CorruptError(`the delta is ${how}`);

/** Inverts a bit. */
const flip = (bytes: Uint8Array, at: number) => (bytes[floor(at / 8)] ^= 1 << (at & 7));

/** The field of n bits, at most 53, from bit at on. */
function bitsAt(bytes: Uint8Array, at: number, n: number): number {
  let v = 0;
  while (n--) v = 2 * v + ((bytes[floor((at + n) / 8)] >> ((at + n) & 7)) & 1);
  return v;
}

/** Writes v to the field of n bits from bit at on, which is 0. */
function putBits(bytes: Uint8Array, at: number, n: number, v: number): void {
  for (; n-- > 0; at++, v = floor(v / 2)) if (v % 2) flip(bytes, at);
}

/** The number that z stands for: 0, -1, 1, -2, 2, ... */
const fold = (z: number) => (z % 2 ? -1 - z : z) / 2;

/** The bits of a delta. */
type Reader = ReturnType<typeof reader>;

function reader(delta: Uint8Array, at: number) {
  const end = 8 * delta.length;
  /** Skips n bits and returns where they begin. */
  const skip = (n: number): number => {
    if ((at += n) > end) throw damaged();
    return at - n;
  };
  const field = (n: number) => bitsAt(delta, skip(n), n);
  const number = (): number => {
    const group = field(8);
    return group < 128 ? group : group - 128 + 128 * number();
  };
  const signed = () => fold(number());
  const unary = (most: number): number => {
    let v = 0;
    while (v < most && field(1)) v++;
    return v;
  };
  const rice = (k: number) => unary(Infinity) * 2 ** k + field(k);
  const below = (n: number): number => {
    let b = 0;
    while (2 ** (b + 1) <= n) b++;
    const s = 2 ** (b + 1) - n, x = field(b);
    return x < s ? x : 2 * x + field(1) - s;
  };
  /** Calls give with each number of list(bound, left). */
  const list = (bound: number, left: number, give: (v: number) => void): void => {
    if (left > bound) throw damaged();
    for (let next = 0; left > 0; left--) {
      const room = bound - next - left + 1, m = left > 1 ? max(1, floor((9 * room) / (13 * left))) : room;
      const q = unary(floor((room - 1) / m)) * m, v = next + q + below(min(m, room - q));
      next = v + 1;
      give(v);
    }
  };
  const counted = (bound: number, give: (v: number) => void) => list(bound, number(), give);
  /** Returns n whole bytes. The bits before them must be 0. */
  const raw = (n: number): Uint8Array => {
    if (field(-at & 7)) throw damaged();
    const from = skip(8 * n) / 8;
    return delta.subarray(from, from + n);
  };
  const finish = (): void => {
    raw(0);
    if (at < end) throw damaged();
  };
  return { field, number, signed, unary, rice, list, counted, raw, finish };
}

/**
 * Returns how many of the cells from first to end do not have the value `not`, and a function that returns the cell of
 * a rank among them. The ranks must ascend.
 */
function ranks(b: Uint8Array, width: number, first: number, end: number, not: number) {
  const counts = (cell: number) => bitsAt(b, cell * width, width) !== not;
  let n = 0, rank = -1, cell = first;
  while (cell < end) if (counts(cell++)) n++;
  cell = first - 1;
  const cellOf = (to: number): number => {
    while (rank < to) if (counts(++cell)) rank++;
    return cell;
  };
  return [n, cellOf] as const;
}

/** Methods 1 and 2: changes a section, which is that of the base, in a mode of 2 to 4. */
function change(r: Reader, mode: number, b: Uint8Array): void {
  const old = b.slice(), all = 8 * b.length;
  if (mode < 3) return r.counted(all, (bit) => flip(b, bit));
  if (mode < 4) {
    const size = 2 ** (6 + r.field(3)), p = r.field(1), c = r.field(6), h = r.field(3);
    return r.counted(ceil(all / size), (block) => {
      const z = r.rice(h), n = z >= 2 * c - min(1, c) ? z + 1 : c + fold(z);
      const bits = (not: number) => ranks(old, 1, block * size, min(block * size + size, all), not);
      const change = (n: number, [count, bit]: ReturnType<typeof bits>) => r.list(count, n, (v) => flip(b, bit(v)));
      if (!p) return change(n, bits(-1));
      const ones = bits(0), f = r.unary(min(n, ones[0]));
      change(f, ones);
      change(n - f, bits(1));
    });
  }
  const width = 2 ** r.field(2);
  // What is not counted in each list, and what becomes of the others.
  for (const [not, step] of [[0, -1], [2 ** width - 1, 1], [-1, 0]]) {
    const [n, cellOf] = ranks(old, width, 0, all / width, not);
    r.counted(n, (to) => {
      const at = cellOf(to) * width, v = bitsAt(old, at, width);
      b[floor(at / 8)] ^= (v ^ (step ? v + step : r.field(width))) << at % 8;
    });
  }
}

/** A bucket that is being stored: where its pointer is, its extensions by level, and what is left to store. */
interface Bucket {
  at: number;
  readonly extensions: number[];
  readonly index: number[];
  readonly cells: number[];
}

/**
 * Method 3: returns the sections of rankindexed, and the number of their cells in use before and after. See
 * docs/format/rankindexed.md for the names. A trimmed file has one level without a limit.
 */
function replay(r: Reader, spec: Spec, base: Uint8Array[], most: number): [Uint8Array[], number, number] {
  const get = (name: string) => spec.uint(name), trimmed = spec.has('trimmed');
  const buckets = get('buckets'), chains = get('chains'), growth = get('growth');
  const payload = get('counting') ? 2 : get('value_bits'), width = growth + get('remainder') + payload;
  const pools = trimmed ? [buckets] : [buckets, get('pool2'), get('pool3')];
  const rooms = trimmed ? [Infinity] : [get('cells'), get('cells2'), get('cells3')];
  // By level: bits of the pointer and the index, and where pointer, index and cells are.
  const pointers = pools.map((_, l) => (pools[l + 1] ? pools[l + 1].toString(2).length + growth : 0));
  const bits = rooms.map((room, l) => (l ? room : chains + room)), to = [bits[0], 0], from = [0, pointers[1], 0];
  const first = bits.map((n, l) => n + pointers[l]);
  const strides = rooms.map((room, l) => 64 * ceil((first[l] + room * width) / 64));
  const stride = (n: number) => (trimmed ? chains + n * (1 + width) : strides[0]);
  const bytes = (n: number) => 8 * ceil((buckets * chains + n * (1 + width)) / 64);
  if (!chains || pools.some((n, l) => (trimmed ? bytes(get('trimmed')) : (n * strides[l]) / 8) !== base[l].length)) {
    throw damaged();
  }

  /** Calls give for each bucket with the chains of its cells, its extensions, and a function that reads a cell. */
  const walk = (give: (chains: number[], extensions: number[], cell: (c: number) => number) => void): void => {
    for (let b = 0, at = 0; b < buckets; b++) {
      const parts = [at], extensions: number[] = [], order: number[] = [];
      for (let l = 0, p; (p = bitsAt(base[l], parts[l] + to[l], pointers[l])); ) {
        extensions[++l] = p - 1;
        parts[l] = (p - 1) * strides[l];
      }
      const read = (i: number, counts: number[], starts: number[], n: number): number => {
        for (let l = 0; l < parts.length; i -= counts[l++]) {
          if (i < counts[l]) return bitsAt(base[l], parts[l] + starts[l] + i * n, n);
        }
        return 0;
      };
      for (let l = 0; l < chains; l++) if (read(l, bits, from, 1)) order.push(l);
      let c = chains;
      for (const l of order) if (read(c++, bits, from, 1)) order.push(l);
      if (trimmed) first[0] = c;
      give(order, extensions, (c) => read(c, rooms, first, width));
      at += stride(order.length);
    }
  };

  let used = 0, a = width - payload;
  walk((order) => (used += order.length));
  const go: number[] = [], come: [chain: number, cell: number][] = [];
  r.counted(used, (v) => go.push(v));
  const after = used + r.signed(), k = go.length + after - used;
  if (bytes(after) > most) throw damaged();
  while (buckets * chains * 2 ** a > 2 ** 47) a--;
  r.list(k && buckets * chains * 2 ** a + k - 1, k, (y) => {
    const low = r.field(width - a), x = y - come.length;
    come.push([floor(x / 2 ** a), (x % 2 ** a) * 2 ** (width - a) + low]);
  });

  const out = trimmed ? [new Uint8Array(bytes(after))] : base.slice(0, 3).map((b) => new Uint8Array(b.length));
  /** Stores a part of a bucket. */
  const store = (l: number, at: number, { index, cells }: Bucket): void => {
    index.splice(0, bits[l]).forEach((v, i) => putBits(out[l], at + from[l] + i, 1, v));
    cells.splice(0, rooms[l]).forEach((v, c) => putBits(out[l], at + first[l] + c * width, width, v));
  };
  let large: Bucket[] = [], chain = 0, rank = 0, gone = 0, came = 0, at = 0;
  walk((order, extensions, cell) => {
    const index: number[] = [], cells: number[] = [], lists = Array.from({ length: chains }, (): number[] => []);
    order.forEach((l, c) => {
      if (rank++ === go[gone]) gone++;
      else lists[l].push(cell(c));
    });
    for (const list of lists) {
      for (; come[came]?.[0] === chain; came++) {
        const v = come[came][1], i = list.findIndex((other) => floor(other / 2 ** payload) >= floor(v / 2 ** payload));
        list.splice(i < 0 ? list.length : i, 0, v);
      }
      chain++;
    }
    const queue = lists.filter((list) => index.push(+!!list.length) && list.length);
    for (const list of queue) {
      cells.push(list.shift()!);
      if (list.length) queue.push(list);
      index.push(+!!list.length);
    }
    if (trimmed) first[0] = index.length;
    const bucket = { at: at + to[0], extensions, index, cells }, length = stride(cells.length);
    store(0, at, bucket);
    at += length;
    if (cells.length) large.push(bucket);
  });
  for (let l = 1; l < pools.length; l++) {
    if (!pools[l]) continue;
    if (r.field(1)) {
      large.forEach(({ extensions }, i) => (extensions[l] = i));
    } else {
      const had = large.filter(({ extensions }) => l in extensions);
      r.list(had.length, r.rice(1), (i) => delete had[i].extensions[l]);
      const h = r.field(3), kept = new Set(large.map(({ extensions }) => extensions[l]));
      const free = Array.from({ length: pools[l] }, (_, i) => i).filter((i) => !kept.has(i));
      for (const { extensions } of large) if (!(l in extensions)) [extensions[l]] = free.splice(r.rice(h), 1);
    }
    for (const bucket of large) {
      const e = bucket.extensions[l];
      putBits(out[l - 1], bucket.at, pointers[l - 1], e + 1);
      store(l, (bucket.at = e * strides[l]), bucket);
    }
    large = large.filter(({ cells }) => cells.length);
  }
  return [out, used, after];
}

/** Verifies the prefix of a delta. known says whether the method and the flags are, base is that of the file. */
function checkPrefix(delta: Uint8Array, known: boolean, base: number): void {
  const prefix = viewOf(delta);
  if (prefix.getUint32(0) >>> 8 !== 0x894244 || !known) throw damaged('of a newer version');
  if (prefix.getUint32(4) !== base) throw damaged('for another file');
}

/** Returns the length of a target, which is at most `most`. */
function checkLength(n: number, most: number): number {
  if (n > most) throw new TooLargeError(`more than ${most} bytes`);
  return n;
}

function target(old: Uint8Array, delta: Uint8Array, most: number): Uint8Array {
  const from = parseHeader(old), flags = delta[3], method = flags & 15;
  checkPrefix(delta, method ? method < 4 : !flags, viewOf(old).getUint32(60));
  if (!method) return (checkLength(delta.length - 24, most), delta.slice(24));

  const head = new Uint8Array(old.subarray(0, 64)), r = reader(delta, 192), byte = () => r.field(8);
  let text = from.spec.text, keys = flags & 16 ? r.signed() : 0;
  if (flags & 32) for (let i = 48; i < 56; i++) head[i] = byte();
  if (flags & 64) text = String.fromCharCode(...Array.from({ length: r.number() }, byte));
  if (flags & 128) for (let i = 14; i < 16; i++) head[i] = byte();
  const count = head[14];
  let sections: Uint8Array[] = [];
  const base = from.sections.map((s) => old.subarray(s.offset, s.offset + s.length));
  const modes: number[] = [], lengths: number[] = [];
  if (method > 2) {
    const [out, used, after] = replay(r, from.spec, base, most);
    sections = out;
    keys += after - used;
    text = text.replace(/trimmed=\d+/, `trimmed=${after}`);
  }
  for (let i = sections.length; i < count; i++) {
    modes[i] = r.field(3);
    lengths[i] = modes[i] === 1 ? 8 * r.number() : base[i].length;
  }
  modes.forEach((mode, i) => {
    sections[i] = mode === 1 ? r.raw(lengths[i]) : new Uint8Array(base[i]); // slice of a Buffer shares
    if (mode > 1) change(r, mode, sections[i]);
  });
  r.finish();

  const align = (n: number) => ceil(n / 64) * 64, end = 64 + 24 * count + text.length;
  let length = end;
  const places = sections.map((s) => (length = align(length) + s.length) - s.length);
  const file = new Uint8Array(checkLength(max(length, align(end)), most)), to = viewOf(file);
  const put = (at: number, n: number | bigint) => to.setBigUint64(at, BigInt(n), true);
  file.set(head);
  put(32, from.keys + BigInt(keys));
  put(40, file.length);
  to.setUint32(56, text.length, true);
  sections.forEach((s, i) => {
    put(64 + 24 * i, places[i]);
    put(72 + 24 * i, s.length);
    to.setUint32(80 + 24 * i, crc32c(s), true);
    file.set(s, places[i]);
  });
  file.set(new TextEncoder().encode(text), 64 + 24 * count);
  to.setUint32(60, crc32c(file.subarray(64, end), crc32c(file.subarray(0, 60))), true);
  return file;
}

/** Returns what f does. What it throws becomes FormatError. */
function guarded(f: () => Uint8Array): Uint8Array {
  try {
    return f();
  } catch (e) {
    throw e instanceof FormatError ? e : damaged();
  }
}

/** Returns the target of a delta: of a base, at most `most` bytes, given the SHA-256 of the base in hexadecimal. */
export type Apply = (old: Uint8Array, delta: Uint8Array, most: number, sum: string) => Uint8Array;

/**
 * Applies a delta of a filter file, which needs no SHA-256. The caller must compare that of the target. Memory: twice
 * the target; for method 3 also the cells that go and come. It throws FormatError.
 */
export const apply = (old: Uint8Array, delta: Uint8Array, most: number) => guarded(() => target(old, delta, most));

/** Whether a file begins as an exact set. */
export const isExact = (file: Uint8Array) => file.length > 3 && viewOf(file).getUint32(0) === 0x89424c58;

/** Applies a delta of an exact set: method 5 or 0. The caller must compare the SHA-256. It throws FormatError. */
export const append: Apply = (old, delta, most, sum) =>
  guarded(() => {
    const flags = delta[3], records = max(old.length - trailerBytes, 0);
    const kept = old.subarray(0, flags ? records : 0);
    checkPrefix(delta, !flags || flags === 5, parseInt(sum.slice(0, 8), 16));
    const file = new Uint8Array(checkLength(kept.length + delta.length - 24, most));
    file.set(kept);
    file.set(delta.subarray(24), kept.length);
    return file;
  });
