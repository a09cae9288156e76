// SHA-256: by the platform, or in JavaScript where it lacks one, as on pages without TLS.

/** Returns the SHA-256 of bytes in hexadecimal. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const subtle = globalThis.crypto?.subtle;
  const sum = subtle ? new Uint8Array(await subtle.digest('SHA-256', bytes as BufferSource)) : plainSha256(bytes);
  return Array.from(sum, (b) => b.toString(16).padStart(2, '0')).join('');
}

/** The first 32 bits of the fractional part. */
const fraction = (x: number) => ((x - Math.floor(x)) * 2 ** 32) | 0;

/** Returns the 32 bytes of SHA-256. */
export function plainSha256(bytes: Uint8Array): Uint8Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const k = primes.map((p) => fraction(Math.cbrt(p))), w = new Int32Array(64);
  const h = Int32Array.from(primes.slice(0, 8), (p) => fraction(Math.sqrt(p)));
  const block = (view: DataView, at: number): void => {
    for (let i = 0; i < 64; i++) {
      if (i < 16) w[i] = view.getInt32(at + 4 * i);
      else {
        const x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
      }
    }
    let [a, b, c, d, e, f, g, o] = h;
    for (let i = 0; i < 64; i++) {
      const t = (o + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
      const u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      o = g;
      g = f;
      f = e;
      e = (d + t) | 0;
      d = c;
      c = b;
      b = a;
      a = (t + u) | 0;
    }
    [a, b, c, d, e, f, g, o].forEach((x, i) => (h[i] += x));
  };
  const whole = bytes.length - (bytes.length % 64), view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < whole; at += 64) block(view, at);
  const last = new Uint8Array(bytes.length - whole < 56 ? 64 : 128), end = new DataView(last.buffer);
  last.set(bytes.subarray(whole));
  last[bytes.length - whole] = 0x80;
  end.setBigUint64(last.length - 8, 8n * BigInt(bytes.length));
  for (let at = 0; at < last.length; at += 64) block(end, at);
  h.forEach((x, i) => end.setInt32(4 * i, x));
  return last.slice(0, 32);
}

function turn(x: number, s: number): number {
  return (x >>> s) | (x << (32 - s));
}
