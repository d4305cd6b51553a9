/** Workers, their processes, and the commands to these. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { ask } from './dialogs.js';
import { count, millis, now, span } from './format.js';
import { live } from './live.js';
import { ago, badge, cut, empty, jobLink, long, none, pausedBy, QUIET_MS, time, View, workerPage } from './parts.js';
import { get, post } from './server.js';
import { COMMANDS, commandButtons } from './worker-commands.js';

class Workers extends View {
  static properties = { workers: { state: true }, workersPausedAt: { state: true }, workersPause: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.refresh();
    this.every(QUIET_MS, () => this.refresh());
  }

  changed(event) {
    if (event.what.has('workers')) this.refresh(2000);
    this.requestUpdate();
  }

  async read(signal) {
    const { workers, workersPausedAt, workersPause } = await get('/v1/workers', signal);
    Object.assign(this, { workers, workersPausedAt, workersPause });
  }

  async #all(action) {
    await ask({
      title: `${COMMANDS[action][0]} all workers?`,
      text: action === 'pause' ? 'No worker claims another job until they are resumed. Running jobs continue.' : 'All workers claim jobs again, and processes that have failed are started.',
      reason: true,
      confirm: `${COMMANDS[action][0]} all`,
      danger: action === 'pause',
      act: async ({ reason }) => {
        await post(`/v1/workers/${action}`, reason ? { reason } : {});
        return `All workers are ${action}d`;
      },
    });
    this.refresh(0);
  }

  render() {
    const workers = this.workers ?? [];
    return html`<div class="head"><h1 tabindex="-1">Workers</h1>
        ${this.mayOperateAll ? html`<button type="button" @click=${() => this.#all(this.workersPausedAt ? 'resume' : 'pause')}>${this.workersPausedAt ? 'Resume all …' : 'Pause all …'}</button>` : nothing}</div>
      ${this.trouble()}
      ${this.workersPausedAt ? html`<p class="notice warn">All workers have been paused since ${time(this.workersPausedAt)}${pausedBy(this.workersPause)}.</p>` : nothing}
      <div class="scroll" tabindex="0"><table class="acted">
        <thead><tr><th>Worker</th><th>Status</th><th class="r">PID</th><th>Queues</th><th>Current job</th><th class="r">Jobs</th><th class="r">Restarts</th><th>Last exit</th><th>Why</th><th class="r">Seen</th>
          ${this.mayOperateAll ? html`<th><span class="hidden">Actions</span></th>` : nothing}</tr></thead>
        <tbody>${workers.length === 0 ? empty(11, !this.workers ? 'Loading …' : "No workers: start one with 'holdfast supervise' or 'holdfast worker'") : repeat(workers, (each) => `${each.component} ${each.supervisor ?? each.workerId}`, (each) => this.#row(each))}</tbody>
      </table></div>`;
  }

  #row(each) {
    return html`<tr>
      <td>${workerPage(each, this)} ${each.supervisor ? html`<span class="dim cut">${each.supervisor}</span>` : html`<span class="dim">no supervisor</span>`}</td>
      <td>${badge(each.status)} ${each.pausedByOperator ? badge('paused') : nothing} ${each.stoppedByOperator ? badge('stopped') : nothing}</td>
      <td class="r num">${each.pid ?? none}</td>
      <td>${cut(each.queues.join(', '))}</td>
      <td>${each.currentJob ? html`${jobLink(each.currentJob)} ${live.jobs.get(each.currentJob)?.kind ?? ''} <span class="dim num">${each.oldestJobStartedAt ? span(now() - millis(each.oldestJobStartedAt)) : ''}</span>` : none}</td>
      <td class="r num">${count(each.runningJobs)}</td>
      <td class="r num" title=${each.lastRestart ? `last ${each.lastRestart}` : ''}>${count(each.restarts)}</td>
      <td>${each.exit ? html`<span title=${`${each.exit.meaning}. ${each.exit.hint ?? ''}`}>${each.exit.name} <span class="dim num">${each.exit.code}</span></span>` : none}</td>
      <td>${each.nextRestart ? html`<span class="dim">restarts ${time(each.nextRestart)}</span>` : nothing} ${each.reason ? long(each.reason) : nothing}</td>
      <td class="r num">${ago(each.lastSeen)}</td>
      ${this.mayOperateAll ? html`<td class="r">${each.supervisor ? commandButtons(each, this) : nothing}</td>` : nothing}</tr>`;
  }
}

customElements.define('hf-workers', Workers);
