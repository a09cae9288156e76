/* Route: the keys of a batch grouped by their shard, so that those of a shard are queried together, as in a filter of
   one file. A batch is cut into pieces of ROUTE_PIECE keys. */

/* A piece takes 1.5 MiB. In a larger one each shard has more keys, but the piece leaves the cache. */
#define ROUTE_PIECE 32768

/* The number of bits that the sort by shard uses per pass. A set has at most 2^20 shards, which need two passes. */
#define ROUTE_BITS 10

typedef struct {
  bloomery_key_hash hash;
  uint32_t shard, at; /* at: the number of the key in its piece */
} route_key;

typedef struct {
  const bloomery_filter *hasher;
  size_t count;                   /* of shards */
  const bloomery_filter **shards; /* NULL: not loaded */
  const Keys *keys;               /* not a dictionary */
  const uint8_t *asked;           /* 0 for keys that need no answer; NULL: all need one */
  uint8_t *out;                   /* a byte for each key, 0 before it is answered */
  size_t from, to;                /* a piece: keys [from, to) */
  route_key *piece, *spare;       /* the n keys of it that need an answer, sorted by shard; room for as many */
  size_t n;
  core_block block;
} route;

static void route_free(route *r) {
  if (!r) return;
  block_free(&r->block);
  free((void *)r->shards);
  free(r->piece);
  free(r->spare);
  free(r);
}

/* Returns a route of no keys, or NULL. It takes up to most keys at once. */
static route *route_new(const bloomery_filter *hasher, size_t count, size_t most) {
  route *r = (route *)calloc(1, sizeof *r);
  size_t room = most < ROUTE_PIECE ? most + 1 : ROUTE_PIECE;
  if (!r) return NULL;
  r->hasher = hasher;
  r->count = count;
  r->shards = (const bloomery_filter **)calloc(count, sizeof *r->shards);
  r->piece = (route_key *)malloc(room * sizeof *r->piece);
  r->spare = (route_key *)malloc(room * sizeof *r->spare);
  if (r->shards && r->piece && r->spare) return r;
  route_free(r);
  return NULL;
}

/* Hashes m keys of the block from key i on, BLOOMERY_MANY at most. */
static void route_hash(const route *r, bloomery_batch *b, size_t i, size_t m) {
#ifdef BLOOMERY_WIDE
  if (r->hasher->wide) {
    bloomery_wide_hash_many(r->hasher, &r->block.keys, r->block.way, i, b, 0, m);
    return;
  }
#endif
  bloomery_hash_many(r->hasher, &r->block.keys, r->block.way, i, b, 0, m);
}

/* Appends the keys of the block, which begins with key at, to the piece: those that need an answer. */
static void route_add(route *r, size_t at) {
  bloomery_batch b;
  for (size_t i = 0, m; i < r->block.n; i += m) {
    m = r->block.n - i < BLOOMERY_MANY ? r->block.n - i : BLOOMERY_MANY;
    route_hash(r, &b, i, m);
    for (size_t j = 0; j < m; j++) {
      route_key *key = r->piece + r->n;
      key->hash.hi = b.hi[j];
      key->hash.lo = b.lo[j];
      key->shard = (uint32_t)bloomery_route(key->hash, r->count);
      key->at = (uint32_t)(at + i + j - r->from);
      r->n += keys_valid(r->keys, at + i + j) && (!r->asked || r->asked[at + i + j]);
    }
  }
}

/* Sorts the piece by shard: a stable sort by counting for each ROUTE_BITS bits of its number. */
static void route_sort(route *r) {
  for (unsigned shift = 0; (r->count - 1) >> shift > 0; shift += ROUTE_BITS) {
    size_t starts[(1 << ROUTE_BITS) + 1] = {0};
    uint32_t mask = (1 << ROUTE_BITS) - 1;
    route_key *sorted = r->spare;
    for (size_t i = 0; i < r->n; i++) starts[(r->piece[i].shard >> shift & mask) + 1]++;
    for (size_t i = 0; i < mask; i++) starts[i + 1] += starts[i];
    for (size_t i = 0; i < r->n; i++) sorted[starts[r->piece[i].shard >> shift & mask]++] = r->piece[i];
    r->spare = r->piece;
    r->piece = sorted;
  }
}

/* Makes the piece that begins with key to. */
static int route_next(route *r) {
  r->n = 0;
  r->from = r->to;
  r->to = r->keys->n - r->from < ROUTE_PIECE ? r->keys->n : r->from + ROUTE_PIECE;
  for (size_t at = r->from; at < r->to; at += r->block.n) {
    int error = block_take(&r->block, r->keys, at, r->to);
    if (error != 0) return error;
    route_add(r, at);
  }
  route_sort(r);
  return 0;
}

/* Whether the shards of the piece are loaded. */
static bool route_loaded(const route *r) {
  for (size_t i = 0; i < r->n; i++) {
    if (!r->shards[r->piece[i].shard]) return false;
  }
  return true;
}

/* Sets out[i] for n keys of a shard, BLOOMERY_MANY at most. */
static void route_query(const bloomery_filter *f, bloomery_batch *b, size_t n, uint8_t *out) {
  bloomery_find(f, b, 0, n);
#ifdef BLOOMERY_WIDE
  if (f->wide) {
    bloomery_wide_query_many(f, b, n, out);
    return;
  }
#endif
  bloomery_query_many(f, b, n, out);
}

/* Answers the keys of the piece, whose shards are loaded. */
static void route_answer(const route *r) {
  bloomery_batch b;
  uint8_t has[BLOOMERY_MANY];
  for (size_t i = 0, m; i < r->n; i += m) {
    const route_key *key = r->piece + i;
    const bloomery_filter *f = r->shards[key->shard];
    for (m = 0; i + m < r->n && m < BLOOMERY_MANY && key[m].shard == key->shard; m++) {
      b.hi[m] = key[m].hash.hi;
      b.lo[m] = key[m].hash.lo;
    }
    route_query(f, &b, m, has);
    for (size_t j = 0; j < m; j++) {
      r->out[r->from + key[j].at] = has[j] && !bloomery_excepts(f, key[j].hash);
    }
  }
}

/* Answers keys up to the first piece with a shard that is not loaded: then from < to, else from == to == keys->n.
   Load the shards of that piece and call it again. The GIL is needed for KEYS_LIST only. */
static int route_run(route *r) {
  for (;;) {
    int error;
    if (r->from < r->to) {
      if (!route_loaded(r)) return 0;
      route_answer(r);
    }
    r->from = r->to;
    if (r->to == r->keys->n) return 0;
    error = route_next(r);
    if (error != 0) return error;
  }
}
