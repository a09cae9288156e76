// What tests do in a page or in a worker. Arguments and results are JSON.

const entries = { index: '/dist/index.js', plain: '/dist/plain.js' };

/** Returns the key of a line of a vector file. */
function keyOf({ text, bytes, integer }) {
  if (text !== undefined) return text;
  if (integer !== undefined) return BigInt(integer);
  return Uint8Array.from(bytes.match(/../g) ?? [], (b) => parseInt(b, 16));
}

/**
 * Opens the filters of vector files and compares all answers with theirs.
 *
 * @param {{entry: string, urls: string[]}} job urls are those of the vector files
 * @returns {Promise<{filters: number, answers: number, wasm: number, wrong: string[]}>} wasm: filters whose queries
 *   WebAssembly answers
 */
export async function golden({ entry, urls }) {
  const { open } = await import(entries[entry]);
  const done = { filters: 0, answers: 0, wasm: 0, wrong: [] };
  const load = async (url) => {
    const vector = await (await fetch(url)).json();
    const file = await (await fetch(new URL(vector.file, new URL(url, location.href)))).arrayBuffer();
    return { url, vector, file };
  };
  for (const { url, vector, file } of await Promise.all(urls.map(load))) {
    const filter = await open(file, vector.secret ? { secret: vector.secret } : {});
    const values = vector.spec.includes('value_bits=');
    const compare = (what, got, want) => {
      done.answers++;
      if (got !== want) done.wrong.push(`${url}: ${what}: ${got} instead of ${want}`);
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
 * @param {{url: string, keys?: string[], options?: object, fetchFilter?: Function}} job fetchFilter: that of the entry
 *   bloomery, unless it is given
 * @returns {Promise<{has?: boolean[], shards?: number, loaded?: number, error?: string, cause?: string,
 *   message?: string}>} shards and loaded: of a sharded set; error and cause: the names of errors
 */
export async function fetched({ url, keys = [], options = {}, fetchFilter }) {
  try {
    fetchFilter ??= (await import(entries.index)).fetchFilter;
    const filter = await fetchFilter(url, options);
    const has = await filter.hasMany(keys), { shards, loaded } = filter.info();
    return shards === undefined ? { has } : { has, shards, loaded };
  } catch (error) {
    return { error: error.name, cause: error.cause?.name, message: error.message };
  }
}
