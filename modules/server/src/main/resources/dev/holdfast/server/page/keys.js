/** The keyboard shortcuts, in a dialog. */
import { html, render } from 'lit';

const OTHERS = [['/', 'search jobs'], ['u', 'local time or UTC'], ['t', 'light, dark or the system’s colours'], ['?', 'this list']];

export function showKeys(pages) {
  if (document.querySelector('dialog[open]')) return;
  const dialog = document.createElement('dialog');
  const keys = [...pages.map(([, name, key]) => [`g ${key}`, name.toLowerCase()]), ...OTHERS];
  render(
    html`<h2 id="keys-title">Keyboard shortcuts</h2>
      <dl class="keys">${keys.map(([key, what]) => html`<div><dt>${key.split(' ').map((each) => html`<kbd>${each}</kbd> `)}</dt><dd>${what}</dd></div>`)}</dl>
      <div class="actions"><button type="button" class="primary" @click=${() => dialog.close()}>Close</button></div>`,
    dialog,
  );
  dialog.setAttribute('aria-labelledby', 'keys-title');
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
