/** One worker: what it does now, how its processes ended, and what it prints. */
import { html, nothing, svg } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { count, millis, moment, now, span } from './format.js';
import { live } from './live.js';
import { ago, badge, copyButton, cut, empty, jobLink, long, none, progressBar, QUIET_MS, time, View, workerPage } from './parts.js';
import { get, query } from './server.js';
import { commandButtons } from './worker-commands.js';

const MOST_LOG = 200_000;
const SPANS = { '1 d': 24, '7 d': 168 };
const HOUR_MS = 3_600_000;
const NO_LOG = { text: '', next: null, skipped: false };
const TONES = { crashed: 's-crashed', failed: 's-failed', stopping: 's-stopping' };

class WorkerView extends View {
  static properties = {
    component: { attribute: false },
    supervisor: { attribute: false },
    worker: { state: true },
    others: { state: true },
    exits: { state: true },
    log: { state: true },
    hours: { state: true },
  };
  #readingLog = false;
  #rung = false;

  constructor() {
    super();
    this.hours = '1 d';
    this.log = NO_LOG;
    this.others = [];
  }

  connectedCallback() {
    super.connectedCallback();
    this.every(QUIET_MS, () => this.refresh());
  }

  willUpdate(changed) {
    if (changed.has('component') || changed.has('supervisor')) {
      Object.assign(this, { worker: undefined, others: [], exits: null, log: NO_LOG, atEnd: true });
      this.refresh(0);
    }
  }

