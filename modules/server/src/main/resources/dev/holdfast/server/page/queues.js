/** Queues with their limits, and what is enqueued by the clock. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { attempt } from './dialogs.js';
import { count, rate, span } from './format.js';
import { live } from './live.js';
import { badge, cut, empty, QUIET_MS, time, View } from './parts.js';
import { get, post } from './server.js';

class Queues extends View {
  static properties = { queues: { state: true }, schedules: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.refresh();
    this.every(QUIET_MS, () => this.refresh());
  }

  changed(event) {
    if (event.what.has('queues')) this.refresh(10_000);
    this.requestUpdate();
  }

  async read(signal) {
    const everybody = this.session?.tenant === null;
    const [queues, schedules] = await Promise.all([
      get('/v1/queues', signal),
      everybody ? get('/v1/schedules', signal) : { schedules: [] },
    ]);
    Object.assign(this, { queues: queues.queues, schedules: schedules.schedules });
  }

  /** All that have settings or jobs, and those that had some while we looked. */
  #rows() {
    const rows = new Map();
    for (const queue of live.queues.values()) rows.set(queue.queue, { name: queue.queue });
    for (const queue of this.queues ?? []) rows.set(queue.name, queue);
    return [...rows.values()].map((row) => ({ ...row, live: live.queues.get(row.name) })).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async #pause(name, verb) {
    await attempt(() => post(`/v1/queues/${encodeURIComponent(name)}/${verb}`), `Queue ${name} is ${verb}d`);
    this.refresh(0);
  }

  async #schedule(name, verb) {
    await attempt(() => post(`/v1/schedules/${encodeURIComponent(name)}/${verb}`), `Schedule ${name} is ${verb}d`);
    this.refresh(0);
  }

  render() {
    const rows = this.#rows();
    return html`<h1 tabindex="-1">Queues</h1>
      ${this.trouble()}
      <div class="scroll"><table>
        <thead><tr><th>Queue</th><th class="r">Due</th><th class="r">Running</th><th class="r">Limit</th><th class="r">Retrying</th><th class="r">Delayed</th><th class="r">Waiting</th>
          <th class="r">Per second</th><th class="r">Failed, 5 min</th><th class="r">Oldest due</th><th>Rate limit</th>${this.mayOperateAll ? html`<th><span class="hidden">Actions</span></th>` : nothing}</tr></thead>
        <tbody>${rows.length === 0 ? empty(12, this.queues ? 'No queues yet: a queue appears with its first job' : 'Loading …') : repeat(rows, (row) => row.name, (row) => this.#row(row))}</tbody>
      </table></div>
      ${this.schedules?.length ? this.#schedules() : nothing}`;
  }

  #row(row) {
    const now = row.live ?? { pending: row.due, running: row.running, retrying: row.retrying, delayed: row.delayed, waiting: row.waiting };
    const paused = now.paused ?? Boolean(row.pausedAt);
    return html`<tr>
      <td><a class="cut" href="#/jobs?queue=${encodeURIComponent(row.name)}">${row.name}</a> ${paused ? badge('paused') : nothing}
        ${row.dispatch ? html`<span class="dim cut" title=${row.dispatch.url}>pushed to ${row.dispatch.url}</span>` : nothing}</td>
      <td class="r num">${count(now.pending)}</td><td class="r num">${count(now.running)}</td>
      <td class="r num">${row.maxRunning ? count(row.maxRunning) : html`<span class="dim">–</span>`}</td>
      <td class="r num">${count(now.retrying)}</td><td class="r num">${count(now.delayed)}</td><td class="r num">${count(now.waiting)}</td>
      <td class="r num">${rate(now.ratePerSecond)}</td>
      <td class="r num">${now.failed ? html`<a class="badtext" href="#/jobs?state=FAILED&queue=${encodeURIComponent(row.name)}">${count(now.failed)}</a>` : count(now.failed)}</td>
      <td class="r num">${now.pending ? span(row.oldestDueAgeMs) : html`<span class="dim">–</span>`}</td>
      <td class="num">${row.rateLimit ? `${count(row.rateLimit.starts)} per ${span(row.rateLimit.periodMs)}` : html`<span class="dim">–</span>`}</td>
      ${this.mayOperateAll
        ? html`<td class="r">${paused
            ? html`<button type="button" class="small" @click=${() => this.#pause(row.name, 'resume')}>Resume</button>`
            : html`<button type="button" class="small" @click=${() => this.#pause(row.name, 'pause')}>Pause</button>`}</td>`
        : nothing}</tr>`;
  }

  #schedules() {
    return html`<section aria-labelledby="schedules"><h2 id="schedules">Schedules</h2>
      <div class="scroll"><table>
        <thead><tr><th>Schedule</th><th>Cron</th><th>Zone</th><th>Kind</th><th>Queue</th><th>Next</th><th>Last</th>${this.mayOperateAll ? html`<th><span class="hidden">Actions</span></th>` : nothing}</tr></thead>
        <tbody>${this.schedules.map((each) => html`<tr><td>${cut(each.name)} ${each.pausedAt ? badge('paused') : nothing} ${each.fireError ? html`<span class="badge s-failed" title=${each.fireError}>broken</span>` : nothing}</td>
          <td class="mono">${each.cron}</td><td>${each.zone}</td><td>${cut(each.kind)}</td><td>${cut(each.queue)}</td>
          <td class="num">${each.pausedAt ? html`<span class="dim">–</span>` : time(each.nextFireAt)}</td><td class="num">${time(each.lastFiredAt)}</td>
          ${this.mayOperateAll
            ? html`<td class="r"><button type="button" class="small" @click=${() => this.#schedule(each.name, each.pausedAt ? 'resume' : 'pause')}>${each.pausedAt ? 'Resume' : 'Pause'}</button></td>`
            : nothing}</tr>`)}</tbody></table></div></section>`;
  }
}

customElements.define('hf-queues', Queues);
