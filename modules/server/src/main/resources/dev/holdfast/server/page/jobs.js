/** Jobs found by a search, page by page, with counts beside the list; and what is done to many of them. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { live as bound } from 'lit-html/directives/live.js';
import { among, applicable, bulk } from './bulk.js';
import { enqueue } from './enqueue.js';
import { count, millis, moment, now, span } from './format.js';
import { live } from './live.js';
import { ago, badge, cut, empty, failureNote, jobLink, long, none, payloadNote, progressBar, QUIET_MS, View } from './parts.js';
import { fromFilter, isContent, statesOf, suggestions, termOf, without, withTerm } from './search.js';
import { get, query } from './server.js';
import { STATES } from './states.js';
import { waitNote } from './waits.js';

const PAGE = 50;
const MOST_FACETS = 12;
/** How long one search goes on by itself. */
const TIMEOUT_MS = 10_000;
const COUNTS_MS = 10_000;
const VIEWS = [['', 'All'], ['state:failed age:<1h', 'Failed, last hour'], ['state:running', 'Running'], ['state:retrying', 'Retrying'], ['state:waiting', 'Waiting'], ['code:TOXIC_JOB', 'Crashed their workers']];

const took = (job) => {
  const end = millis(job.finishedAt) ?? (job.state === 'RUNNING' ? now() : null);
  return job.startedAt && end ? end - millis(job.startedAt) : null;
};

/** What the jobs of a page are sorted by; all jobs can be sorted by their age alone, for which there is an index. */
const COLUMNS = {
  state: ['State', (job) => STATES.indexOf(job.state)],
  kind: ['Kind', (job) => job.kind],
  queue: ['Queue', (job) => job.queue],
  attempt: ['Attempt', (job) => job.attempt],
  age: ['Age', null],
  took: ['Took', (job) => took(job) ?? -1],
};

const narrow = matchMedia('(max-width: 900px)');

/** A cursor begins with the time of a job. */
const timeOf = (cursor) => cursor.slice(0, cursor.indexOf('_'));

class Jobs extends View {
  static properties = {
    filter: { attribute: false },
    jobs: { state: true },
    next: { state: true },
    searched: { state: true },
    before: { state: true },
    chosen: { state: true },
    counts: { state: true },
    typed: { state: true },
    searching: { state: true },
    held: { state: true },
  };
  #countedAt = 0;

  constructor() {
    super();
    this.filter = {};
    this.before = [];
    this.chosen = new Set();
    this.typed = '';
  }

  connectedCallback() {
    super.connectedCallback();
    this.every(QUIET_MS, () => this.#again());
    this.every(500, () => this.held && !this.isPointedAt('jobs') && this.#release());
  }

  willUpdate(changed) {
    if (changed.has('filter')) {
      this.search = fromFilter(this.filter);
      Object.assign(this, { before: [], chosen: new Set(), jobs: null, held: null, following: false, typed: this.search, searching: false });
      this.#countedAt = 0;
      this.refresh(0);
    }
  }

  changed(event) {
    if (event.jobs.size) this.#again();
    this.requestUpdate();
  }

  /** The first page follows what happens, unless somebody selects from it, or jobs have to be read through for it. */
  #again() {
    if (this.before.length === 0 && this.chosen.size === 0 && !isContent(this.search)) {
      this.following = true;
      this.refresh(2000);
    }
  }

  async read(signal) {
    this.#count(signal);
    const began = Date.now();
    this.readAt = began;
    let jobs = [];
    const order = this.oldest ? 'oldest' : undefined;
    let page = { next: this.before.at(-1) };
    do {
      page = await get(`/v1/jobs${query({ search: this.search, order, limit: PAGE - jobs.length, cursor: page.next })}`, signal);
      if (signal.aborted) return;
      jobs = [...jobs, ...page.jobs];
      const more = Boolean(page.next) && jobs.length < PAGE;
      this.searching = more && Date.now() - began < TIMEOUT_MS;
      this.#show({ jobs: jobs.length || !this.searching ? jobs : this.jobs, next: page.next ?? null, searched: page.searchComplete });
    } while (this.searching);
    this.following = false;
  }

  /** Rows stay where they are while somebody points at them: others wait until nobody does, or they are asked for. */
  #show(page) {
    const shown = new Set((this.jobs ?? []).map((job) => job.id));
    const others = (page.jobs ?? []).filter((job) => !shown.has(job.id)).length;
    const moved = page.jobs?.some((job, i) => job.id !== this.jobs?.[i]?.id);
    if (this.following && this.jobs?.length && moved && this.isPointedAt('jobs')) {
      const fresh = new Map(page.jobs.map((job) => [job.id, job]));
      this.jobs = this.jobs.map((job) => fresh.get(job.id) ?? job);
      this.held = { page, others };
    } else {
      this.unsteady('jobs');
      Object.assign(this, page, { held: null });
    }
  }

