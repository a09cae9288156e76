// When a page or a worker should poll: it is online again, or the page is shown again and what it knows is old.

/**
 * Calls wake when the connection comes back, and when the page is shown and isOld, until the function that it returns
 * is called. Outside of browsers it does nothing.
 */
export function onWake(wake: () => void, isOld: () => boolean): () => void {
  const { document: page } = globalThis, shown = () => page.visibilityState === 'visible' && isOld() && wake();
  // Node has neither of the two; a worker has no document.
  globalThis.addEventListener?.('online', wake);
  page?.addEventListener('visibilitychange', shown);
  return () => {
    globalThis.removeEventListener?.('online', wake);
    page?.removeEventListener('visibilitychange', shown);
  };
}
