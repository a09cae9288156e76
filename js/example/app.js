// The page: loads the filter, answers while one types, and shows what the filter costs.

import { fetchFilter } from '../dist/index.js';
import { domainOf, isListed } from './domain.js';
import { timeOfQuery } from './measure.js';

/** The most rows of the table of answers. */
const mostRows = 500;

/** A domain that the filter wrongly holds; the page offers it as an example. */
const wrongYes = 'yahoo.be';

const element = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en');
const address = element('address');
const lines = element('lines');
let filter;

/** Sets the text of all elements that show a fact. */
function show(fact, text) {
  for (const e of document.querySelectorAll(`[data-fact="${fact}"]`)) e.textContent = text;
}

/** Returns a function that calls f with the last arguments, once it has not been called for some milliseconds. */
function afterPause(milliseconds, f) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(f, milliseconds, ...args);
  };
}

// One address.

function answer() {
  const text = address.value;
  const found = domainOf(text);
  if (!found) {
    const hint = text.trim() === '' ? 'Type an address.' : 'No complete domain yet.';
    return { state: 'none', title: hint, detail: 'The answer appears with the domain, such as example.com.' };
  }
  const { domain } = found;
  if (!isListed(filter, found)) {
    return { state: 'no', title: `${domain} is not on the list`, detail: 'This is certain.' };
  }
  const detail =
    domain === wrongYes
      ? `This yes is wrong: ${domain} is an ordinary mail provider. About ${oneIn()} of the domains that are not on ` +
        'the list get a wrong yes.'
      : `All domains of the list get this answer, and about ${oneIn()} of all others.`;
  return { state: 'yes', title: `${domain} is probably on the list`, detail };
}

const speak = afterPause(600, (text) => (element('spoken').textContent = text));

function showAnswer() {
  const { state, title, detail } = answer();
  element('verdict').dataset.state = state;
  element('answer').textContent = title;
  element('detail').textContent = detail;
  speak(state === 'none' ? '' : `${title}. ${detail}`);
}

// Many addresses.

function showAnswers() {
  const texts = lines.value.split('\n');
  const rows = document.createDocumentFragment();
  const totals = { yes: 0, no: 0, none: 0 };
  const start = performance.now();
  const answers = texts.map((text) => {
    if (text.trim() === '') return undefined;
    const found = domainOf(text);
    const state = found ? (isListed(filter, found) ? 'yes' : 'no') : 'none';
    totals[state]++;
    return state;
  });
  const time = performance.now() - start;
  answers.forEach((state, i) => {
    if (state && rows.childElementCount < mostRows) rows.append(row(i + 1, texts[i], state));
  });
  element('rows').replaceChildren(rows);

  const all = totals.yes + totals.no + totals.none;
  element('results').hidden = all === 0;
  element('more').hidden = all <= mostRows;
  element('more').textContent = `The table has the first ${number.format(mostRows)} answers.`;
  const parts = [`${number.format(totals.yes)} probably on the list`, `${number.format(totals.no)} not`];
  if (totals.none > 0) parts.push(`${number.format(totals.none)} without a domain`);
  element('count').textContent =
    all === 0 ? 'Nothing to check yet.' : `${parts.join(', ')}. ${number.format(all)} lines in ${milliseconds(time)}.`;
}

function row(line, text, state) {
  const tr = document.createElement('tr');
  tr.dataset.state = state;
  const told = { yes: 'probably', no: 'no', none: 'no domain' }[state];
  for (const content of [number.format(line), text.trim(), told]) tr.insertCell().textContent = content;
  return tr;
}

// Facts.

function milliseconds(time) {
  return time < 1 ? 'less than 1 ms' : `${number.format(Math.round(time))} ms`;
}

function oneIn() {
  return `1 in ${number.format(Math.round(1 / filter.info().fprPlanned))}`;
}

function showFacts(time) {
  const info = filter.info();
  show('keys', number.format(info.keys));
  show('size', `${Math.round(info.bytes / 1000)} kB`);
  show('bytes', `${number.format(info.bytes)} bytes`);
  show('bits', info.bitsPerKey.toFixed(2));
  show('rate', `${number.format(info.fprPlanned * 100)}%, ${oneIn()}`);
  show('oneIn', oneIn());
  const extra = Math.round(980 * info.fprPlanned);
  show('extra', number.format(extra));
  show('flagged', number.format(20 + extra));
  show('family', info.family);
  show('form', info.wasm ? 'WebAssembly' : 'plain JavaScript');
  show('open', milliseconds(time));
}

function showTime() {
  show('query', `${Math.round(timeOfQuery(filter))} ns`);
}

// Start.

async function start() {
  const began = performance.now();
  filter = await fetchFilter('disposable.bloom');
  showFacts(performance.now() - began);

  address.addEventListener('input', showAnswer);
  const showLater = afterPause(150, showAnswers);
  lines.addEventListener('input', showLater);
  for (const button of document.querySelectorAll('[data-try]')) {
    button.addEventListener('click', () => {
      address.value = button.dataset.try;
      showAnswer();
    });
  }
  element('sample').addEventListener('click', async () => {
    lines.value = await (await fetch('sample.txt')).text();
    showAnswers();
  });
  element('clear').addEventListener('click', () => {
    lines.value = '';
    showAnswers();
    lines.focus();
  });
  element('measure').addEventListener('click', showTime);
  for (const e of document.querySelectorAll('[disabled]')) e.disabled = false;
  showAnswer();
  setTimeout(showTime, 200); // after the first picture
}

start().catch((error) => {
  element('failure').textContent = `The filter could not be loaded: ${error.message}`;
  element('failure').hidden = false;
  element('verdict').dataset.state = 'failed';
  element('answer').textContent = 'No filter';
});
