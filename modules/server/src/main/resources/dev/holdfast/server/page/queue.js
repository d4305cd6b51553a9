/** One queue: what is in it, its limits, its kinds and its workers. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { ask, attempt } from './dialogs.js';
import { count, rate, span } from './format.js';
import { live } from './live.js';
import { badge, cut, empty, jobLink, QUIET_MS, View } from './parts.js';
import { problemRow } from './problems.js';
import { get, post, put, query } from './server.js';
import { STATES } from './states.js';

const COUNTED_MS = 10_000;

class QueueView extends View {
  static properties = { queue: { attribute: false }, status: { state: true }, counts: { state: true }, workers: { state: true }, problems: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.every(QUIET_MS, () => this.refresh());
  }

  willUpdate(changed) {
    if (changed.has('queue')) {
      Object.assign(this, { status: null, counts: null, workers: null, problems: [] });
      this.refresh(0);
    }
  }

  changed(event) {
    if (event.what.has('queues')) this.refresh(COUNTED_MS);
    this.requestUpdate();
  }

  async read(signal) {
    const [status, counts, { workers }, { problems }] = await Promise.all([
      get(`/v1/queues/${encodeURIComponent(this.queue)}`, signal),
      get(`/v1/jobs/counts${query({ queue: this.queue })}`, signal),
      get('/v1/workers', signal),
      get('/v1/info', signal),
    ]);
    if (signal.aborted) return;
    Object.assign(this, {
      status,
      counts,
      workers: workers.filter((each) => each.queues.includes(this.queue)),
      problems: problems.filter((each) => each.parameters?.queue === this.queue),
    });
  }

  async #pause(verb) {
    await attempt(() => post(`/v1/queues/${encodeURIComponent(this.queue)}/${verb}`), `Queue ${this.queue} is ${verb}d`);
    this.refresh(0);
  }

  async #limits() {
    const { maxRunning, rateLimit } = this.status;
    await ask({
      title: `Limits of ${this.queue}`,
      text: 'Over all workers together. An empty field is no limit.',
      fields: [
        { name: 'maxRunning', label: 'Jobs that run at once', type: 'number', min: 1, value: maxRunning ?? '' },
        { name: 'starts', label: 'Jobs that start', type: 'number', min: 1, value: rateLimit?.starts ?? '' },
        { name: 'seconds', label: 'in so many seconds', type: 'number', min: 0.001, step: 'any', value: rateLimit ? rateLimit.periodMs / 1000 : '' },
      ],
      confirm: 'Set limits',
      act: async (form) => {
        if (Boolean(form.starts) !== Boolean(form.seconds)) throw new Error('A rate needs both a number of jobs and a number of seconds');
        await put(`/v1/queues/${encodeURIComponent(this.queue)}/limits`, {
          ...(form.maxRunning ? { maxRunning: Number(form.maxRunning) } : {}),
          ...(form.starts ? { rateLimit: { starts: Number(form.starts), periodMs: Math.round(Number(form.seconds) * 1000) } } : {}),
        });
        return `The limits of ${this.queue} are set`;
      },
    });
    this.refresh(0);
  }

  render() {
    const now = live.queues.get(this.queue) ?? {};
    const { status } = this;
    const paused = now.paused ?? Boolean(status?.pausedAt);
    const tile = (text, value, state) => html`<a class="tile" href="#/jobs?${new URLSearchParams({ search: `queue:${this.queue}${state ? ` state:${state}` : ''}` })}"><span class="dim">${text}</span><b class="num">${value}</b></a>`;
    return html`<nav class="crumbs" aria-label="Where it belongs"><a href="#/queues">Queues</a> › <span>${this.queue}</span></nav>
      <div class="head"><h1 tabindex="-1"><span class="cut">${this.queue}</span> ${paused ? badge('paused') : nothing}</h1>
        ${this.mayOperateAll && status
          ? html`<div class="actions"><button type="button" @click=${() => this.#limits()}>Limits …</button>
            <button type="button" @click=${() => this.#pause(paused ? 'resume' : 'pause')}>${paused ? 'Resume' : 'Pause'}</button></div>`
          : nothing}</div>
      ${this.trouble()}
      <div class="tiles">
        ${tile('Due', count(now.pending ?? status?.due), 'pending')}
        ${tile('Running', `${count(now.running ?? status?.running)}${status?.maxRunning ? ` of ${count(status.maxRunning)}` : ''}`, 'running')}
        ${tile('Retrying', count(now.retrying ?? status?.retrying), 'retrying')}
        ${tile('Delayed', count(now.delayed ?? status?.delayed), 'pending')}
        ${tile('Waiting', count(now.waiting ?? status?.waiting), 'waiting')}
        ${tile('Failed, 5 min', count(now.failed), 'failed')}
        <div class="tile"><span class="dim">Jobs per second</span><b class="num">${rate(now.ratePerSecond)}</b></div>
        <div class="tile"><span class="dim">Oldest due</span><b class="num">${status?.due ? span(status.oldestDueAgeMs) : '–'}</b></div>
        <div class="tile"><span class="dim">Rate limit</span><b class="num">${status?.rateLimit ? `${count(status.rateLimit.starts)} per ${span(status.rateLimit.periodMs)}` : '–'}</b></div>
      </div>
      ${this.problems?.length ? html`<ul class="problems">${this.problems.map((each) => problemRow(each, this))}</ul>` : nothing}
      <div class="columns">
        <section aria-labelledby="kinds"><h2 id="kinds">Kinds ${this.counts?.more ? html`<span class="dim">among the newest ${count(this.counts.searched)} jobs</span>` : nothing}</h2>${this.#kinds()}</section>
        <section aria-labelledby="its-workers"><h2 id="its-workers">Workers</h2>${this.#workers()}</section>
      </div>`;
  }

  #kinds() {
    const kinds = new Map();
    for (const { kind, state, jobs } of this.counts?.rows ?? []) kinds.set(kind, { ...kinds.get(kind), [state]: jobs });
    const shown = ['PENDING', 'RUNNING', 'RETRYING', 'SUCCEEDED', 'FAILED'];
    const link = (kind, state, n) => (n ? html`<a href="#/jobs?${new URLSearchParams({ search: `queue:${this.queue} kind:${kind} state:${state.toLowerCase()}` })}">${count(n)}</a>` : html`<span class="dim">0</span>`);
    return html`<div class="scroll" tabindex="0"><table><thead><tr><th>Kind</th>${shown.map((state) => html`<th class="r">${state.toLowerCase()}</th>`)}</tr></thead>
      <tbody>${kinds.size === 0 ? empty(6, this.counts ? 'No job' : 'Loading …') : [...kinds].sort().map(([kind, states]) => html`<tr><td>${cut(kind)}</td>${shown.map((state) => html`<td class="r num">${link(kind, state, STATES.includes(state) ? states[state] : 0)}</td>`)}</tr>`)}</tbody></table></div>`;
  }

  #workers() {
    const all = this.workers ?? [];
    return html`<div class="scroll" tabindex="0"><table><thead><tr><th>Worker</th><th>Status</th><th>Current job</th><th class="r">Jobs</th><th class="r">Restarts</th></tr></thead>
      <tbody>${all.length === 0 ? empty(5, this.workers ? 'No worker serves it' : 'Loading …') : repeat(all, (each) => `${each.component} ${each.supervisor ?? each.workerId}`, (each) => html`<tr><td>${cut(each.component)}</td><td>${badge(each.status)} ${each.pausedByOperator ? badge('paused') : nothing}</td>
        <td>${each.currentJob ? jobLink(each.currentJob) : html`<span class="dim">–</span>`}</td><td class="r num">${count(each.runningJobs)}</td><td class="r num">${count(each.restarts)}</td></tr>`)}</tbody></table></div>`;
  }
}

customElements.define('hf-queue', QueueView);
