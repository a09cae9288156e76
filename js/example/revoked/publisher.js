// Without a publisher the page opens revoked.exact. serve.mjs replaces this module if --publisher is the folder of an
// exact set.

/** The URL of the publisher. */
export const url = undefined;
/** Its public keys. */
export const keys = [];
