/** What several pages show. Everything that jobs bring along is text here, and never markup. */
import { html, LitElement, nothing } from 'lit';
import { clipped, exactly, millis, moment, now, shortId, span } from './format.js';
import { live } from './live.js';
import { toast } from './dialogs.js';

/** So often it is looked at what the stream does not tell of, or tells of only when something happens. */
export const QUIET_MS = 30_000;

/** So long a finger is still there, as it were. */
const TOUCHED_MS = 5000;

/** On a phone each row is a card, in which a number stands beside the name of its column. */
function nameCells(view) {
  for (const table of view.querySelectorAll('table')) {
    const heads = [...table.tHead.rows[0].cells].map((head) => (head.querySelector('.hidden') ? '' : head.textContent.replace(/[▲▼]/, '').trim()));
    for (const cell of table.querySelectorAll('tbody td.r:not([data-name])')) cell.dataset.name = heads[cell.cellIndex] ?? '';
  }
}

/** A page of the page: drawn into the document itself, so that the one stylesheet holds. */
export class View extends LitElement {
  static properties = { session: { attribute: false }, error: { state: true } };
  #timers = [];
  #gathered = 0;
  #reading = null;
  #readAt = 0;
  #onChange = (event) => this.changed(event);
  #orders = new Map();
  #pointedAt = null;
  #touchedAt = 0;

