/** Patches with their files and colours, of all steps together or of each. */
import { html, LitElement, nothing } from 'lit';
import { count } from './format.js';
import { copyButton } from './parts.js';

const MOST_LINES = 2000;

/** The files of a patch in git's format, with the lines of each. */
export function files(patch) {
  const all = [];
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const begins = line.match(/^diff --git a\/(.*) b\/(.*)$/);
    if (begins) all.push({ before: begins[1], name: begins[2], lines: [], added: 0, removed: 0 });
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

/** The files of all patches together, each with what every step changed in it, in the order of the steps. */
export function combined(patches) {
  const all = new Map();
  for (const { name: step, text } of patches) {
    for (const file of files(text)) {
      const earlier = all.get(file.before) ?? { steps: [], lines: [], added: 0, removed: 0 };
      all.delete(file.before);
      all.set(file.name, {
        name: file.name,
        note: [earlier.note, file.note].filter(Boolean).join(', '),
        steps: [...earlier.steps, step],
        lines: [...earlier.lines, { step }, ...file.lines],
        added: earlier.added + file.added,
        removed: earlier.removed + file.removed,
      });
    }
  }
  // Where one step alone changed a file, it is named beside the file and not once more within.
  return [...all.values()].map((file) => (file.steps.length > 1 ? file : { ...file, lines: file.lines.slice(1) }));
}

const kindOf = (line) => (line.step ? 'step' : line.startsWith('@@') ? 'hunk' : line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : '');

class Diff extends LitElement {
  static properties = { patches: { attribute: false }, whole: { attribute: false }, texts: { state: true }, error: { state: true }, bySteps: { state: true } };
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
    const patches = this.patches.map(({ name }, i) => ({ name, text: this.texts[i] ?? '' }));
    const all = this.bySteps ? patches.flatMap(({ name, text }) => files(text).map((file) => ({ ...file, steps: [name] }))) : combined(patches);
    const sum = (what) => count(all.reduce((total, file) => total + file[what], 0));
    const choice = (bySteps, text) => html`<button type="button" class="small" aria-pressed=${Boolean(this.bySteps) === bySteps ? 'true' : 'false'} @click=${() => (this.bySteps = bySteps)}>${text}</button>`;
    return html`<div class="actions">
        ${patches.length > 1 ? html`<div class="choice" role="group" aria-label="Changes of all steps together, or step by step">${choice(false, 'All steps')}${choice(true, 'By step')}</div>` : nothing}
        <span class="dim">${count(all.length)} ${all.length === 1 ? 'file' : 'files'}</span> <span class="good">+${sum('added')}</span> <span class="badtext">−${sum('removed')}</span>
        <a class="button" href=${this.whole} download>Download as one patch</a> ${copyButton(this.texts.join(''), 'patch')}</div>
      ${all.map((file) => this.#file(file))}`;
  }

  #file(file) {
    const notes = [...file.steps, ...(file.note ? [file.note] : [])].join(', ');
    return html`<details class="diff" ?open=${file.lines.length <= 60}>
      <summary><span class="mono wrap">${file.name}</span> <span class="good">+${count(file.added)}</span> <span class="badtext">−${count(file.removed)}</span> <span class="dim">${notes}</span></summary>
      <pre class="text" tabindex="0">${file.lines.slice(0, MOST_LINES).map((line) => html`<span class="line ${kindOf(line)}">${line.step ?? (line || ' ')}</span>`)}${file.lines.length > MOST_LINES ? html`<span class="dim">${count(file.lines.length - MOST_LINES)} more lines</span>` : nothing}</pre></details>`;
  }
}

customElements.define('hf-diff', Diff);
