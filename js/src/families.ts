// All families and hash functions.

import { bitsandblooms } from './family/bitsandblooms.js';
import { blocked } from './family/blocked.js';
import { blockpartitioned } from './family/blockpartitioned.js';
import { counting } from './family/counting.js';
import { dcso } from './family/dcso.js';
import { fuse } from './family/fuse.js';
import { guava } from './family/guava.js';
import { partitioned } from './family/partitioned.js';
import { rankindexed } from './family/rankindexed.js';
import { twochoice } from './family/twochoice.js'; // here, between the code most like it, bundles are smaller
import { redisbloom } from './family/redisbloom.js';
import { ribbon } from './family/ribbon.js';
import { spark } from './family/spark.js';
import { standard } from './family/standard.js';
import { siphash } from './hash/siphash.js';
import { uint64 } from './hash/uint64.js';
import { xxh64 } from './hash/xxh64.js';
import type { Family, KeyHash } from './types.js';

export const families: readonly Family[] = [
  standard, blocked, fuse, ribbon, partitioned, blockpartitioned, twochoice, rankindexed, counting, guava,
  bitsandblooms, redisbloom, spark, dcso,
];

/** Hash functions besides XXH3 and those of other systems' families. */
export const hashes: readonly KeyHash[] = [siphash, xxh64, uint64];
