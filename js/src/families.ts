// All families.

import { blocked } from './family/blocked.js';
import { counting } from './family/counting.js';
import { fuse } from './family/fuse.js';
import { standard } from './family/standard.js';
import type { Family } from './types.js';

export const families: readonly Family[] = [standard, blocked, fuse, counting];
