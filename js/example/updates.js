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

/** Adds an update to the table. */
export function showUpdate({ release, delta, loaded }) {
  const row = element('updates').insertRow(0), how = delta ? 'delta' : 'whole file';
  for (const text of [number.format(release.release), how, number.format(loaded)]) row.insertCell().textContent = text;
  element('spoken').textContent = `Release ${release.release}, ${how}, ${loaded} bytes`;
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
  showError(error);
  element('failure').textContent = `The list cannot be loaded: ${error.message}. The page tries again.`;
  element('verdict').dataset.state = 'failed';
  element('answer').textContent = 'No list';
}

/** Shows an error, or none. */
export function showError(error) {
  element('failure').hidden = !error;
  element('failure').textContent = error ? `The list is not current: ${error.message}` : '';
}
