// When a page or a worker can poll again: it is online again, or the page becomes visible.

/**
 * Calls wake at each of these events, until the function that it returns is called. Outside of browsers there are none.
 */
export function onWake(wake: () => void): () => void {
  const { document: page } = globalThis, shown = () => page.visibilityState === 'visible' && wake();
  // Node has neither of the two; a worker has no document.
  globalThis.addEventListener?.('online', wake);
  page?.addEventListener?.('visibilitychange', shown);
  return () => {
    globalThis.removeEventListener?.('online', wake);
    page?.removeEventListener?.('visibilitychange', shown);
  };
}
