/** Throughput, depth and problems. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { count, millis, rate, span } from './format.js';
import { historyPath, historyPlots, knownNote, rangeChoice, rangeName } from './history.js';
import { live } from './live.js';
import { ago, empty, jobLink, jobsLink, pauseBadge, progressBar, QUIET_MS, View } from './parts.js';
import { failedJobs, problemRow } from './problems.js';
import { get } from './server.js';

const MOST_RUNNING = 12;
const MOST_QUEUES = 12;

class Overview extends View {
  static properties = {
    minutes: { state: true },
    history: { state: true },
    problems: { state: true },
    failed: { state: true },
    running: { state: true },
  };

  constructor() {
    super();
    this.minutes = 15;
  }

  connectedCallback() {
    super.connectedCallback();
    this.refresh();
    this.every(QUIET_MS, () => this.refresh());
  }

  changed(event) {
    // Something ended, so the plots and the number of failures may not be right any more.
    if (event.what.has('health') || event.ended.size > 0) this.refresh(5000);
    this.requestUpdate();
  }

  async read(signal) {
    await this.showEach(
      signal,
      get(historyPath({ minutes: this.minutes }), signal).then((history) => ({ history })),
      get('/v1/info', signal).then(({ problems }) => ({ problems })),
      get('/v1/jobs/count?state=FAILED', signal).then((failed) => ({ failed })),
      get(`/v1/jobs?state=RUNNING&brief=true&limit=${MOST_RUNNING}`, signal).then(({ jobs }) => ({ running: jobs })),
    );
  }

  #range(minutes) {
    this.minutes = minutes;
    this.refresh(0);
  }

  render() {
    const totals = live.totals;
    const running = this.#running().sort((a, b) => millis(a.startedAt) - millis(b.startedAt));
    return html`<h1 tabindex="-1">Overview</h1>
      ${this.trouble()}
      <div class="tiles">
        ${this.#tile('Running', totals?.running, '#/jobs?state=RUNNING')}
        ${this.#tile('Due', totals?.pending, '#/jobs?state=PENDING')}
        ${this.#tile('Retrying', totals?.retrying, '#/jobs?state=RETRYING', totals?.retrying ? 'warn' : '')}
        ${this.#tile('Delayed, waiting', totals ? totals.delayed + totals.waiting : null, '#/jobs?state=WAITING,PENDING')}
        ${this.#tile('Done, 5 min', totals?.completed, '#/jobs?state=SUCCEEDED')}
        ${this.#tile('Failed, 5 min', totals?.failed, '#/jobs?state=FAILED', totals?.failed ? 'bad' : '')}
        <div class="tile"><span class="dim">Jobs per second</span><b class="num">${rate(totals?.ratePerSecond)}</b></div>
        ${this.#emptyIn(totals)}
      </div>
      ${this.#attention()}
      <section aria-labelledby="plots">
        <div class="head"><h2 id="plots">The last ${rangeName(this.minutes)}</h2>
          ${rangeChoice(this.minutes, (minutes) => this.#range(minutes))}
        </div>
        ${historyPlots(this.history)}${knownNote(this.history)}
      </section>
      <div class="columns">
        <section aria-labelledby="depth"><h2 id="depth">Queues</h2>${this.#depth()}</section>
        <section aria-labelledby="running"><h2 id="running">Running now</h2>
          <div class="scroll" tabindex="0"><table><thead><tr><th>Job</th><th>Kind</th><th>Queue</th><th class="r">For</th><th>Progress</th></tr></thead>
          <tbody>${running.length === 0 ? empty(5, live.totals && this.running ? 'No running jobs' : 'Loading …') : repeat(running.slice(0, MOST_RUNNING), (job) => job.id, (job) => html`<tr>
            <td>${jobLink(job.id)}</td><td><span class="cut">${job.kind}</span></td><td><span class="cut">${job.queue}</span></td>
            <td class="r num">${ago(job.startedAt)}</td><td>${progressBar(job.progress, job.progressMessage)}</td></tr>`)}</tbody></table></div>
          ${Math.max(running.length, totals?.running ?? 0) > MOST_RUNNING ? html`<p>${jobsLink({ state: 'RUNNING' }, `All ${count(totals?.running)} running jobs`)}</p>` : nothing}
        </section>
      </div>`;
  }

  /** The stream tells what changes; a job that has run since before it began is read. */
  #running() {
    const read = (this.running ?? []).filter((job) => !live.jobs.has(job.id));
    return [...read, ...live.running()];
  }

  #tile(text, number, href, kind = '') {
    return html`<a class="tile ${kind}" href=${href}><span class="dim">${text}</span><b class="num">${count(number)}</b></a>`;
  }

  /** When all queues are empty, or why they do not get empty. */
  #emptyIn(totals) {
    const tile = (value, title = nothing) => html`<div class="tile" id="empty-in" title=${title}><span class="dim">Empty in</span><b class="num">${value}</b></div>`;
    if (!totals) return tile('–');
    if (totals.emptyInMs != null) return tile(totals.emptyInMs === 0 ? 'now' : span(totals.emptyInMs));
    const stuck = [...live.queues.values()].filter((queue) => queue.emptyInMs == null && queue.pending + queue.running > 0);
    const moving = stuck.filter((queue) => !queue.pausedAt && !queue.workersPausedAt);
    const names = (queues) => `${queues.slice(0, 5).map((queue) => queue.queue).join(', ')}${queues.length > 5 ? ' and others' : ''}`;
    if (moving.length > 0) return tile('never', `At the rate of now: jobs are due and none of them ends in ${names(moving)}`);
    return stuck.length > 0 ? tile('paused', stuck.every((queue) => !queue.pausedAt) ? 'All workers are paused, and jobs are due' : `Jobs are due, and paused: ${names(stuck)}`) : tile('never', 'Jobs are due and none of them ends');
  }

  #attention() {
    const problems = (this.problems ?? []).filter((each) => each.code !== 'jobs_failed');
    const away = live.health?.status === 'error' ? live.health.reasons : [];
    const failed = this.failed?.count ?? 0;
    const calm = problems.length === 0 && away.length === 0 && failed === 0;
    return html`<section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      ${calm && this.problems && this.failed ? html`<p class="notice good">No problems.</p>` : nothing}
      <ul class="problems">
        ${away.map((each) => html`<li class="bad"><a href="#/info">${each.message}</a></li>`)}
        ${[...(failed ? [failedJobs(this.failed)] : []), ...problems].map((each) => problemRow(each, this))}
      </ul></section>`;
  }

  #bar(value, most, label) {
    return html`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" role="meter" aria-valuemin="0" aria-valuemax=${most} aria-valuenow=${value} aria-label=${label}>
      <rect width=${(100 * value) / most} height="1"></rect></svg>`;
  }

  #depth() {
    const queues = this.steady('queues', [...live.queues.values()].sort((a, b) => b.pending + b.running - a.pending - a.running || (a.queue < b.queue ? -1 : 1)), (queue) => queue.queue);
    const most = Math.max(1, ...queues.map((queue) => queue.pending + queue.running));
    return html`<div class="scroll" tabindex="0" data-steady="queues"><table><thead><tr><th>Queue</th><th class="r">Due</th><th class="r">Running</th><th class="wide">Depth</th><th class="r">Per second</th></tr></thead>
      <tbody>${queues.length === 0 ? empty(5, live.totals ? 'No queues yet' : 'Loading …') : repeat(queues.slice(0, MOST_QUEUES), (queue) => queue.queue, (queue) => html`<tr>
        <td><a class="cut" href="#/queues/${encodeURIComponent(queue.queue)}">${queue.queue}</a> ${pauseBadge(queue)}</td>
        <td class="r num">${count(queue.pending)}</td><td class="r num">${count(queue.running)}</td>
        <td>${this.#bar(queue.pending + queue.running, most, `due and running jobs of ${queue.queue}`)}</td>
        <td class="r num">${rate(queue.ratePerSecond)}</td></tr>`)}</tbody></table></div>
      ${queues.length > MOST_QUEUES ? html`<p><a href="#/queues">All ${count(queues.length)} queues</a></p>` : nothing}`;
  }
}

customElements.define('hf-overview', Overview);
