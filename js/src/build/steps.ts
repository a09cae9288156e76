// Work in steps, so that a page stays responsive and a build can be stopped.

/** Work that yields, every few milliseconds, how much of it is done: 0 to 1. It returns the result. */
export type Steps<T> = Generator<number, T>;

/** How long work may keep the thread, in milliseconds. */
const turn = 30;

/** Lets timers, events and the page take a turn. Timers would wait for 4 ms. */
const pause = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });

/** Gives the thread free from time to time, and throws the reason of a signal. */
export class Turns {
  #since = Date.now();

  constructor(readonly signal: AbortSignal | undefined) {
    signal?.throwIfAborted();
  }

  /** Whether the thread should be given free. */
  get due(): boolean {
    return Date.now() - this.#since >= turn;
  }

  /** Gives the thread free. It rejects if the signal is aborted. */
  async give(): Promise<void> {
    await pause();
    this.#since = Date.now();
    this.signal?.throwIfAborted();
  }

  /** Does work to its end and returns the result. progress gets the share that is done. */
  async run<T>(work: Steps<T>, progress: (done: number) => void): Promise<T> {
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
      if (!this.due) continue;
      progress(value);
      await this.give();
    }
  }
}
