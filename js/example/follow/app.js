// The page: follows a publisher, answers while one types, and shows what each update took.

import { follow } from '../../dist/follow.js';
import { open } from '../../dist/index.js';
import { domainOf, isListed } from '../domain.js';
import { showError, showFailure, showUpdate, since, untilLoaded } from '../updates.js';
// The URL of the publisher and its public key. serve.mjs writes this module; a site has both in its program.
import { keys, url } from './publisher.js';

/** Milliseconds between two polls: short, because this page is for watching. */
const interval = 3000;

const element = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en');
const domain = element('domain');
let follower;

function show(fact, text) {
  document.querySelector(`[data-fact="${fact}"]`).textContent = text;
}

function answer() {
  const found = domainOf(domain.value);
  if (!found) return { state: 'none', title: 'Type a domain.', detail: 'The answer appears when it is complete.' };
  if (!isListed(follower.filter, found)) {
    return { state: 'no', title: `${found.domain} is not blocked`, detail: 'This is certain.' };
  }
  const rate = Math.round(1 / follower.release.fpr_posterior);
  const detail = `It is on the list, or one of about 1 in ${number.format(rate)} other domains with this answer.`;
  return { state: 'yes', title: `${found.domain} is blocked`, detail };
}

function showAnswer() {
  const { state, title, detail } = answer();
  element('verdict').dataset.state = state;
  element('answer').textContent = title;
  element('detail').textContent = detail;
}

function showFacts() {
  const { release, loaded } = follower;
  show('name', release.name);
  show('release', number.format(release.release));
  show('age', since(release.published));
  show('signature', keys.length ? 'verified' : 'none');
  show('keys', number.format(release.keys));
  show('bytes', `${number.format(release.bytes)} bytes`);
  show('rate', `${number.format(100 * release.fpr_posterior)}%`);
  show('loaded', `${number.format(loaded)} bytes`);
}

function updated(update) {
  showUpdate(update);
  if (follower) showAnswer(); // not the first release: follow has not returned yet
}

async function start() {
  const trust = keys.length ? { keys } : { insecure: true };
  // follow retries what may pass, and untilLoaded the rest: this page lives until the list is there.
  const onError = (error) => follower || showFailure(error);
  follower = await untilLoaded(() => follow(url, { ...trust, open, interval, onUpdate: updated, onError }), interval);
  domain.addEventListener('input', showAnswer);
  element('poll').addEventListener('click', () => follower.poll().catch(() => {}));
  for (const e of document.querySelectorAll('[disabled]')) e.disabled = false;
  showAnswer();
  const refresh = () => {
    showFacts();
    showError(follower.error);
  };
  refresh();
  setInterval(refresh, 500);
}

start().catch(showFailure);
