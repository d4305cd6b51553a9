/** Queues with their limits. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { attempt } from './dialogs.js';
import { count, rate, span } from './format.js';
import { live } from './live.js';
import { empty, none, pauseBadge, pausedBy, QUIET_MS, View } from './parts.js';
import { get, post } from './server.js';

class Queues extends View {
  static properties = { queues: { state: true } };

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
    this.queues = (await get('/v1/queues', signal)).queues;
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

  render() {
    const rows = this.#rows();
    return html`<h1 tabindex="-1">Queues</h1>
      ${this.trouble()}
      <div class="scroll" tabindex="0"><table>
        <thead><tr><th>Queue</th><th class="r">Due</th><th class="r">Running</th><th class="r">Limit</th><th class="r">Retrying</th><th class="r">Delayed</th><th class="r">Waiting</th>
          <th class="r">Per second</th><th class="r">Failed, 5 min</th><th class="r">Oldest due</th><th>Rate limit</th>${this.mayOperateAll ? html`<th><span class="hidden">Actions</span></th>` : nothing}</tr></thead>
        <tbody>${rows.length === 0 ? empty(12, this.queues ? 'No queues yet: a queue appears with its first job' : 'Loading …') : repeat(rows, (row) => row.name, (row) => this.#row(row))}</tbody>
      </table></div>`;
  }

  #row(row) {
    const now = row.live ?? { pending: row.due, running: row.running, retrying: row.retrying, delayed: row.delayed, waiting: row.waiting };
    const pauses = row.live ?? row;
    const paused = Boolean(pauses.pausedAt);
    return html`<tr>
      <td><a class="cut" href="#/queues/${encodeURIComponent(row.name)}">${row.name}</a> ${pauseBadge(pauses)} ${paused && row.pause ? html`<span class="dim cut">${pausedBy(row.pause)}</span>` : nothing}
        ${row.dispatch ? html`<span class="dim cut" title=${row.dispatch.url}>pushed to ${row.dispatch.url}</span>` : nothing}</td>
      <td class="r num">${count(now.pending)}</td><td class="r num">${count(now.running)}</td>
      <td class="r num">${row.maxRunning ? count(row.maxRunning) : none}</td>
      <td class="r num">${count(now.retrying)}</td><td class="r num">${count(now.delayed)}</td><td class="r num">${count(now.waiting)}</td>
      <td class="r num">${rate(now.ratePerSecond)}</td>
      <td class="r num">${now.failed ? html`<a class="badtext" href="#/jobs?state=FAILED&queue=${encodeURIComponent(row.name)}">${count(now.failed)}</a>` : count(now.failed)}</td>
      <td class="r num">${now.pending ? span(row.oldestDueAgeMs) : none}</td>
      <td class="num">${row.rateLimit ? `${count(row.rateLimit.starts)} per ${span(row.rateLimit.periodMs)}` : none}</td>
      ${this.mayOperateAll
        ? html`<td class="r">${paused
            ? html`<button type="button" class="small" @click=${() => this.#pause(row.name, 'resume')}>Resume</button>`
            : html`<button type="button" class="small" @click=${() => this.#pause(row.name, 'pause')}>Pause</button>`}</td>`
        : nothing}</tr>`;
  }
}

customElements.define('hf-queues', Queues);
