/** One queue: what is in it, how it went, its limits, its kinds and its workers. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { ask, attempt } from './dialogs.js';
import { count, rate, span } from './format.js';
import { historyPath, historyPlots, knownNote, rangeChoice, rangeName, rangeOf, TALLY_COLUMNS, TALLY_HEAD, tallyCells } from './history.js';
import { live } from './live.js';
import { badge, cut, empty, jobLink, none, pauseBadge, pausedBy, QUIET_MS, View, workerPage } from './parts.js';
import { problemRow } from './problems.js';
import { get, patch, post, query } from './server.js';

const COUNTED_MS = 10_000;

class QueueView extends View {
  static properties = { queue: { attribute: false }, filter: { attribute: false }, status: { state: true }, counts: { state: true }, history: { state: true }, kinds: { state: true }, workers: { state: true }, problems: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.every(QUIET_MS, () => this.refresh());
  }

  willUpdate(changed) {
    if (changed.has('queue')) Object.assign(this, { status: null, counts: null, history: null, kinds: null, workers: null, problems: [] });
    if (changed.has('queue') || changed.has('filter')) this.refresh(0);
  }

  /** What is shown is the address of the page. */
  get #minutes() {
    return rangeOf(this.filter?.minutes);
  }

  get #kind() {
    return this.filter?.kind;
  }

  #show(change) {
    const shown = { minutes: this.#minutes, kind: this.#kind, ...change };
    location.hash = `#/queues/${encodeURIComponent(this.queue)}${query({ minutes: shown.minutes === 15 ? '' : shown.minutes, kind: shown.kind })}`;
  }

  changed(event) {
    if (event.what.has('workers')) this.refresh(2000);
    else if (event.what.has('queues')) this.refresh(COUNTED_MS);
    this.requestUpdate();
  }

  async read(signal) {
    const minutes = this.#minutes;
    const history = get(historyPath({ minutes, queue: this.queue, kind: this.#kind }), signal);
    const all = this.#kind ? get(historyPath({ minutes, queue: this.queue }), signal) : history;
    await this.showEach(
      signal,
      get(`/v1/queues/${encodeURIComponent(this.queue)}`, signal).then((status) => ({ status })),
      history.then((answer) => ({ history: answer })),
      // One table has both.
      Promise.all([get(`/v1/jobs/counts${query({ queue: this.queue })}`, signal), all]).then(([counts, kinds]) => ({ counts, kinds })),
      get('/v1/workers', signal).then(({ workers }) => ({ workers: workers.filter((each) => each.queues.includes(this.queue)) })),
      get('/v1/info', signal).then(({ problems }) => ({ problems: problems.filter((each) => each.parameters?.queue === this.queue) })),
    );
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
        // Only what was changed here: somebody else may have set the other one meanwhile.
        const running = form.maxRunning ? Number(form.maxRunning) : null;
        const rated = form.starts ? { starts: Number(form.starts), periodMs: Math.round(Number(form.seconds) * 1000) } : null;
        const changed = {
          ...(running === (maxRunning ?? null) ? {} : { maxRunning: running }),
          ...(rated?.starts === rateLimit?.starts && rated?.periodMs === rateLimit?.periodMs ? {} : { rateLimit: rated }),
        };
        if (Object.keys(changed).length) await patch(`/v1/queues/${encodeURIComponent(this.queue)}/limits`, changed);
        return `The limits of ${this.queue} are set`;
      },
    });
    this.refresh(0);
  }

  render() {
    const now = live.queues.get(this.queue) ?? {};
    const { status } = this;
    const pauses = live.queues.get(this.queue) ?? status;
    const paused = Boolean(pauses?.pausedAt);
    const tile = (text, value, state) => html`<a class="tile" href="#/jobs?${new URLSearchParams({ search: `queue:${this.queue}${state ? ` state:${state}` : ''}` })}"><span class="dim">${text}</span><b class="num">${value}</b></a>`;
    return html`<nav class="crumbs" aria-label="Where it belongs"><a href="#/queues">Queues</a> › <span>${this.queue}</span></nav>
      <div class="head"><h1 tabindex="-1"><span class="cut">${this.queue}</span> ${pauseBadge(pauses)} ${paused && status?.pause ? html`<span class="dim cut">${pausedBy(status.pause)}</span>` : nothing}</h1>
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
      <section aria-labelledby="plots">
        <div class="head"><h2 id="plots">The last ${rangeName(this.#minutes)}${this.#kind ? html` of kind <span class="cut">${this.#kind}</span>` : nothing}</h2>
          <div class="choices">${this.#kind ? html`<button type="button" class="small" @click=${() => this.#show({ kind: '' })}>All kinds</button>` : nothing}
          ${rangeChoice(this.#minutes, (minutes) => this.#show({ minutes }))}</div></div>
        ${historyPlots(this.history, { depth: !this.#kind && this.session?.tenant === null })}${knownNote(this.history)}
      </section>
      <section aria-labelledby="by-kind"><h2 id="by-kind">Kinds</h2>${this.#byKind()}</section>
      <section aria-labelledby="its-workers"><h2 id="its-workers">Workers</h2>${this.#workers()}</section>`;
  }

  /** What is there now, among the newest jobs, beside what happened. */
  #byKind() {
    const kinds = new Map();
    const none = { enqueued: 0, succeeded: 0, failed: 0, cancelled: 0, waitMs: null, runMs: null };
    for (const { kind, jobs } of this.kinds?.kinds ?? []) kinds.set(kind, { jobs });
    for (const { kind, state, jobs } of this.counts?.rows ?? []) kinds.set(kind, { ...kinds.get(kind), [state]: jobs });
    const states = ['PENDING', 'RUNNING', 'RETRYING'];
    const heading = (state) => state[0] + state.slice(1).toLowerCase();
    const atLeast = (state, n) => `${count(n)}${n && this.counts?.partial?.includes(state) ? '+' : ''}`;
    const link = (kind, state, n) => (n ? html`<a href="#/jobs?${new URLSearchParams({ search: `queue:${this.queue} kind:${kind} state:${state.toLowerCase()}` })}">${atLeast(state, n)}</a>` : html`<span class="dim">0</span>`);
    return html`<div class="scroll" tabindex="0"><table>
      <thead><tr><th>Kind</th>${states.map((state) => html`<th class="r">${heading(state)}</th>`)}${TALLY_HEAD}</tr></thead>
      <tbody>${kinds.size === 0 ? empty(TALLY_COLUMNS + 4, this.counts ? 'No job' : 'Loading …') : [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, each]) => html`<tr>
        <td><button type="button" class="link" aria-pressed=${this.#kind === kind} title="Show the history of this kind alone" @click=${() => this.#show({ kind: this.#kind === kind ? '' : kind })}>${cut(kind)}</button></td>
        ${states.map((state) => html`<td class="r num">${link(kind, state, each[state])}</td>`)}${tallyCells(each.jobs ?? none)}</tr>`)}
      ${kinds.size > 1 && this.kinds ? html`<tr class="sum"><td>all</td>${states.map((state) => html`<td class="r num">${atLeast(state, [...kinds.values()].reduce((sum, each) => sum + (each[state] ?? 0), 0))}</td>`)}${tallyCells(this.kinds.total)}</tr>` : nothing}</tbody></table></div>
      ${this.counts?.more && states.some((state) => this.counts.partial.includes(state) && [...kinds.values()].some((each) => each[state])) ? html`<p class="dim">A number with a + is at least: jobs that are not among the newest ${count(this.counts.searched)} are not in it.</p>` : nothing}`;
  }

  #workers() {
    const all = this.workers ?? [];
    return html`<div class="scroll" tabindex="0"><table><thead><tr><th>Worker</th><th>Status</th><th>Current job</th><th class="r">Jobs</th><th class="r">Restarts</th></tr></thead>
      <tbody>${all.length === 0 ? empty(5, this.workers ? 'No worker serves it' : 'Loading …') : repeat(all, (each) => `${each.component} ${each.supervisor ?? each.workerId}`, (each) => html`<tr><td>${workerPage(each, this)}</td><td>${badge(each.status)} ${each.pausedByOperator ? badge('paused') : nothing}</td>
        <td>${each.currentJob ? jobLink(each.currentJob) : none}</td><td class="r num">${count(each.runningJobs)}</td><td class="r num">${count(each.restarts)}</td></tr>`)}</tbody></table></div>`;
  }
}

customElements.define('hf-queue', QueueView);