  get #path() {
    return `/v1/workers/${encodeURIComponent(this.component)}`;
  }

  /** As the stream names it. */
  get #name() {
    return `${this.worker?.component ?? this.component} ${this.#supervisor ?? this.worker?.workerId}`;
  }

  /** An address need not say it, where there is only one. */
  get #supervisor() {
    return this.supervisor ?? this.worker?.supervisor;
  }

  changed(event) {
    if (event.what.has('workers')) this.refresh(2000);
    if (event.workerLogs.has(this.#name)) this.#readLog();
    this.requestUpdate();
  }

  async read(signal) {
    const { workers } = await get('/v1/workers', signal);
    const named = workers.filter((each) => each.workerId === this.component);
    const all = (named.length ? named : workers.filter((each) => each.component === this.component)).filter((each) => !this.supervisor || each.supervisor === this.supervisor);
    if (signal.aborted) return;
    Object.assign(this, { worker: all.length === 1 ? all[0] : null, others: all.length > 1 ? all : [] });
    // Without a supervisor nobody knows how its processes ended, or what they print.
    if (!this.#supervisor) return;
    const { exits } = await get(`${this.#path}/exits${query({ supervisor: this.#supervisor })}`, signal);
    if (signal.aborted) return;
    this.exits = exits;
    this.#readLog();
  }

  /** What it printed since it was asked last; one at a time, and once more if it was rung meanwhile. */
  async #readLog() {
    if (this.#readingLog) {
      this.#rung = true;
      return;
    }
    this.#readingLog = true;
    const name = this.#name;
    try {
      do {
        this.#rung = false;
        const { text, next, skipped } = await get(`${this.#path}/log${query({ supervisor: this.#supervisor, cursor: this.log.next })}`);
        if (name === this.#name && (text || skipped)) this.log = { text: ((skipped ? '' : this.log.text) + text).slice(-MOST_LOG), next, skipped: skipped || this.log.skipped };
      } while (this.#rung && name === this.#name && this.isConnected);
    } catch {
      // What is wrong is said where the rest is read, and there it is asked for again.
    } finally {
      this.#readingLog = false;
      if (name !== this.#name) this.#readLog();
    }
  }

  /** Whoever reads its end goes on reading its end. */
  updated(changed) {
    super.updated(changed);
    const shown = changed.has('log') ? this.querySelector('pre.log') : null;
    if (shown && this.atEnd) shown.scrollTop = shown.scrollHeight;
  }

  render() {
    const { worker } = this;
    return html`<nav class="crumbs" aria-label="Where it belongs"><a href="#/workers">Workers</a> › <span>${this.component}</span></nav>
      <div class="head"><h1 tabindex="-1"><span class="cut">${this.component}</span> ${worker ? html`${badge(worker.status)} ${worker.pausedByOperator ? badge('paused') : nothing} ${worker.stoppedByOperator ? badge('stopped') : nothing}` : nothing}</h1>
        ${worker?.supervisor && this.mayOperateAll ? html`<div class="actions">${commandButtons(worker, this)}</div>` : nothing}</div>
      ${this.trouble()}
      ${worker === null ? this.#absent() : nothing}
      ${worker ? this.#facts(worker) : nothing}
      ${this.others.length ? nothing : this.#jobs()}
      ${this.#supervisor ? html`${this.#ends()}${this.#output()}` : nothing}`;
  }

  /** It is not there, or an address is too short to say which it is. */
  #absent() {
    if (this.others.length) {
      return html`<p class="notice">Several workers have this name:</p><ul>${this.others.map((each) => html`<li>${workerPage(each, this)} <span class="dim">${each.supervisor ? `of supervisor ${each.supervisor}` : each.workerId}</span></li>`)}</ul>`;
    }
    return this.supervisor
      ? html`<p class="notice">Supervisor ${this.supervisor} has ended, or does not run this worker any more.</p>`
      : html`<p class="notice">There is no such worker: no supervisor runs one of this name, none of this name holds a job, and none asks for jobs.</p>`;
  }

  #facts(worker) {
    const all = [
      ['Process', worker.supervisor ? worker.pid ?? '–' : null],
      ['Name', worker.supervisor ? null : cut(worker.workerId)],
      ['Supervisor', worker.supervisor ?? html`<span class="dim">none</span>`],
      ['Queues', cut(worker.queues.join(', '))],
      ['Restarts', worker.supervisor && html`<span title="Since it was last healthy for five minutes">${count(worker.restarts)}</span>${worker.totalRestarts > worker.restarts ? html` <span class="dim">${count(worker.totalRestarts)} in total</span>` : nothing}`],
      ['Last restart', worker.lastRestart && time(worker.lastRestart)],
      ['Next restart', worker.nextRestart && time(worker.nextRestart)],
      ['Last exit', worker.exit && html`<span title=${`${worker.exit.meaning}. ${worker.exit.hint ?? ''}`}>${worker.exit.name} <span class="dim num">${worker.exit.code}</span></span>`],
      ['Why', worker.reason && long(worker.reason)],
      ['Seen', html`${ago(worker.lastSeen)} ago`],
    ];
    return html`<dl class="facts">${all.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
  }

  #jobs() {
    const told = live.workers.get(this.#name);
    const ids = told?.jobs ?? [];
    return html`<section aria-labelledby="doing"><h2 id="doing">Running now <span class="dim num">${count(told?.runningJobs ?? 0)}</span></h2>
      ${ids.length === 0 ? html`<p class="dim">It runs no job.</p>` : html`<div class="scroll" tabindex="0"><table><thead><tr><th>Job</th><th>Kind</th><th>Queue</th><th class="r">Attempt</th><th>Progress</th><th class="r">For</th></tr></thead>
        <tbody>${repeat(ids, (id) => id, (id) => {
          const job = live.jobs.get(id);
          return html`<tr><td>${jobLink(id)}</td><td>${cut(job?.kind)}</td><td>${cut(job?.queue)}</td><td class="r num">${count(job?.attempt)}</td><td>${progressBar(job?.progress, job?.progressMessage)}</td>
            <td class="r num">${job?.startedAt ? span(now() - millis(job.startedAt)) : '–'}</td></tr>`;
        })}</tbody></table></div>`}</section>`;
  }

  #ends() {
    const all = this.exits ?? [];
    return html`<section aria-labelledby="ends"><div class="head"><h2 id="ends">Restarts and stops</h2>
        <div class="choice" role="group" aria-label="Time span">${Object.keys(SPANS).map((name) => html`<button type="button" class="small" aria-pressed=${this.hours === name ? 'true' : 'false'} @click=${() => (this.hours = name)}>${name}</button>`)}</div></div>
      ${this.#plot(all)}
      <div class="scroll" tabindex="0"><table><thead><tr><th class="r">Ended</th><th>How</th><th class="r">PID</th><th class="r">Ran for</th><th>Exit</th><th>Why</th></tr></thead>
        <tbody>${all.length === 0 ? empty(6, this.exits ? 'No process of it has ended in the last thirty days' : 'Loading …') : all.slice(0, 50).map((each) => html`<tr>
          <td class="r num">${time(each.endedAt)}</td><td>${badge(each.status === 'stopping' ? 'stopped' : each.status)}</td><td class="r num">${each.pid ?? '–'}</td>
          <td class="r num">${each.startedAt ? span(millis(each.endedAt) - millis(each.startedAt)) : '–'}</td>
          <td>${each.exit ? html`<span title=${`${each.exit.meaning}. ${each.exit.hint}`}>${each.exit.name} <span class="dim num">${each.exit.code}</span></span>` : none}</td>
          <td class="wrap">${each.reason ?? none}</td></tr>`)}</tbody></table></div></section>`;
  }

  /** How many ended in each of the last hours. */
  #plot(all) {
    const hours = SPANS[this.hours];
    const end = now();
    const bins = Array.from({ length: hours }, () => []);
    for (const each of all) {
      const at = hours - 1 - Math.floor((end - millis(each.endedAt)) / HOUR_MS);
      if (at >= 0 && at < hours) bins[at].push(each);
    }
    const shown = bins.flat();
    if (shown.length === 0) return html`<p class="dim">None in the last ${this.hours}.</p>`;
    const most = Math.max(4, ...bins.map((each) => each.length));
    const asked = shown.filter((each) => each.status === 'stopping').length;
    const bar = (each, from, i, x) => svg`<rect class=${TONES[each.status]} x=${x * 4} y=${64 - (60 * (from + i + 1)) / most} width="3" height=${60 / most - 0.5}><title>${moment(each.endedAt)}: ${each.reason}</title></rect>`;
    return html`<svg class="ends" viewBox="0 0 ${hours * 4} 64" preserveAspectRatio="none" role="img" aria-label="${shown.length - asked} crashes and ${asked} stops in the last ${this.hours}">${bins.map((each, x) => each.map((one, i) => bar(one, 0, i, x)))}</svg>
      <div class="ends-axis"><span>${moment(new Date(end - hours * HOUR_MS).toISOString())}</span><span>${count(shown.length - asked)} crashed, ${count(asked)} stopped</span><span>now</span></div>`;
  }

  #output() {
    const { text, skipped } = this.log;
    return html`<section aria-labelledby="log"><h2 id="log">Log <span class="dim">${skipped ? 'the last part; the whole is a file beside its supervisor' : 'of its processes'}</span></h2>
      ${text
        ? html`<pre class="text log" tabindex="0" @scroll=${({ target }) => (this.atEnd = target.scrollHeight - target.scrollTop - target.clientHeight < 40)}>${text}</pre>
          <div class="actions">${copyButton(text, 'log')}</div>`
        : html`<p class="dim">It has printed nothing.</p>`}</section>`;
  }
}

customElements.define('hf-worker', WorkerView);
