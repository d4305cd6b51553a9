/** Questions before something is done, and words after it. */
import { html, nothing, render } from 'lit';

const TOAST_MS = 6000;
const MOST_TOASTS = 4;

/**
 * Asks, and does it. The dialog stays open with what went wrong, or with how far it has come.
 *
 * @param act gets what was entered, and a function to show progress with; its text is said at the end
 */
export function ask({ title, text, reason = false, choice, confirm, danger = false, act }) {
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
    }
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
        ${choice
          ? html`<label>${choice.label}
              <select name="choice" ?disabled=${state.busy}>
                ${choice.options.map((each) => html`<option value=${each}>${each}</option>`)}
              </select></label>`
          : nothing}
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
  dialog.querySelector('input, select')?.focus();
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
