// What tests do in a page or in a worker. Arguments and results are JSON.

const entries = { index: '/dist/index.js', plain: '/dist/plain.js' };

/** Returns the bytes of hexadecimal digits. */
function bytesOf(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (b) => parseInt(b, 16));
}

/** Returns the key of a line of a vector file. */
function keyOf({ text, bytes, integer }) {
  if (text !== undefined) return text;
  if (integer !== undefined) return BigInt(integer);
  return bytesOf(bytes);
}

/**
 * Opens the filters of vector files and compares all answers with theirs.
 *
 * @param {{entry: string, url: string}} job url has a list of {name, vector, file}: a vector file and its filter in hex
 * @returns {Promise<{filters: number, answers: number, wasm: number, wrong: string[]}>} wasm: filters whose queries
 *   WebAssembly answers
 */
export async function golden({ entry, url }) {
  const { open } = await import(entries[entry]);
  const done = { filters: 0, answers: 0, wasm: 0, wrong: [] };
  for (const { name: of, vector, file } of await (await fetch(url)).json()) {
    const filter = await open(bytesOf(file), vector.secret ? { secret: vector.secret } : {});
    const values = vector.spec.includes('value_bits=');
    const compare = (what, got, want) => {
      done.answers++;
      if (got !== want) done.wrong.push(`${of}: ${what}: ${got} instead of ${want}`);
    };
    for (const line of vector.keys) {
      const key = keyOf(line), name = JSON.stringify(line.text ?? line.integer ?? line.bytes);
      compare(`has ${name}`, filter.has(key), line.has);
      if (line.count !== undefined) compare(`count ${name}`, String(filter.count(key)), line.count);
      if (values) compare(`get ${name}`, filter.get(key)?.toString(), line.value);
    }
    compare('spec', filter.info().spec, vector.spec);
    done.filters++;
    if (filter.info().wasm) done.wasm++;
  }
  return done;
}

/**
 * Fetches a filter and asks it for keys.
 *
 * @param {{url: string, keys?: string[], options?: object, entry?: object}} job entry: what has fetchFilter and
 *   fetchSharded, instead of bloomery
 * @returns {Promise<{has?: boolean[], shards?: number, loaded?: number, error?: string, cause?: string,
 *   message?: string}>} shards and loaded: of a sharded set; error and cause: the names of errors
 */
export async function fetched({ url, keys = [], options = {}, entry }) {
  try {
    const { fetchFilter, fetchSharded } = entry ?? await import(entries.index);
    if (!/\/set\//.test(url)) return { has: (await fetchFilter(url, options)).hasMany(keys) };
    const set = await fetchSharded(url, options), has = await set.lookupMany(keys), { shards, loaded } = set.info();
    return { has, shards, loaded };
  } catch (error) {
    return { error: error.name, cause: error.cause?.name, message: error.message };
  }
}

/**
 * Builds filters of the keys 0 to keys-1, and of as many texts, with `bloomery/build`.
 *
 * @param {{families: string[], keys: number}} job
 * @returns {Promise<{sums: string[], missing: number, wasm: boolean}>} missing: keys that are not found; sums: SHA-256
 *   in hexadecimal, two of each family; wasm: whether WebAssembly has built them
 */
export async function built({ families, keys }) {
  const [{ build }, { open }] = await Promise.all([import('/dist/build.js'), import(entries.plain)]);
  const numbers = Array.from({ length: keys }, (_, i) => BigInt(i)), texts = numbers.map((i) => `text ${i}`);
  const done = { sums: [], missing: 0, wasm: false }, { Instance } = WebAssembly;
  WebAssembly.Instance = function (...args) {
    done.wasm = true;
    return new Instance(...args);
  };
  for (const family of families) {
    for (const all of [numbers, texts]) {
      const file = await build(all, { family, fpr: 0.01, seed: 7 }), filter = await open(file);
      done.missing += all.filter((key) => !filter.has(key)).length;
      const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', file));
      done.sums.push(Array.from(sum, (b) => b.toString(16).padStart(2, '0')).join(''));
    }
  }
  WebAssembly.Instance = Instance;
  return done;
}

/**
 * Puts bytes into stores of followers, and gets them.
 *
 * @returns {Promise<string[]>} what is wrong
 */
export async function stored() {
  const [{ cacheStore }, { indexedDBStore }] = await Promise.all(
    [import('/dist/store/cache.js'), import('/dist/store/indexeddb.js')],
  );
  const wrong = [];
  for (const store of [cacheStore, indexedDBStore]) {
    const one = store('lists/a'), same = store('lists/a'), other = store('lists');
    const big = new Uint8Array(3_000_000).fill(7);
    const compare = async (what, from, file, want) => {
      const got = await from.get(file);
      const equal = got?.length === want?.length && (!want || got.every((b, i) => b === want[i]));
      if (!equal || (got && !(got instanceof Uint8Array))) wrong.push(`${store.name}: ${what}: ${got?.length} bytes`);
    };
    await one.put('empty', new Uint8Array(0));
    await compare('empty', same, 'empty', new Uint8Array(0));
    await compare('missing', one, 'filter', undefined);
    await one.put('filter', Uint8Array.of(1, 2, 3));
    await one.put('filter', big.subarray(1));
    await compare('replaced', same, 'filter', big.subarray(1));
    await compare('another name', other, 'filter', undefined);
    await compare('another name with the same path', other, 'a/filter', undefined);
    for (const name of ['', undefined]) {
      try {
        store(name);
        wrong.push(`${store.name}: takes the name ${name}`);
      } catch (error) {
        if (!(error instanceof TypeError)) wrong.push(`${store.name}: ${error}`);
      }
    }
    await one.put('filter', new Uint8Array(0));
  }
  return wrong;
}
