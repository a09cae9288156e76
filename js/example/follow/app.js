// The page: follows a publisher, answers while one types, and shows what each update took.

import { follow } from '../../dist/follow.js';
import { open } from '../../dist/index.js';
import { domainOf, isListed } from '../domain.js';
import { ask, say, showError, showFailure, showUpdate, since, untilLoaded } from '../updates.js';
// The URL of the publisher and its public key. serve.mjs writes this module; a site has both in its program.
import { keys, url } from './publisher.js';

/** Milliseconds between two polls: short, because this page is for watching. */
const interval = 3000;

const element = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en');
const domain = element('domain');
let follower;
/** The answer that the page shows. */
let shown = {};

function show(fact, text) {
  document.querySelector(`[data-fact="${fact}"]`).textContent = text;
}

function answer() {
  const found = domainOf(domain.value);
  if (!found) return { state: 'none', title: 'Type a domain.', detail: 'The answer appears when it is complete.' };
  const { domain: name } = found;
  if (!isListed(follower.filter, found)) {
    return { name, state: 'no', title: `${name} is not blocked`, detail: 'This is certain.' };
  }
  const rate = Math.round(1 / follower.release.fpr_posterior);
  const detail = `It is on the list, or one of about 1 in ${number.format(rate)} other domains with this answer.`;
  return { name, state: 'yes', title: `${name} is blocked`, detail };
}

/** Shows the answer, and what a release has changed of it. */
function showAnswer(change = '') {
  shown = answer();
  element('verdict').dataset.state = shown.state;
  element('answer').textContent = shown.title;
  element('detail').textContent = shown.detail;
  element('changed').textContent = change;
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

let speaking;

/** Shows the answer at once, and announces it when the typing pauses. */
function typed() {
  showAnswer();
  clearTimeout(speaking);
  speaking = setTimeout(() => say('spoken', `${shown.title}${shown.name ? '.' : ''} ${shown.detail}`), 700);
}

/** Shows an update. If it changes the answer, the page shows and announces that. */
function updated(update) {
  if (!follower) return showUpdate(update); // the first release: follow has not returned yet
  const before = shown, { name, state } = answer();
  if (!name || name !== before.name || state === before.state) {
    showUpdate(update);
    return showAnswer(element('changed').textContent);
  }
  const change = `Release ${update.release.release} has changed this: it was ` +
    `${before.state === 'yes' ? 'blocked' : 'not blocked'} before.`;
  showAnswer(change);
  showUpdate(update, `${shown.title} now.`);
}

async function start() {
  const trust = keys.length ? { keys } : { insecure: true };
  // follow retries what may pass, and untilLoaded the rest: this page lives until the list is there.
  const onError = (error) => follower || showFailure(error);
  follower = await untilLoaded(() => follow(url, { ...trust, open, interval, onUpdate: updated, onError }), interval);
  domain.addEventListener('input', typed);
  element('poll').addEventListener('click', () => ask(follower));
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
