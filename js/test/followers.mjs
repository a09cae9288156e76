// A follower for the trial in eval/readers: for each line of its input it polls, writes the bytes that it holds to a file,
// and prints how it got them: "delta", "whole" or "same".
//
//   node followers.mjs URL KEY FILE [exact]

import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { openExact } from '../dist/exact.js';
import { follow, followExact } from '../dist/follow.js';
import { open } from '../dist/index.js';

const [url, key, file, kind] = process.argv.slice(2);
let follower, how;
const onUpdate = ({ delta, failure }) => {
  if (failure) throw failure;
  how = delta ? 'delta' : 'whole';
};
const options = { keys: [key], interval: 1e9, onUpdate };
for await (const _ of createInterface({ input: process.stdin })) {
  how = 'same';
  if (follower) await follower.poll();
  else follower = await (kind ? followExact(url, { ...options, open: openExact }) : follow(url, { ...options, open }));
  await writeFile(file, follower.bytes);
  console.log(how);
}
follower?.close();
