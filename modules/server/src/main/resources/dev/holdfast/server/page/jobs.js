/** Jobs by state, queue, kind, time and text, page by page; and what is done to many of them. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { live as bound } from 'lit-html/directives/live.js';
import { ask, toast } from './dialogs.js';
import { count, millis, now, span } from './format.js';
import { live } from './live.js';
import { ACTIVE, ago, badge, cut, DEAD, empty, jobLink, long, progressBar, QUIET_MS, STATES, View } from './parts.js';
import { get, post, query } from './server.js';

const PAGE = 50;
const TIMES = [['', 'any time'], ['15', 'last 15 minutes'], ['60', 'last hour'], ['1440', 'last day'], ['10080', 'last week']];
const FIELDS = ['state', 'queue', 'kind', 'q', 'minutes', 'runId', 'parentId'];

class Jobs extends View {
  static properties = {
    filter: { attribute: false },
    jobs: { state: true },
    next: { state: true },
    searched: { state: true },
    before: { state: true },
    chosen: { state: true },
  };

  constructor() {
    super();
    this.filter = {};
    this.before = [];
    this.chosen = new Set();
  }

  connectedCallback() {
    super.connectedCallback();
    this.every(QUIET_MS, () => this.#again());
  }

  willUpdate(changed) {
    if (changed.has('filter')) {
      this.before = [];
      this.chosen = new Set();
      this.jobs = null;
      this.refresh(0);
    }
  }

  changed(event) {
    if (event.jobs.size) this.#again();
    this.requestUpdate();
  }

  /** The first page follows what happens, unless somebody is choosing from it. */
  #again() {
    if (this.before.length === 0 && this.chosen.size === 0 && !this.filter.q) this.refresh(2000);
  }

  /** As the server has it: a time instead of how long ago. */
  #asked() {
    const { minutes, ...rest } = this.filter;
    return minutes ? { ...rest, createdAfter: new Date(now() - minutes * 60_000).toISOString() } : rest;
  }

  async read(signal) {
    const page = await get(`/v1/jobs${query({ ...this.#asked(), brief: true, limit: PAGE, cursor: this.before.at(-1) })}`, signal);
    if (signal.aborted) return;
    Object.assign(this, { jobs: page.jobs, next: page.next ?? null, searched: page.searchComplete });
  }

  #go(before) {
    this.before = before;
    this.chosen = new Set();
    this.refresh(0);
    scrollTo(0, 0);
  }

  #filtered(event) {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.currentTarget.closest('form')));
    const states = [...event.currentTarget.closest('form').querySelectorAll('input[name=state]:checked')].map((box) => box.value);
    const filter = { ...this.filter, ...given, state: states.join(',') };
    location.hash = `#/jobs${query(Object.fromEntries(FIELDS.map((field) => [field, filter[field]])))}`;
  }

  #choose(id, yes) {
    const chosen = new Set(this.chosen);
    if (yes) chosen.add(id);
    else chosen.delete(id);
    this.chosen = chosen;
  }

  /** What is known of it from the stream is newer than the page. */
  #now(job) {
    const brief = live.jobs.get(job.id);
    return brief && (brief.attempt > job.attempt || brief.state !== job.state || brief.progress !== job.progress) ? { ...job, ...brief } : job;
  }

  /**
   * Of the states that the filter takes in, those in which this can be done. What was cancelled was cancelled by somebody:
   * it is only retried when it is asked for.
   */
  #among(possible) {
    return this.filter.state ? this.filter.state.split(',').filter((state) => possible.includes(state)) : possible.filter((state) => state !== 'CANCELLED');
  }

  get #filters() {
    return Object.values(this.filter).some(Boolean);
  }

  async #many(verb, possible) {
    const ids = [...this.chosen];
    const states = this.#among(possible);
    const { tenant, parentId, ...asked } = this.#asked();
    const filter = { ...asked, state: states.join(',') };
    let jobs = { count: ids.length, more: false };
    try {
      if (ids.length === 0) jobs = await get(`/v1/jobs/count${query(filter)}`);
    } catch (failed) {
      toast(failed.message, 'bad');
      return;
    }
    const what = `${count(jobs.count)}${jobs.more ? ' or more' : ''} ${jobs.count === 1 ? 'job' : 'jobs'}`;
    if (jobs.count === 0) {
      toast(`None of these can be ${verb === 'cancel' ? 'cancelled' : 'retried'}`, 'bad');
      return;
    }
    await ask({
      title: `${verb === 'cancel' ? 'Cancel' : 'Retry'} ${what}?`,
      text: ids.length ? 'The selected jobs.' : `All ${this.#filters ? 'that match the filter and are' : 'jobs of all queues that are'} ${states.map((state) => state.toLowerCase()).join(' or ')}.`,
      reason: verb === 'cancel',
      confirm: verb === 'cancel' ? `Cancel ${what}` : `Retry ${what}`,
      danger: verb === 'cancel',
      act: (entered, progress) => this.#act(verb, ids, filter, jobs.count, entered.reason, progress),
    });
    this.chosen = new Set();
    this.refresh(0);
  }

  async #act(verb, ids, filter, total, reason, progress) {
    const why = verb === 'cancel' && reason ? { reason } : {};
    let done = 0;
    let others = 0;
    let cursor = null;
    progress(0, total);
    do {
      const answer = await post(`/v1/jobs/${verb}`, ids.length ? { ids, ...why } : { filter, ...(cursor ? { cursor } : {}), ...why });
      done += verb === 'cancel' ? answer.cancelled + answer.requested : answer.retried;
      others += verb === 'cancel' ? answer.alreadyTerminal + answer.alreadyRequested : answer.refused;
      cursor = answer.next;
      if (!progress(done, Math.max(total, done))) break;
    } while (cursor);
    return `${count(done)} ${verb === 'cancel' ? 'cancelled, or asked to stop' : 'requeued'}${others ? `; ${count(others)} could not be ${verb === 'cancel' ? 'cancelled' : 'retried'}` : ''}${cursor ? '; stopped before the rest was done' : ''}`;
  }

  render() {
    const jobs = (this.jobs ?? []).map((job) => this.#now(job));
    return html`<h1 tabindex="-1">Jobs</h1>
      ${this.#form()}
      ${this.trouble()}
      ${this.mayOperate ? this.#bulk() : nothing}
      <div class="scroll"><table class="jobs">
        <thead><tr>${this.mayOperate ? html`<th><input type="checkbox" aria-label="Select all on this page" .checked=${jobs.length > 0 && jobs.every((job) => this.chosen.has(job.id))}
            @change=${(event) => (this.chosen = new Set(event.target.checked ? jobs.map((job) => job.id) : []))}></th>` : nothing}
          <th>Job</th><th>State</th><th>Kind</th><th>Queue</th><th class="r">Attempt</th><th>Progress, reason</th><th class="r">Age</th><th class="r">Took</th></tr></thead>
        <tbody>${this.jobs == null ? empty(9, 'Loading …') : jobs.length === 0 ? empty(9, this.searched === false ? 'No match among the newest jobs' : 'No job matches') : repeat(jobs, (job) => job.id, (job) => this.#row(job))}</tbody>
      </table></div>
      <div class="actions pages">
        ${this.searched === false ? html`<span class="dim">Not all jobs were searched yet</span>` : nothing}
        <button type="button" ?disabled=${this.before.length === 0} @click=${() => this.#go([])}>Newest</button>
        <button type="button" ?disabled=${this.before.length === 0} @click=${() => this.#go(this.before.slice(0, -1))}>Newer</button>
        <button type="button" ?disabled=${!this.next} @click=${() => this.#go([...this.before, this.next])}>Older</button>
      </div>`;
  }

  #form() {
    const states = new Set((this.filter.state ?? '').split(','));
    const related = this.filter.runId ? `run ${this.filter.runId}` : this.filter.parentId ? `parent ${this.filter.parentId}` : null;
    return html`<form class="filters" role="search" @submit=${(event) => this.#filtered(event)}>
      <fieldset class="states"><legend class="hidden">States</legend>
        ${STATES.map((state) => html`<label class="chip s-${state.toLowerCase()}"><input type="checkbox" name="state" value=${state} .checked=${bound(states.has(state))}
          @change=${(event) => this.#filtered(event)}> ${state.toLowerCase()}</label>`)}</fieldset>
      <label>Queue <input name="queue" .value=${bound(this.filter.queue ?? '')} list="queues" maxlength="200" autocomplete="off"></label>
      <datalist id="queues">${[...live.queues.keys()].slice(0, 100).map((name) => html`<option value=${name}></option>`)}</datalist>
      <label>Kind <input name="kind" .value=${bound(this.filter.kind ?? '')} maxlength="200" autocomplete="off"></label>
      <label>Created <select name="minutes" @change=${(event) => this.#filtered(event)}>
        ${TIMES.map(([value, text]) => html`<option value=${value} .selected=${(this.filter.minutes ?? '') === value}>${text}</option>`)}</select></label>
      <label>Text <input type="search" name="q" id="search" .value=${bound(this.filter.q ?? '')} maxlength="200" placeholder="id, key, failure, payload" autocomplete="off"></label>
      <button type="submit">Search</button>
      ${this.#filters ? html`<a href="#/jobs">Clear</a>` : nothing}
      ${related ? html`<span class="dim wrap">of ${related}</span>` : nothing}
    </form>`;
  }

  #bulk() {
    const chosen = this.chosen.size;
    const idle = (possible) => !chosen && (this.filter.parentId || this.#among(possible).length === 0);
    return html`<div class="actions">
      <span class="dim">${chosen ? `${count(chosen)} selected` : this.#filters ? 'All that match:' : 'All jobs:'}</span>
      <button type="button" class="small" ?disabled=${idle(DEAD)} @click=${() => this.#many('retry', DEAD)}>Retry …</button>
      <button type="button" class="small danger" ?disabled=${idle(ACTIVE)} @click=${() => this.#many('cancel', ACTIVE)}>Cancel …</button>
    </div>`;
  }

  /** Why it is as it is; a failure on the way to success is on the job's own page. */
  #note(job) {
    if (job.state === 'CANCELLED' && job.cancelReason) return long(`cancelled: ${job.cancelReason}`);
    if (job.failure && job.state !== 'SUCCEEDED') return long(`${job.failure.code}: ${job.failure.message}`);
    return job.failureCode && job.state !== 'SUCCEEDED' ? cut(job.failureCode) : html`<span class="dim">–</span>`;
  }

  #row(job) {
    const end = millis(job.finishedAt) ?? (job.state === 'RUNNING' ? now() : null);
    const took = job.startedAt && end ? span(end - millis(job.startedAt)) : html`<span class="dim">–</span>`;
    return html`<tr>
      ${this.mayOperate ? html`<td><input type="checkbox" aria-label="Select job ${job.id}" .checked=${bound(this.chosen.has(job.id))} @change=${(event) => this.#choose(job.id, event.target.checked)}></td>` : nothing}
      <td>${jobLink(job.id)}</td><td>${badge(job.state)}</td><td>${cut(job.kind)}</td><td>${cut(job.queue)}</td>
      <td class="r num">${count(job.attempt)}</td>
      <td>${job.state === 'RUNNING' ? progressBar(job.progress, job.progressMessage) : this.#note(job)}</td>
      <td class="r num" title=${job.createdAt}>${ago(job.createdAt)}</td><td class="r num">${took}</td></tr>`;
  }
}

customElements.define('hf-jobs', Jobs);
