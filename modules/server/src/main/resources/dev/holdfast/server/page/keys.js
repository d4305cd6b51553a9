/** The keyboard shortcuts, in a dialog. */
import { html, render } from 'lit';
import { keep, stored } from './stored.js';

const OTHERS = [['/', 'search jobs'], ['u', 'local time or UTC'], ['t', 'light, dark or the system’s colours'], ['?', 'this list']];

let on = stored('holdfast-keys') !== 'off';

/** Whether single keys do something: whoever speaks to the computer, or hits keys by mistake, turns them off. */
export const singleKeys = {
  get on() {
    return on;
  },
  set on(yes) {
    on = yes;
    keep('holdfast-keys', yes ? 'on' : 'off');
  },
};

export function showKeys(pages) {
  if (document.querySelector('dialog[open]')) return;
  const dialog = document.createElement('dialog');
  const keys = [...pages.map(([, name, key]) => [`g ${key}`, name.toLowerCase()]), ...OTHERS];
  render(
    html`<h2 id="keys-title">Keyboard shortcuts</h2>
      <dl class="keys">${keys.map(([key, what]) => html`<div><dt>${key.split(' ').map((each) => html`<kbd>${each}</kbd> `)}</dt><dd>${what}</dd></div>`)}</dl>
      <label class="check"><input type="checkbox" name="keys" .checked=${singleKeys.on} @change=${(event) => (singleKeys.on = event.target.checked)}> Keys do this when they are pressed alone</label>
      <div class="actions"><button type="button" class="primary" @click=${() => dialog.close()}>Close</button></div>`,
    dialog,
  );
  dialog.setAttribute('aria-labelledby', 'keys-title');
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
