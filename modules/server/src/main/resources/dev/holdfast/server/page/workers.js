/** Workers, their processes, and what can be asked of these. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { ask } from './dialogs.js';
import { count, millis, now, span } from './format.js';
import { ago, badge, cut, empty, jobLink, long, QUIET_MS, time, View } from './parts.js';
import { get, post } from './server.js';

const ASKED = {
  pause: ['Pause', 'It finishes what it holds and takes nothing more until it is resumed.'],
  resume: ['Resume', 'It takes jobs again; a process that was stopped or given up is started.'],
  restart: ['Restart', 'Its process ends, given the time to finish what it holds, and a new one takes its place.'],
  stop: ['Stop', 'Its process ends, given the time to finish what it holds, and there is none until it is resumed.'],
};

class Workers extends View {
  static properties = { workers: { state: true }, pausedSince: { state: true } };

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
    const { workers, pausedSince } = await get('/v1/workers', signal);
    Object.assign(this, { workers, pausedSince });
  }

  async #order(worker, action) {
    const [title, text] = ASKED[action];
    await ask({
      title: `${title} ${worker.component}?`,
      text,
      reason: true,
      confirm: title,
      danger: action === 'stop',
      act: async ({ reason }) => {
        await post(`/v1/workers/${encodeURIComponent(worker.component)}/${action}`, { supervisor: worker.supervisor, ...(reason ? { reason } : {}) });
        return `Asked ${worker.component} to ${action}`;
      },
    });
    this.refresh(0);
  }

  async #all(action) {
    await ask({
      title: `${ASKED[action][0]} all workers?`,
      text: action === 'pause' ? 'No worker takes another job until they are resumed; those that run go on.' : 'All workers take jobs again, and processes that were given up are started.',
      reason: true,
      confirm: `${ASKED[action][0]} all`,
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
    return html`<h1 tabindex="-1">Workers</h1>
      ${this.trouble()}
      ${this.pausedSince ? html`<p class="notice warn">All workers are paused since ${time(this.pausedSince)}.</p>` : nothing}
      ${this.mayOperateAll
        ? html`<div class="actions"><button type="button" class="small" @click=${() => this.#all(this.pausedSince ? 'resume' : 'pause')}>${this.pausedSince ? 'Resume all …' : 'Pause all …'}</button></div>`
        : nothing}
      <div class="scroll"><table class="acted">
        <thead><tr><th>Worker</th><th>Status</th><th class="r">PID</th><th>Queues</th><th>Current job</th><th class="r">Jobs</th><th class="r">Restarts</th><th>Last exit</th><th>Why</th><th class="r">Seen</th>
          ${this.mayOperateAll ? html`<th><span class="hidden">Actions</span></th>` : nothing}</tr></thead>
        <tbody>${workers.length === 0 ? empty(11, !this.workers ? 'Reading …' : "No worker is there: start one with 'holdfast supervise' or 'holdfast worker'") : repeat(workers, (each) => `${each.component} ${each.supervisor ?? each.worker}`, (each) => this.#row(each))}</tbody>
      </table></div>`;
  }

  #row(each) {
    return html`<tr>
      <td>${cut(each.component)} ${each.supervisor ? html`<span class="dim cut">${each.supervisor}</span>` : html`<span class="dim">by its leases alone</span>`}</td>
      <td>${badge(each.status)} ${each.paused ? badge('paused') : nothing} ${each.stopped ? badge('stopped') : nothing}</td>
      <td class="r num">${each.pid ?? html`<span class="dim">–</span>`}</td>
      <td>${cut(each.queues.join(', '))}</td>
      <td>${each.currentJob ? html`${jobLink(each.currentJob)} <span class="dim num">${each.oldestStart ? span(now() - millis(each.oldestStart)) : ''}</span>` : html`<span class="dim">–</span>`}</td>
      <td class="r num">${count(each.jobs)}</td>
      <td class="r num" title=${each.lastRestart ? `last ${each.lastRestart}` : ''}>${count(each.restarts)}</td>
      <td>${each.exit ? html`<span title=${`${each.exit.meaning}. ${each.exit.doNext ?? ''}`}>${each.exit.name} <span class="dim num">${each.exit.code}</span></span>` : html`<span class="dim">–</span>`}</td>
      <td>${each.nextRestart ? html`<span class="dim">starts again ${time(each.nextRestart)}</span>` : nothing} ${each.reason ? long(each.reason) : nothing}</td>
      <td class="r num">${ago(each.lastSeen)}</td>
      ${this.mayOperateAll ? html`<td class="r">${each.supervisor ? this.#buttons(each) : nothing}</td>` : nothing}</tr>`;
  }

  #buttons(each) {
    const down = each.paused || each.stopped || each.status === 'failed';
    const actions = down ? ['resume', ...(each.stopped ? [] : ['restart', 'stop'])] : ['pause', 'restart', 'stop'];
    return html`<span class="buttons">${actions.map((action) => html`<button type="button" class="small ${action === 'stop' ? 'danger' : ''}" aria-label="${ASKED[action][0]} ${each.component}" @click=${() => this.#order(each, action)}>${ASKED[action][0]}</button>`)}</span>`;
  }
}

customElements.define('hf-workers', Workers);
