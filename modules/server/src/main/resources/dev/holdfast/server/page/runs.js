/** Runs, and one of them as a graph of its jobs. */
import { html, nothing, svg } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { bulk } from './bulk.js';
import { clipped, count, millis, now, shortId, span } from './format.js';
import { runGraph } from './graph.js';
import { live } from './live.js';
import { ago, badge, copyButton, cut, empty, jobLink, jobsLink, none, QUIET_MS, time, View } from './parts.js';
import { get, query } from './server.js';
import { ACTIVE, DEAD, STATES } from './states.js';

const PAGE = 50;
/** While its jobs come and go, a run is read so often at most; a list of runs counts the jobs of each. */
const READ_MS = 2000;
const COUNTED_MS = 5000;

const tookOf = (each) => (each.startedAt ? (millis(each.finishedAt) ?? (ACTIVE.includes(each.state) ? now() : millis(each.startedAt))) - millis(each.startedAt) : null);

/** How many of its jobs are in each state, as a bar in their colours and in words. */
function share({ states, jobs }) {
  const there = STATES.filter((state) => states[state]);
  const words = there.map((state) => `${count(states[state])} ${state.toLowerCase()}`).join(', ');
  let from = 0;
  return html`<svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label=${words}><title>${words}</title>${there.map((state) => {
    const width = (100 * states[state]) / jobs;
    const part = svg`<rect class="s-${state.toLowerCase()}" x=${from} width=${width} height="1"></rect>`;
    from += width;
    return part;
  })}</svg>`;
}

class Runs extends View {
  static properties = { page: { state: true }, before: { state: true }, held: { state: true } };
  #following = false;

  constructor() {
    super();
    this.before = [];
  }

  connectedCallback() {
    super.connectedCallback();
    this.refresh();
    this.every(QUIET_MS, () => this.#follow());
    this.every(500, () => this.held && !this.isPointedAt('runs') && Object.assign(this, { page: this.held, held: null }));
  }

  #follow() {
    this.#following = true;
    this.refresh(COUNTED_MS);
  }

  changed(event) {
    if (event.jobs.size && this.before.length === 0) this.#follow();
    this.requestUpdate();
  }

  async read(signal) {
    const page = await get(`/v1/runs${query({ limit: PAGE, cursor: this.before.at(-1) })}`, signal);
    if (signal.aborted) return;
    const held = this.#following && this.page && this.isPointedAt('runs');
    const fresh = new Map(page.runs.map((run) => [run.id, run]));
    // Rows stay where somebody points at them.
    Object.assign(this, held ? { page: { ...this.page, runs: this.page.runs.map((run) => fresh.get(run.id) ?? run) }, held: page } : { page, held: null });
  }

  #go(before) {
    this.before = before;
    this.#following = false;
    this.refresh(0);
    scrollTo(0, 0);
  }

  render() {
    const runs = this.page?.runs ?? [];
    return html`<h1 tabindex="-1">Runs</h1>
      ${this.trouble()}
      <p class="dim">Jobs that were enqueued with the same <code>runId</code>.</p>
      <div class="scroll" tabindex="0" data-steady="runs"><table>
        <thead><tr><th>Run</th><th>State</th><th>First job</th><th class="r">Jobs</th><th class="wide">Their states</th><th class="r">Age</th><th class="r">Took</th></tr></thead>
        <tbody>${runs.length === 0 ? empty(7, this.page ? 'No job has a run' : 'Loading …') : repeat(runs, (run) => run.id, (run) => html`<tr>
          <td><a class="mono" href="#/runs/${run.id}" title=${run.id}>${shortId(run.id)}</a></td><td>${badge(run.state)}</td><td>${cut(run.kind)}</td>
          <td class="r num">${jobsLink({ search: `run:${run.id}` }, `${count(run.jobs)}${run.more ? '+' : ''}`)}</td><td class="wide">${share(run)}</td>
          <td class="r num">${ago(run.createdAt)}</td><td class="r num">${tookOf(run) === null ? none : span(tookOf(run))}</td></tr>`)}</tbody>
      </table></div>
      <div class="actions pages">
        <button type="button" ?disabled=${this.before.length === 0} @click=${() => this.#go(this.before.slice(0, -1))}>Newer</button>
        <button type="button" ?disabled=${!this.page?.next} @click=${() => this.#go([...this.before, this.page.next])}>Older</button></div>`;
  }
}

class RunView extends View {
  static properties = { runId: { attribute: false }, graph: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.every(QUIET_MS, () => this.refresh());
  }

  willUpdate(changed) {
    if (changed.has('runId')) {
      this.graph = null;
      this.refresh(0);
    }
  }

  /** Also jobs that are not in it yet may belong to it. */
  changed(event) {
    if (event.jobs.size && (!this.graph || ACTIVE.includes(this.graph.run.state) || this.graph.jobs.some((job) => event.jobs.has(job.id)))) this.refresh(READ_MS);
    this.requestUpdate();
  }

  async read(signal) {
    this.graph = await get(`/v1/runs/${encodeURIComponent(this.runId)}`, signal);
  }

