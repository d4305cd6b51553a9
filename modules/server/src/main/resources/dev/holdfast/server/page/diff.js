/** Patches with their files and colours, of each step or of all together. */
import { html, LitElement, nothing } from 'lit';
import { count } from './format.js';
import { copyButton } from './parts.js';

const MOST_LINES = 2000;

/** The files of a patch in git's format, with the lines of each. */
export function files(patch) {
  const all = [];
  for (const line of patch.split('\n')) {
    const begins = line.match(/^diff --git a\/(.*) b\/(.*)$/);
    if (begins) all.push({ name: begins[2], lines: [], added: 0, removed: 0 });
    const file = all.at(-1);
    if (!file || begins || /^(index |--- |\+\+\+ |similarity |rename |new file|deleted file|old mode|new mode)/.test(line)) {
      if (file && /^(new file|deleted file|rename to)/.test(line)) file.note = line;
      continue;
    }
    if (line.startsWith('+')) file.added++;
    if (line.startsWith('-')) file.removed++;
    file.lines.push(line);
  }
  return all;
}

const kindOf = (line) => (line.startsWith('@@') ? 'hunk' : line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : '');

class Diff extends LitElement {
  static properties = { patches: { attribute: false }, texts: { state: true }, error: { state: true } };
  #key = '';

  createRenderRoot() {
    return this;
  }

  willUpdate(changed) {
    const key = JSON.stringify(this.patches);
    if (changed.has('patches') && key !== this.#key) {
      this.#key = key;
      this.#read();
    }
  }

  async #read() {
    const key = this.#key;
    try {
      const texts = await Promise.all(this.patches.map(async ({ href }) => {
        const answer = await fetch(href);
        return answer.ok ? answer.text() : '';
      }));
      if (key === this.#key) Object.assign(this, { texts, error: null });
    } catch {
      this.error = 'The changes cannot be read now';
    }
  }

  render() {
    if (this.error) return html`<p class="dim">${this.error}</p>`;
    if (!this.texts) return html`<p class="dim">Loading …</p>`;
    return html`${this.patches.map(({ name }, i) => this.#patch(name, this.texts[i] ?? ''))}
      <div class="actions">${copyButton(this.texts.join(''), 'all changes')}</div>`;
  }

  #patch(name, text) {
    return files(text).map((file) => html`<details class="diff" ?open=${file.lines.length <= 60}>
      <summary><span class="mono wrap">${file.name}</span> <span class="good">+${count(file.added)}</span> <span class="badtext">−${count(file.removed)}</span> <span class="dim">${name}${file.note ? `, ${file.note}` : ''}</span></summary>
      <pre class="text" tabindex="0">${file.lines.slice(0, MOST_LINES).map((line) => html`<span class="line ${kindOf(line)}">${line || ' '}</span>`)}${file.lines.length > MOST_LINES ? html`<span class="dim">${count(file.lines.length - MOST_LINES)} more lines</span>` : nothing}</pre></details>`);
  }
}

customElements.define('hf-diff', Diff);