  /** A mouse is somewhere; a finger was. */
  #onPointer = ({ type, pointerType, target }) => {
    this.#pointedAt = type === 'pointerleave' && pointerType !== 'touch' ? null : target;
    this.#touchedAt = pointerType === 'touch' ? Date.now() : 0;
  };

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    live.addEventListener('change', this.#onChange);
    this.addEventListener('pointerover', this.#onPointer);
    this.addEventListener('pointerdown', this.#onPointer);
    this.addEventListener('pointerleave', this.#onPointer);
    this.#timers.push(setInterval(() => document.hidden || this.requestUpdate(), 1000));
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    live.removeEventListener('change', this.#onChange);
    ['pointerover', 'pointerdown', 'pointerleave'].forEach((type) => this.removeEventListener(type, this.#onPointer));
    this.#timers.splice(0).forEach(clearInterval);
    clearTimeout(this.#gathered);
    this.#gathered = 0;
    this.#reading?.abort();
    this.#reading = null;
  }

  get mayOperate() {
    return this.session?.permissions.includes('operate') ?? false;
  }

  /** Queues, workers and schedules are not for the key of one tenant to steer. */
  get mayOperateAll() {
    return this.mayOperate && this.session.tenant === null;
  }

  /** Whether somebody points at this list, has just touched it, or has the focus in it. */
  isPointedAt(name) {
    const list = this.querySelector(`[data-steady=${name}] tbody`);
    const there = list?.contains(this.#pointedAt) && (!this.#touchedAt || Date.now() - this.#touchedAt < TOUCHED_MS);
    return Boolean(list && (there || (list.contains(document.activeElement) && list.querySelector(':focus-visible'))));
  }

  /** In the order in which it comes, but not while somebody points at it: then what is new is at the end. */
  steady(name, items, keyOf) {
    const order = this.#orders.get(name);
    if (order && this.isPointedAt(name)) {
      const places = new Map(order.map((key, i) => [key, i]));
      const place = (item) => places.get(keyOf(item)) ?? Infinity;
      items = [...items].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
    }
    this.#orders.set(name, items.map(keyOf));
    return items;
  }

  /** What comes next is in its own order. */
  unsteady(name) {
    this.#orders.delete(name);
  }

  /** Calls it now and again, while somebody looks. */
  every(ms, action) {
    this.#timers.push(setInterval(() => document.hidden || action(), ms));
  }

  /**
   * Reads what is not in the stream: however often it is asked for, not more than so often, and one at a time, or a slow
   * server would be asked again and again and never heard. With 0 it is something else that is wanted now.
   */
  refresh(atMostEveryMs = 1000) {
    if (atMostEveryMs === 0) {
      this.#reading?.abort();
      this.#reading = null;
      clearTimeout(this.#gathered);
      this.#gathered = 0;
    }
    if (this.#gathered) return;
    const wait = atMostEveryMs === 0 ? 0 : Math.max(0, this.#readAt + atMostEveryMs - Date.now());
    this.#gathered = setTimeout(() => {
      this.#gathered = 0;
      if (this.#reading) this.refresh(atMostEveryMs + 250);
      else this.#readNow();
    }, wait);
  }

  /** Ends what is being read, and keeps what came of it. */
  stop() {
    this.#reading?.abort();
    this.#reading = null;
  }

  async #readNow() {
    const reading = new AbortController();
    this.#reading = reading;
    this.#readAt = Date.now();
    try {
      await this.read(reading.signal);
      if (!reading.signal.aborted) this.error = null;
    } catch (failed) {
      if (!reading.signal.aborted) this.error = failed;
    }
    if (this.#reading === reading) {
      this.#reading = null;
      this.requestUpdate();
    }
  }

  async read() {}

  /** Shows each answer as soon as it is there, and not the fast ones with the slowest. */
  async showEach(signal, ...answers) {
    await Promise.all(
      answers.map(async (answer) => {
        const values = await answer;
        if (!signal.aborted) Object.assign(this, values);
      }),
    );
  }

  updated() {
    nameCells(this);
  }

  changed() {
    this.requestUpdate();
  }

  trouble() {
    return this.error ? html`<p class="notice bad wrap" role="alert">${this.error.message}</p>` : nothing;
  }
}

/** Nothing to say: left out where each row is a card. */
export const none = html`<span class="none dim">–</span>`;

export const badge = (state) => html`<span class="badge s-${String(state).toLowerCase()}">${String(state).toLowerCase()}</span>`;
/** By whom and why something is paused: after a blank, and nothing if it is not known. */
export const pausedBy = (pause) => `${pause?.by ? ` by ${pause.by}` : ''}${pause?.reason ? `: ${pause.reason}` : ''}`;

/** Of a queue: whether it is paused by itself, with all workers, or not. */
export const pauseBadge = (queue) =>
  queue?.pausedAt ? badge('paused') : queue?.workersPausedAt ? html`<span class="badge s-paused" title="'Resume all' on the page of workers">all workers paused</span>` : nothing;

export const jobLink = (id) => html`<a class="mono" href="#/jobs/${encodeURIComponent(id)}" title=${id}>${shortId(id)}</a>`;

const pageOf = ({ component, supervisor, workerId }) => (supervisor ? `#/workers/${encodeURIComponent(component)}?${new URLSearchParams({ supervisor })}` : `#/workers/${encodeURIComponent(workerId ?? component)}`);

/** Its name, and where the user may see its page, a link to that. */
export const workerPage = (worker, view) => (!worker.supervisor || view.session?.tenant === null ? html`<a class="cut" href=${pageOf(worker)}>${worker.component}</a>` : cut(worker.component));

/** The same for a process that a job ran in: 'worker:mail:0@host.4711.x3f7' is one process of 'worker:mail:0'. */
export function workerLink(id) {
  const component = String(id).split('@', 1)[0];
  const of = [...live.workers.values()].filter((each) => each.component === component && each.supervisor);
  return of.length === 1 ? html`<a class="cut" title=${id} href=${pageOf(of[0])}>${id}</a>` : cut(id);
}

export const jobsLink = (filter, text) => html`<a href="#/jobs?${new URLSearchParams(filter)}">${text}</a>`;

export const time = (iso) => (iso ? html`<time datetime=${iso} title=${exactly(iso)}>${moment(iso)}</time>` : none);

export const ago = (iso) =>
  iso
    ? html`<time datetime=${iso} title=${exactly(iso)}>${span(Math.max(0, Math.floor((now() - millis(iso)) / 1000) * 1000))}</time>`
    : none;

export function progressBar(percent, message) {
  if (percent == null) return none;
  return html`<span class="progress"><progress max="100" value=${percent} aria-label="progress"></progress>
    <span class="num">${percent} %</span></span>
    ${message ? html`<span class="dim cut" title=${clipped(message)}>${clipped(message, 120)}</span>` : nothing}`;
}

/** Text that may be anything and any length, on one line. */
export const cut = (text, most = 200) =>
  text ? html`<span class="cut" title=${clipped(text, 600)}>${clipped(text, most)}</span>` : none;

/** The same where there is room for more. */
export const long = (text) =>
  text ? html`<span class="cut long" title=${clipped(text, 600)}>${clipped(text, 400)}</span>` : none;

/** What went wrong first, then its codes: that all attempts are used up does not say what to do. */
export function failureNote(failure) {
  const root = failure.cause ?? failure;
  return html`<span class="cut long" title=${clipped(root.message, 600)}>${clipped(root.message, 400)}</span>
    <span class="code">${clipped(root.code, 60)}</span>${failure.cause ? html` <span class="code dim">${clipped(failure.code, 60)}</span>` : nothing}`;
}

/** The beginning of a payload, so that jobs of one kind can be told apart. */
export function payloadNote(payload) {
  if (payload == null || (typeof payload === 'object' && Object.keys(payload).length === 0)) return none;
  const text = JSON.stringify(payload);
  return html`<span class="cut long mono dim" title=${clipped(text, 600)}>${clipped(text.replace(/^\{(.*)\}$/s, '$1'), 160)}</span>`;
}

export const empty = (columns, text) => html`<tr><td class="dim empty" colspan=${columns}>${text}</td></tr>`;

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast('Copied');
  } catch {
    // Browsers give the clipboard to safe origins only; elsewhere there is the old way.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    toast(done ? 'Copied' : 'The browser refused to copy', done ? 'good' : 'bad');
  }
}

export const copyButton = (text, what) =>
  html`<button type="button" class="small" @click=${() => copy(text)} aria-label="Copy ${what}">Copy ${what}</button>`;
