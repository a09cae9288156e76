// What ends an operation that hangs.

/** The longest delay of a timer in milliseconds: a longer one would fire at once. */
export const longest = 2 ** 31 - 1;

export type Timer = ReturnType<typeof setTimeout>;

/** Settles as p, but rejects with the reason of signal as soon as that is aborted. */
export function within<T>(signal: AbortSignal, p: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    Promise.resolve(p).then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

/** Waits. It rejects with the reason of signal as soon as that is aborted. */
export async function pause(seconds: number, signal: AbortSignal): Promise<void> {
  let timer: Timer;
  const waiting = new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.min(1000 * seconds, longest))));
  await within(signal, waiting).finally(() => clearTimeout(timer));
}

/**
 * Returns a signal that is aborted with end, and by a timer that must be set. `late` makes its reason.
 *
 * @returns set starts the timer anew; free must be called at the end
 */
export function watch(end: AbortSignal | undefined, late: () => unknown) {
  const own = new AbortController(), stop = () => own.abort(end!.reason);
  let timer: Timer | undefined;
  end?.addEventListener('abort', stop);
  if (end?.aborted) stop();
  return {
    signal: own.signal,
    set(milliseconds: number): void {
      clearTimeout(timer);
      timer = setTimeout(() => own.abort(late()), Math.min(milliseconds, longest));
    },
    free(): void {
      clearTimeout(timer);
      end?.removeEventListener('abort', stop);
    },
  };
}

/** The reason of a watch over silence. */
export const silence = (timeout: number) => () => new Error(`no byte came for ${timeout} ms`);
