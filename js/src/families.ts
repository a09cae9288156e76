// All families.

import { blocked } from './family/blocked.js';
import type { Family } from './types.js';

export const families: readonly Family[] = [blocked];
