import * as jobs from './jobs.js';

onmessage = async ({ data: { name, argument } }) => {
  try {
    postMessage({ result: await jobs[name](argument) });
  } catch (error) {
    postMessage({ error: error.stack });
  }
};