  #release() {
    const { page } = this.held;
    this.unsteady('jobs');
    Object.assign(this, page, { held: null });
  }

  /** Beside the list, and not before it: it may take longer. */
  async #count(signal) {
    if (Date.now() - this.#countedAt < COUNTS_MS) return;
    this.#countedAt = Date.now();
    try {
      const counts = await get(`/v1/jobs/counts${query({ search: without(this.search, 'state', 'queue', 'kind') })}`, signal);
      if (!signal.aborted) this.counts = counts;
    } catch {
      // The list says what is wrong; these are read with it the next time.
      this.#countedAt = 0;
    }
  }

  get oldest() {
    return this.filter.sort === '-age';
  }

  /** The column that only the jobs of this page are sorted by. */
  get sortedBy() {
    const name = this.filter.sort?.replace('-', '');
    return COLUMNS[name]?.[1] ? name : null;
  }

  #go(before) {
    this.before = before;
    this.chosen = new Set();
    this.following = false;
    this.refresh(0);
    scrollTo(0, 0);
  }

  #address(search, sort = this.filter.sort) {
    return `#/jobs${query({ search, sort })}`;
  }

  #submitted(event) {
    event.preventDefault();
    const address = this.#address(event.currentTarget.elements.search.value.trim());
    if (location.hash === address) this.refresh(0);
    else location.hash = address;
  }

  #choose(id, yes) {
    const chosen = new Set(this.chosen);
    if (yes) chosen.add(id);
    else chosen.delete(id);
    this.chosen = chosen;
  }

  /** The stream may be newer than the page. */
  #now(job) {
    const brief = live.jobs.get(job.id);
    return brief && (brief.attempt > job.attempt || brief.heardAt > this.readAt) ? { ...job, ...brief } : job;
  }

  #sorted(jobs) {
    if (!this.sortedBy) return jobs;
    const by = COLUMNS[this.sortedBy][1];
    const sign = this.filter.sort.startsWith('-') ? -1 : 1;
    return this.steady('jobs', [...jobs].sort((a, b) => sign * (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : 0)), (job) => job.id);
  }

  async #many(verb, shown) {
    const ids = applicable(verb, shown.filter((job) => this.chosen.has(job.id)));
    await bulk(verb, this.chosen.size ? { ids } : { search: this.search });
    this.chosen = new Set();
    this.following = false;
    this.#countedAt = 0;
    this.refresh(0);
  }

  render() {
    const jobs = this.#sorted((this.jobs ?? []).map((job) => this.#now(job)));
    return html`<div class="head"><h1 tabindex="-1">Jobs</h1>
        ${this.mayOperate ? html`<button type="button" @click=${() => enqueue()}>Enqueue …</button>` : nothing}</div>
      ${this.#form()}
      ${this.trouble()}
      <div class="with-facets">
        ${this.#facets()}
        <div>
          ${this.#bulk(jobs)}
          <div class="scroll" tabindex="0" data-steady="jobs"><table class="jobs">
            <thead><tr>${this.mayOperate ? html`<th><input type="checkbox" aria-label="Select all on this page" .checked=${bound(jobs.length > 0 && jobs.every((job) => this.chosen.has(job.id)))}
                @change=${(event) => (this.chosen = new Set(event.target.checked ? jobs.map((job) => job.id) : []))}></th>` : nothing}
              <th>Job</th>${['state', 'kind', 'queue'].map((name) => this.#column(name))}${this.#column('attempt', 'r')}<th>Progress, failure or payload</th>${this.#column('age', 'r')}${this.#column('took', 'r')}</tr></thead>
            <tbody>${this.jobs == null ? empty(9, this.searching ? 'Searching …' : 'Loading …') : jobs.length === 0 ? empty(9, this.next ? 'No match so far' : 'No job matches') : repeat(jobs, (job) => job.id, (job) => this.#row(job))}</tbody>
          </table></div>
          ${this.#pages()}
        </div>
      </div>`;
  }

  #pages() {
    const partly = this.next && (this.jobs?.length ?? 0) < PAGE;
    return html`<div class="actions pages">
      ${partly ? html`<span class="dim" role="status" id="searched">${this.searching ? 'Searching' : 'Searched'} ${this.oldest ? 'up' : 'back'} to ${moment(timeOf(this.next))}</span>` : nothing}
      ${this.sortedBy && (this.next || this.before.length) ? html`<span class="dim" id="sorted">Sorted by ${COLUMNS[this.sortedBy][0].toLowerCase()}: the ${count(this.jobs?.length ?? 0)} jobs of this page only</span>` : nothing}
      ${partly && this.searching ? html`<button type="button" @click=${() => this.stop()}>Stop</button>` : nothing}
      ${!partly && this.searched === false ? html`<span class="dim">Payloads above 64 KiB were not searched</span>` : nothing}
      <button type="button" ?disabled=${this.before.length === 0} @click=${() => this.#go([])}>${this.oldest ? 'Oldest' : 'Newest'}</button>
      <button type="button" ?disabled=${this.before.length === 0} @click=${() => this.#go(this.before.slice(0, -1))}>${this.oldest ? 'Older' : 'Newer'}</button>
      <button type="button" ?disabled=${!this.next || this.searching} @click=${() => this.#go([...this.before, this.next])}>${partly ? 'Search on' : this.oldest ? 'Newer' : 'Older'}</button>
    </div>`;
  }

  stop() {
    this.searching = false;
    super.stop();
  }

  #form() {
    const kinds = [...new Set((this.counts?.rows ?? []).map((row) => row.kind))];
    return html`<form class="search" role="search" @submit=${(event) => this.#submitted(event)}>
        <input type="search" name="search" id="search" aria-label="Search jobs" .value=${bound(this.typed)} maxlength="500" autocomplete="off" spellcheck="false" list="suggestions"
          placeholder="state:failed kind:mail age:<1h payload.customer:c499 text" @input=${(event) => (this.typed = event.target.value)}>
        <datalist id="suggestions">${suggestions(this.typed, [...live.queues.keys()], kinds).map((each) => html`<option value=${each}></option>`)}</datalist>
        <button type="submit" class="primary">Search</button>
      </form>
      <nav class="views" aria-label="Views">${VIEWS.map(([search, text]) => html`<a href=${this.#address(search)} aria-current=${this.search === search ? 'true' : nothing}>${text}</a>`)}</nav>`;
  }

  /** Jobs in each state, queue and kind, each with what the search asks for of the other two. */
  #facets() {
    const rows = this.counts?.rows ?? [];
    const asked = { state: statesOf(this.search), queue: termOf(this.search, 'queue'), kind: termOf(this.search, 'kind') };
    const fits = (row, but) =>
      (but === 'state' || asked.state.length === 0 || asked.state.includes(row.state)) &&
      (but === 'queue' || !asked.queue || asked.queue === row.queue) &&
      (but === 'kind' || !asked.kind || asked.kind === row.kind);
    const of = (name) => {
      const counts = new Map(name === 'state' ? STATES.map((state) => [state, 0]) : []);
      for (const row of rows) if (fits(row, name)) counts.set(row[name], (counts.get(row[name]) ?? 0) + row.jobs);
      if (name === 'state') return [...counts].map(([state, n]) => [state, n, this.counts?.partial?.includes(state)]);
      return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, MOST_FACETS);
    };
    return html`<details class="facets" ?open=${!narrow.matches}><summary>Filter</summary>
      ${['state', 'queue', 'kind'].map((name) => html`<section aria-labelledby="by-${name}"><h2 id="by-${name}">${COLUMNS[name][0]}</h2>
        <ul>${of(name).map(([value, jobs, partial]) => this.#facet(name, value, jobs, partial, asked[name]))}</ul></section>`)}
      ${this.counts?.more ? html`<p class="dim">Counted among the newest ${count(this.counts.searched)} jobs of each state, or of all where a number has a +</p>` : nothing}</details>`;
  }

  #facet(name, value, jobs, partial, asked) {
    const on = name === 'state' ? asked.includes(value) : asked === value;
    const states = on ? asked.filter?.((each) => each !== value) : [...(name === 'state' ? asked : []), value];
    const next = name === 'state' ? states.join(',').toLowerCase() : on ? null : value;
    return html`<li><a class="facet" href=${this.#address(withTerm(this.search, name, next))} aria-current=${on ? 'true' : nothing}>
      ${name === 'state' ? badge(value) : html`<span class="cut">${value}</span>`}<span class="num dim" title=${partial ? 'At least: not all of them were counted' : nothing}>${count(jobs)}${partial && jobs ? '+' : ''}</span></a></li>`;
  }

  #column(name, kind = '') {
    const { sort } = this.filter;
    const all = name === 'age';
    const up = all ? !this.oldest && !this.sortedBy : sort === name;
    const down = sort === `-${name}`;
    const to = up ? `-${name}` : down ? undefined : all ? undefined : name;
    const title = all ? `Sort all jobs: ${up ? 'oldest' : 'newest'} first` : 'Sort the jobs of this page; all jobs are sorted by age only';
    return html`<th class=${kind} aria-sort=${up ? 'ascending' : down ? 'descending' : nothing}>
      <a class="sort" href=${this.#address(this.search, to ?? '')} title=${title}>${COLUMNS[name][0]}${up ? ' ▲' : down ? ' ▼' : ''}</a></th>`;
  }

  /** Only what applies to the jobs that are selected, or to those that the search finds. */
  #bulk(jobs) {
    const chosen = jobs.filter((job) => this.chosen.has(job.id));
    const applies = (verb) => (this.chosen.size ? applicable(verb, chosen).length > 0 : among(verb, this.search).length > 0);
    const held = this.held ? html`<button type="button" class="small" id="held" @click=${() => this.#release()}>${this.held.others ? `Show ${count(this.held.others)} more recent` : 'Show the list as it is now'}</button>` : nothing;
    if (!this.mayOperate) return html`<div class="actions steady">${held}</div>`;
    return html`<div class="actions steady">
      <span class="dim">${this.chosen.size ? `${count(this.chosen.size)} selected` : this.search ? 'All that match:' : 'All jobs:'}</span>
      <button type="button" class="small" ?disabled=${!applies('retry')} @click=${() => this.#many('retry', jobs)}>Retry …</button>
      <button type="button" class="small danger" ?disabled=${!applies('cancel')} @click=${() => this.#many('cancel', jobs)}>Cancel …</button>
      ${held}</div>`;
  }

  /** Why it is as it is; a failure on the way to success is on the job's own page. */
  #note(job) {
    if (job.state === 'WAITING' && job.waitsFor) return waitNote(job.waitsFor);
    if (job.state === 'CANCELLED' && job.cancelReason) return long(`cancelled: ${job.cancelReason}`);
    if (job.failure && job.state !== 'SUCCEEDED') return failureNote(job.failure);
    return job.failureCode && job.state !== 'SUCCEEDED' ? cut(job.failureCode) : payloadNote(job.payload);
  }

  #row(job) {
    return html`<tr>
      ${this.mayOperate ? html`<td><input type="checkbox" aria-label="Select job ${job.id}" .checked=${bound(this.chosen.has(job.id))} @change=${(event) => this.#choose(job.id, event.target.checked)}></td>` : nothing}
      <td>${jobLink(job.id)}</td><td>${badge(job.state)}</td><td>${cut(job.kind)}</td><td>${cut(job.queue)}</td>
      <td class="r num">${count(job.attempt)}</td>
      <td class="note">${job.state === 'RUNNING' && job.progress != null ? progressBar(job.progress, job.progressMessage) : this.#note(job)}</td>
      <td class="r num" title=${job.createdAt}>${ago(job.createdAt)}</td><td class="r num">${took(job) === null ? none : span(took(job))}</td></tr>`;
  }
}

customElements.define('hf-jobs', Jobs);