  /** The stream may be newer than what was read. */
  #now(job) {
    const brief = live.jobs.get(job.id);
    return brief && brief.attempt >= job.attempt ? { ...job, state: brief.state, attempt: brief.attempt, progress: brief.progress, startedAt: brief.startedAt, finishedAt: brief.finishedAt } : job;
  }

  #note(job) {
    if (job.state === 'RUNNING' && job.progress !== null && job.progress !== undefined) return `${job.progress} %`;
    if (job.state === 'FAILED' && job.failureCode) return clipped(job.failureCode, 20);
    const took = tookOf(job);
    return took === null ? `…${job.id.slice(-8)}` : span(took);
  }

  render() {
    if (!this.graph) return html`<h1 tabindex="-1">Run</h1>${this.error ? this.trouble() : html`<p class="dim">Loading …</p>`}<p><a href="#/runs">All runs</a></p>`;
    const { run, dependencies } = this.graph;
    const jobs = this.graph.jobs.map((job) => this.#now(job));
    return html`<nav class="crumbs" aria-label="Where it belongs"><a href="#/runs">Runs</a> › <span class="mono">${shortId(run.id)}</span></nav>
      <div class="head"><h1 tabindex="-1"><span class="cut">${clipped(run.kind, 80)}</span> ${badge(run.state)}</h1>
        ${this.mayOperate ? this.#actions(run) : nothing}</div>
      ${this.trouble()}
      <div class="actions"><span class="mono wrap">${run.id}</span> ${copyButton(run.id, 'id')} <a class="button" href="#/jobs?${new URLSearchParams({ search: `run:${run.id}` })}">Show as a list</a></div>
      <dl class="facts">
        <div><dt>Jobs</dt><dd>${count(run.jobs)}${run.more ? ' or more' : ''}</dd></div>
        <div><dt>Created</dt><dd>${time(run.createdAt)}</dd></div>
        ${run.startedAt ? html`<div><dt>Started</dt><dd>${time(run.startedAt)}</dd></div>` : nothing}
        ${run.finishedAt ? html`<div><dt>Ended</dt><dd>${time(run.finishedAt)}</dd></div>` : nothing}
        ${run.startedAt ? html`<div><dt>Took</dt><dd>${span(tookOf(run))}</dd></div>` : nothing}
        <div><dt>States</dt><dd>${STATES.filter((state) => run.states[state]).map((state) => html`${badge(state)} <span class="num">${count(run.states[state])}</span> `)}</dd></div>
      </dl>
      ${run.jobs > jobs.length ? html`<p class="notice">The first ${count(jobs.length)} jobs are shown.</p>` : nothing}
      <section aria-labelledby="graph"><h2 id="graph">Graph</h2>${runGraph(jobs, dependencies, (job) => this.#note(job))}</section>
      ${this.#table(run, jobs)}`;
  }

  #actions({ id, states }) {
    const has = (all) => all.some((state) => states[state]);
    const act = (verb, state) => async () => {
      await bulk(verb, { search: `run:${id} state:${state.join(',').toLowerCase()}`, of: 'of this run' });
      this.refresh(0);
    };
    return html`<div class="actions" role="group" aria-label="Commands to this run">
      ${has(DEAD) ? html`<button type="button" @click=${act('retry', DEAD)}>Retry …</button>` : nothing}
      ${has(ACTIVE) ? html`<button type="button" class="danger" @click=${act('cancel', ACTIVE)}>Cancel …</button>` : nothing}</div>`;
  }

  #table(run, jobs) {
    const from = millis(run.startedAt ?? run.createdAt);
    const until = Math.max(from + 1, millis(run.finishedAt) ?? now());
    const bar = (job) => {
      if (!job.startedAt) return nothing;
      const x = (100 * (millis(job.startedAt) - from)) / (until - from);
      return html`<svg class="span" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="s-${job.state.toLowerCase()}" x=${x} width=${Math.max(0.5, (100 * tookOf(job)) / (until - from))} height="1"></rect></svg>`;
    };
    return html`<section aria-labelledby="run-jobs"><h2 id="run-jobs">Jobs</h2>
      <div class="scroll" tabindex="0"><table><thead><tr><th>Job</th><th>Name</th><th>State</th><th>Queue</th><th class="r">Attempt</th><th class="r">Started</th><th class="r">Took</th><th class="wide"><span class="hidden">Within the run</span></th></tr></thead>
        <tbody>${repeat(jobs, (job) => job.id, (job) => html`<tr><td>${jobLink(job.id)}</td><td>${cut(job.runKey)} ${job.runKey === job.kind ? nothing : html`<span class="dim">${cut(job.kind)}</span>`}</td><td>${badge(job.state)}</td><td>${cut(job.queue)}</td>
          <td class="r num">${count(job.attempt)}</td><td class="r num">${time(job.startedAt)}</td><td class="r num">${tookOf(job) === null ? none : span(tookOf(job))}</td><td class="wide">${bar(job)}</td></tr>`)}</tbody></table></div></section>`;
  }
}

customElements.define('hf-runs', Runs);
customElements.define('hf-run', RunView);
