// Runs jobs of jobs.js in this page or in a worker, for the tests that drive it.

import * as jobs from './jobs.js';

globalThis.run = (name, argument) => jobs[name](argument);

globalThis.runInWorker = (name, argument) => new Promise((resolve, reject) => {
  const worker = new Worker('worker.js', { type: 'module' });
  worker.onerror = (event) => reject(new Error(`worker: ${event.message}`));
  worker.onmessage = ({ data }) => {
    worker.terminate();
    if (data.error) reject(new Error(data.error));
    else resolve(data.result);
  };
  worker.postMessage({ name, argument });
});
