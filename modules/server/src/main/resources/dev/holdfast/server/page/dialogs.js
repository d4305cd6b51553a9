/** Questions before something is done, and words after it. */
import { html, nothing, render } from 'lit';

const TOAST_MS = 6000;
const MOST_TOASTS = 4;

/** A field of a form: of one line, perhaps with suggestions, of several, or with options. */
function control({ name, value = '', type = 'text', rows, options, list, required = false, pattern, min, max, step }, disabled) {
  if (options) {
    return html`<select name=${name} ?disabled=${disabled}>${options.map((each) => html`<option value=${each} ?selected=${each === value}>${each.toLowerCase()}</option>`)}</select>`;
  }
  return rows
    ? html`<textarea name=${name} rows=${rows} spellcheck="false" .value=${value} ?disabled=${disabled}></textarea>`
    : html`<input name=${name} type=${type} value=${value} ?required=${required} pattern=${pattern ?? nothing} min=${min ?? nothing} max=${max ?? nothing} step=${step ?? nothing} list=${list ? `${name}-list` : nothing} autocomplete="off" spellcheck="false" ?disabled=${disabled}>
        ${list ? html`<datalist id="${name}-list">${list.map((each) => html`<option value=${each}></option>`)}</datalist>` : nothing}`;
}

/**
 * Asks, and does it. The dialog stays open with what went wrong, or with how far it has come.
 *
 * @param act gets what was entered, and a function to show progress with; its text is said at the end
 */
export function ask({ title, text, reason = false, fields = [], confirm, danger = false, act }) {
  const dialog = document.createElement('dialog');
  const state = { busy: false, error: null, done: null, total: null, stopped: false };
  document.body.append(dialog);

  const progress = (done, total) => {
    Object.assign(state, { done, total });
    draw();
    return !state.stopped;
  };
  const submit = async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    Object.assign(state, { busy: true, error: null });
    draw();
    try {
      const said = await act(given, progress);
      dialog.close();
      if (said) toast(said);
    } catch (failed) {
      Object.assign(state, { busy: false, error: failed.message });
      draw();
      show(failed);
    }
  };
  /** The field that was refused, and in a text the place. */
  const show = ({ field, at }) => {
    const refused = field ? dialog.querySelector(`[name=${field}]`) : null;
    refused?.focus();
    if (refused && typeof at === 'number') refused.setSelectionRange(at, Math.min(at + 1, refused.value.length));
  };
  const cancel = () => {
    state.stopped = true;
    if (!state.busy) dialog.close();
  };

  function draw() {
    render(
      html`<form @submit=${submit} aria-labelledby="dialog-title">
        <h2 id="dialog-title">${title}</h2>
        <p class="wrap">${text}</p>
        ${fields.map((each) => html`<label>${each.label} ${control(each, state.busy)}</label>`)}
        ${reason
          ? html`<label>Reason <span class="dim">(optional, stored in the timeline)</span>
              <input name="reason" maxlength="500" autocomplete="off" ?disabled=${state.busy}></label>`
          : nothing}
        ${state.error ? html`<p class="notice bad wrap" role="alert">${state.error}</p>` : nothing}
        ${state.done !== null
          ? html`<p role="status"><progress max=${state.total || 1} value=${Math.min(state.done, state.total)}></progress>
              ${state.done.toLocaleString('en')} of ${state.total.toLocaleString('en')}</p>`
          : nothing}
        <div class="actions">
          <button type="button" @click=${cancel}>${state.busy && state.done !== null ? 'Stop' : 'Close'}</button>
          <button type="submit" class=${danger ? 'danger' : 'primary'} ?disabled=${state.busy}>${confirm}</button>
        </div>
      </form>`,
      dialog,
    );
  }

  draw();
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    cancel();
  });
  dialog.addEventListener('close', () => dialog.remove());
  dialog.showModal();
  dialog.querySelector('input, select, textarea')?.focus();
  return new Promise((done) => dialog.addEventListener('close', done));
}

const toasts = [];

export function toast(text, kind = 'good') {
  const box = document.getElementById('toasts');
  if (!box) return;
  const entry = { text, kind };
  toasts.push(entry);
  if (toasts.length > MOST_TOASTS) toasts.shift();
  const draw = () => render(toasts.map((each) => html`<p class="toast ${each.kind}">${each.text}</p>`), box);
  draw();
  setTimeout(() => {
    const at = toasts.indexOf(entry);
    if (at >= 0) toasts.splice(at, 1);
    draw();
  }, TOAST_MS);
}

/** Does it at once, for what is undone as easily. */
export async function attempt(act, said) {
  try {
    await act();
    if (said) toast(said);
    return true;
  } catch (failed) {
    toast(failed.message, 'bad');
    return false;
  }
}
