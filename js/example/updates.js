// What the pages that follow a publisher show: the age of a release, the updates, and why the last poll failed.

const element = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en');

/** The time since a moment, in its largest unit. */
export function since(time) {
  const seconds = Math.max(0, (Date.now() - Date.parse(time)) / 1000), text = new Intl.RelativeTimeFormat('en');
  if (seconds < 60) return 'less than a minute ago';
  if (seconds < 3600) return text.format(-Math.floor(seconds / 60), 'minute');
  if (seconds < 86_400) return text.format(-Math.floor(seconds / 3600), 'hour');
  return text.format(-Math.floor(seconds / 86_400), 'day');
}

/** Sets the text of an element, unless it has it: screen readers would say it again. */
export function say(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;
}

/** Adds an update to the table, and announces it with what it has changed. */
export function showUpdate({ release, delta, loaded }, change = '') {
  const row = element('updates').insertRow(0), how = delta ? 'delta' : 'whole file';
  for (const text of [number.format(release.release), how, number.format(loaded)]) row.insertCell().textContent = text;
  say('spoken', `${change} Release ${release.release}, ${how}, ${loaded} bytes.`.trim());
}

/** Asks for a new release, and says what came of it. */
export async function ask(follower) {
  const time = () => new Date().toLocaleTimeString('en', { hour12: false });
  say('asked', 'Asking …');
  try {
    const isNew = await follower.poll(), { release } = follower.release;
    say('asked', isNew ? `Release ${release} is here.` : `Nothing new at ${time()}: release ${release} is the newest.`);
  } catch {
    say('asked', `No new release at ${time()}: see the message above.`);
  }
}

/** Calls load until it succeeds, shows meanwhile why it fails, and returns what it loads. */
export async function untilLoaded(load, interval) {
  for (;;) {
    try {
      return await load();
    } catch (error) {
      showFailure(error);
    }
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}

/** Shows that there is nothing yet, and why. */
export function showFailure(error) {
  element('failure').hidden = false;
  say('failure', `The list cannot be loaded: ${error.message}. The page tries again.`);
  element('verdict').dataset.state = 'failed';
  element('answer').textContent = 'No list';
}

/** What a rollback is, for those who see one. */
const rollback = 'This is a rollback: someone with control of the server, or a mirror that stopped, offers an old ' +
  'list, in which new entries are missing. The page keeps the newer one.';

/** Shows an error, or none. */
export function showError(error) {
  element('failure').hidden = !error;
  const more = error?.reason === 'older' ? ` ${rollback}` : '';
  say('failure', error ? `The list is not current: ${error.message}.${more}` : '');
}
