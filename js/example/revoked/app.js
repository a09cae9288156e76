// The page: opens an exact set of certificates and answers while one types. It follows a publisher if there is one, and
// shows what each update took. Else it compares all answers with the truth.

import { openExact } from '../../dist/exact.js';
import { ask, showError, showFailure, showUpdate, since, untilLoaded } from '../updates.js';
import { certificate, issuers } from './list.js';
import { keys, url } from './publisher.js';

/** Milliseconds between two polls: short, because this page is for watching. */
const interval = 3000;

const element = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en');
const issuer = element('issuer'), serial = element('serial');
let set;

/** Sets the text of all elements that show a fact. */
function show(fact, text) {
  for (const e of document.querySelectorAll(`[data-fact="${fact}"]`)) e.textContent = text;
}

function answer() {
  const text = serial.value.trim().toLowerCase(), { name } = issuers[issuer.value];
  if (!/^[0-9a-f]{16}$/.test(text)) {
    const missing = 16 - text.length;
    const detail = missing > 0 && missing < 16 ? `${missing} more.` : 'Or fill in an example.';
    return { state: 'none', title: 'Type 16 hexadecimal digits.', detail };
  }
  const detail = `This is certain if ${name} has issued it and the set was built with it.`;
  if (set.hasIn(name, text)) return { state: 'yes', title: 'Revoked', detail };
  return { state: 'no', title: 'Not revoked', detail };
}

function showAnswer() {
  const { state, title, detail } = answer();
  element('verdict').dataset.state = state;
  element('answer').textContent = title;
  element('detail').textContent = detail;
}

/** Fills in a certificate of the chosen issuer, each time another one, or says that the issuer has none like that. */
function fill(revoked) {
  const { certificates, name } = issuers[issuer.value], from = Math.floor(Math.random() * certificates);
  for (let i = 0; i < certificates; i++) {
    const found = certificate(Number(issuer.value), (from + i) % certificates);
    if (set.hasIn(name, found.serial) !== revoked) continue;
    serial.value = found.serial;
    return showAnswer();
  }
  serial.value = '';
  showAnswer();
  element('answer').textContent = `${name} has ${revoked ? 'revoked none' : 'revoked all'}.`;
  element('detail').textContent = 'Choose another issuer.';
}

/** Compares the answers for all certificates, issuer after issuer, with pauses so that the page stays usable. */
async function checkAll() {
  let asked = 0, wrong = 0, time = 0;
  element('all').disabled = true;
  for (const [i, { name, certificates }] of issuers.entries()) {
    const list = Array.from({ length: certificates }, (_, j) => certificate(i, j));
    const start = performance.now();
    const bad = list.filter(({ serial, revoked }) => set.hasIn(name, serial) !== revoked).length;
    time += performance.now() - start;
    asked += certificates;
    wrong += bad;
    element('rows').rows[i].cells[3].textContent = number.format(bad);
    await new Promise((resolve) => setTimeout(resolve));
  }
  const each = Math.round((1e6 * time) / asked);
  element('total').textContent = `${number.format(asked)} answers, ${number.format(wrong)} wrong, ` +
    `${number.format(each)} ns each.`;
  element('all').disabled = false;
}

function showFacts() {
  const { universe, members, partitions, bytes } = set.info();
  show('bytes', `${number.format(bytes)} bytes`);
  show('size', `${(bytes / 1000).toFixed(1)} kB`);
  show('universe', number.format(universe));
  show('members', number.format(members));
  show('partitions', number.format(partitions));
  show('bits', ((8 * bytes) / members).toFixed(2));
  show('list', `${number.format(8 * members)} bytes`);
}

function showIssuers() {
  issuers.forEach(({ name, certificates }, i) => {
    issuer.add(new Option(name, String(i)));
    const revoked = Array.from({ length: certificates }, (_, j) => certificate(i, j)).filter((c) => c.revoked).length;
    const row = element('rows').insertRow();
    for (const text of [name, number.format(certificates), number.format(revoked), '–']) {
      row.insertCell().textContent = text;
    }
  });
}

/** Opens the file beside the page. */
async function openFile() {
  const before = performance.now(), response = await fetch('revoked.exact');
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  set = await openExact(await response.arrayBuffer());
  const milliseconds = performance.now() - before;
  show('open', `${milliseconds < 1 ? 'less than 1' : number.format(Math.round(milliseconds))} ms`);
  element('all').addEventListener('click', checkAll);
}

/** Follows the publisher. */
async function followPublisher() {
  const { followExact } = await import('../../dist/follow.js');
  const trust = keys.length ? { keys } : { insecure: true };
  let follower;
  const showRelease = () => {
    const { release, loaded, error } = follower;
    show('release', number.format(release.release));
    show('age', since(release.published));
    show('signature', keys.length ? 'verified' : 'none');
    show('loaded', `${number.format(loaded)} bytes`);
    showError(error);
  };
  const onUpdate = (update) => {
    showUpdate(update);
    if (!follower) return; // the first release: follow has not returned yet
    set = follower.filter;
    showFacts();
    showAnswer();
  };
  const options = { ...trust, open: openExact, interval, onUpdate, onError: (error) => follower || showFailure(error) };
  follower = await untilLoaded(() => followExact(url, options), interval);
  set = follower.filter;
  element('poll').addEventListener('click', () => ask(follower));
  showRelease();
  setInterval(showRelease, 500);
}

async function start() {
  for (const e of document.querySelectorAll(`[data-from=${url ? 'publisher' : 'file'}]`)) e.hidden = false;
  await (url ? followPublisher() : openFile());
  showFacts();
  showIssuers();
  issuer.addEventListener('change', showAnswer);
  serial.addEventListener('input', showAnswer);
  for (const button of document.querySelectorAll('[data-try]')) {
    button.addEventListener('click', () => fill(button.dataset.try === 'revoked'));
  }
  for (const e of document.querySelectorAll('[disabled]')) e.disabled = false;
  showAnswer();
}

start().catch((error) => {
  element('failure').hidden = false;
  element('failure').textContent = `The set cannot be used: ${error.message}`;
  element('verdict').dataset.state = 'failed';
  element('answer').textContent = 'No set';
});
