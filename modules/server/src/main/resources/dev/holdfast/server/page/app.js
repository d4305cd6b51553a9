/** The frame around the pages: where one is, who one is, and whether what one sees is live. */
import { html, LitElement, nothing } from 'lit';
import './failures.js';
import './info.js';
import './job.js';
import './jobs.js';
import './notices.js';
import './overview.js';
import './queue.js';
import './queues.js';
import './runs.js';
import './schedules.js';
import './timeline.js';
import './worker.js';
import './workers.js';
import { attempt } from './dialogs.js';
import { clipped, showTimesIn, span } from './format.js';
import { showKeys, singleKeys } from './keys.js';
import { live } from './live.js';
import { get, post, remove, signedOut } from './server.js';
import { keep, stored } from './stored.js';

const PAGES = [
  ['', 'Overview', 'o'],
  ['queues', 'Queues', 'q'],
  ['jobs', 'Jobs', 'j'],
  ['runs', 'Runs', 'r'],
  ['failures', 'Failures', 'f'],
  ['schedules', 'Schedules', 's'],
  ['notices', 'Notices', 'n'],
  ['workers', 'Workers', 'w'],
  ['info', 'Info', 'i'],
];
const ICON = new URL('icon.svg', import.meta.url).pathname;
/** Pages of which there is one for each id as well. */
const SINGLE = { jobs: 'Job', queues: 'Queue', runs: 'Run', workers: 'Worker' };
const STATES = { connecting: 'connecting', live: 'live', lost: 'connection lost', asleep: 'asleep' };
const THEMES = ['system', 'light', 'dark'];
const ZONES = ['local', 'UTC'];

function theme(name) {
  if (name === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  document.dispatchEvent(new Event('themechange'));
}

theme(THEMES.includes(stored('holdfast-theme')) ? stored('holdfast-theme') : 'system');
showTimesIn(stored('holdfast-zone'));

class App extends LitElement {
  static properties = { session: { state: true }, error: { state: true }, route: { state: true }, theme: { state: true }, zone: { state: true }, signing: { state: true } };
  #went = 0;
  #shown = location.hash;

  constructor() {
    super();
    this.route = this.#where();
    this.theme = THEMES.includes(stored('holdfast-theme')) ? stored('holdfast-theme') : 'system';
    this.zone = ZONES.includes(stored('holdfast-zone')) ? stored('holdfast-zone') : 'local';
    addEventListener('hashchange', () => this.#navigated());
    addEventListener('keydown', (event) => this.#key(event));
    live.addEventListener('change', (event) => {
      if (event.what.has('connection') || event.what.has('health')) this.requestUpdate();
    });
    signedOut.addEventListener('signedout', () => this.#who());
    setInterval(() => document.hidden || this.requestUpdate(), 1000);
    this.#who();
  }

  /** The page begins with the header alone, which is shown until the scripts have been loaded. */
  createRenderRoot() {
    this.replaceChildren();
    return this;
  }

  /** Asked again until there is an answer: the server may only just be starting. */
  async #who() {
    try {
      this.session = await get('/v1/session');
      this.error = null;
      if (this.session.signedIn) live.start();
      else live.stop();
    } catch (failed) {
      this.error = failed.message;
      setTimeout(() => this.#who(), 2000);
    }
  }

  async #signIn(event) {
    event.preventDefault();
    const form = event.target;
    this.signing = { busy: true };
    try {
      await post('/v1/session', { key: form.elements.key.value });
      form.reset();
      this.signing = null;
      await this.#who();
    } catch (failed) {
      this.signing = { error: failed.message };
    }
  }

  async #signOut() {
    live.stop();
    await attempt(() => remove('/v1/session'));
    await this.#who();
  }

  #where() {
    const [path, search] = location.hash.replace(/^#\/?/, '').split('?', 2);
    const [page, id, ...more] = path.split('/');
    let job = null;
    try {
      job = id ? decodeURIComponent(id) : null;
    } catch {
      job = id;
    }
    const known = PAGES.some(([name]) => name === page) && (!id || page in SINGLE) && more.length === 0;
    return { page: known ? page : null, job, filter: Object.fromEntries(new URLSearchParams(search ?? '')) };
  }

  async #navigated() {
    // It may have been shown at once, without waiting for the browser to tell of it.
    if (location.hash === this.#shown) return;
    this.#shown = location.hash;
    const before = this.route;
    this.route = this.#where();
    await this.updateComplete;
    if (before.page !== this.route.page || before.job !== this.route.job) {
      scrollTo(0, 0);
      document.querySelector('main h1')?.focus({ preventScroll: true });
    }
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea, dialog')) return;
    if (!singleKeys.on) return;
    if (event.key === '/') {
      event.preventDefault();
      this.#went = 0;
      this.#search();
    } else if (event.key === '?') {
      showKeys(PAGES);
    } else if (event.key === 'u') {
      this.#switchZone();
    } else if (event.key === 't') {
      this.#switchTheme();
    } else if (event.key === 'g') {
      this.#went = Date.now();
    } else if (Date.now() - this.#went < 1500) {
      const page = PAGES.find(([, , key]) => key === event.key);
      if (page) location.hash = `#/${page[0]}`;
      this.#went = 0;
    }
  }

  /** All of it before the next key is pressed: what is typed after the slash is part of the search. */
  async #search() {
    if (this.route.page !== 'jobs' || this.route.job) {
      location.hash = '#/jobs';
      this.#shown = location.hash;
      this.route = this.#where();
      await this.updateComplete;
      await this.querySelector('hf-jobs')?.updateComplete;
      scrollTo(0, 0);
    }
    document.getElementById('search')?.focus();
  }

  #switchTheme() {
    this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length];
    keep('holdfast-theme', this.theme);
    theme(this.theme);
  }

  /** All times are drawn anew. */
  #switchZone() {
    this.zone = ZONES[(ZONES.indexOf(this.zone) + 1) % ZONES.length];
    keep('holdfast-zone', this.zone);
    showTimesIn(this.zone);
    document.querySelectorAll('main > *, hf-timeline').forEach((view) => view.requestUpdate?.());
  }

  updated(changed) {
    // Where there is no room for all pages, the one that is open is in sight.
    if (changed.has('route') || changed.has('session')) this.querySelector('nav a[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    const name = PAGES.find(([page]) => page === this.route.page)?.[1] ?? 'No such page';
    const title = `${(this.route.job && SINGLE[this.route.page]) || name} · Holdfast`;
    if (document.title !== title) document.title = title;
  }

  render() {
    return html`<a class="skip" href="#main" @click=${(event) => this.#skip(event)}>Skip to the content</a>
      <header>
        <a class="brand" href="#/"><img src=${ICON} alt="" width="22" height="22"> Holdfast</a>
        ${this.session?.signedIn
          ? html`<nav aria-label="Pages">${PAGES.map(([page, text]) => html`<a href="#/${page}" aria-current=${this.route.page === page ? 'page' : nothing}>${text}</a>`)}</nav>`
          : nothing}
        <div class="status">
          ${this.session?.signedIn ? this.#connection() : nothing}
          <button type="button" class="small" @click=${() => this.#switchZone()} title="Times in local time or UTC">${this.zone}<span class="hidden"> time</span></button>
          <button type="button" class="small" @click=${() => this.#switchTheme()} title="Light, dark or as the system">${this.theme}<span class="hidden"> colours</span></button>
          <button type="button" class="small" @click=${() => showKeys(PAGES)} aria-label="Keyboard shortcuts" title="Keyboard shortcuts">?</button>
          ${this.session?.expiresAt ? html`<span class="who dim" title=${`${this.session.role} until ${this.session.expiresAt}`}>${this.session.name}</span>
            <button type="button" class="small" @click=${() => this.#signOut()}>Sign out</button>` : nothing}
        </div>
      </header>
      <main id="main" tabindex="-1">${this.#page()}</main>
      <div id="toasts" role="status" aria-live="polite"></div>`;
  }

  #skip(event) {
    event.preventDefault();
    document.getElementById('main').focus();
  }

  #connection() {
    const { state, lostSince, health } = live;
    const trouble = state === 'live' && health && health.status !== 'healthy' ? health.status : null;
    const text = state === 'lost' && lostSince ? `${STATES.lost} ${span(Date.now() - lostSince)} ago` : STATES[state];
    return html`<span class="connection ${state}" id="connection" role="status" data-state=${state}><span class="dot"></span><span class="word">${text}</span></span>
      ${trouble ? html`<a class="badge s-${trouble}" href=${trouble === 'error' ? '#/info' : '#/'}>${trouble}</a>` : nothing}`;
  }

  #page() {
    if (!this.session) return this.error ? html`<p class="notice bad" role="alert">${this.error}; retrying</p>` : nothing;
    if (!this.session.signedIn) return this.#form();
    const { page, job, filter } = this.route;
    if (page === null) return this.#nowhere();
    if (page === 'jobs' && job) return html`<hf-job .session=${this.session} .jobId=${job} .tab=${filter.tab}></hf-job>`;
    if (page === 'queues' && job) return html`<hf-queue .session=${this.session} .queue=${job} .filter=${filter}></hf-queue>`;
    if (page === 'runs' && job) return html`<hf-run .session=${this.session} .runId=${job}></hf-run>`;
    if (page === 'workers' && job) return html`<hf-worker .session=${this.session} .component=${job} .supervisor=${filter.supervisor}></hf-worker>`;
    switch (page) {
      case 'runs':
        return html`<hf-runs .session=${this.session}></hf-runs>`;
      case 'queues':
        return html`<hf-queues .session=${this.session}></hf-queues>`;
      case 'jobs':
        return this.#jobs(filter);
      case 'failures':
        return html`<hf-failures .session=${this.session}></hf-failures>`;
      case 'schedules':
        return html`<hf-schedules .session=${this.session}></hf-schedules>`;
      case 'notices':
        return html`<hf-notices .session=${this.session}></hf-notices>`;
      case 'workers':
        return html`<hf-workers .session=${this.session}></hf-workers>`;
      case 'info':
        return html`<hf-info .session=${this.session}></hf-info>`;
      default:
        return html`<hf-overview .session=${this.session}></hf-overview>`;
    }
  }

  #jobs(filter) {
    return html`<hf-jobs .session=${this.session} .filter=${filter}></hf-jobs>`;
  }

  #nowhere() {
    return html`<h1 tabindex="-1">No such page</h1>
      <p class="notice warn wrap" role="alert">There is no page <code>${clipped(location.hash, 200)}</code>: the address may be mistyped, or from another version.</p>
      <p>${PAGES.map(([page, text], i) => html`${i ? ' · ' : ''}<a href="#/${page}">${text}</a>`)}</p>`;
  }

  #form() {
    return html`<form class="sign-in" @submit=${(event) => this.#signIn(event)}>
      <h1 tabindex="-1">Sign in</h1>
      <p>This server requires an API key. <span class="dim">Create one with <code>holdfast keys create --role operator</code>; a key of role viewer can read everything and change nothing.</span></p>
      <label>API key <input type="password" name="key" required maxlength="200" autocomplete="current-password" placeholder="hf_…" autofocus></label>
      ${this.signing?.error ? html`<p class="notice bad" role="alert">${this.signing.error}</p>` : nothing}
      <button type="submit" class="primary" ?disabled=${this.signing?.busy}>Sign in</button>
    </form>`;
  }
}

customElements.define('hf-app', App);
