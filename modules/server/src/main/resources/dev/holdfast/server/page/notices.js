/** What servers told others of the questions that jobs ask. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { attempt } from './dialogs.js';
import { count } from './format.js';
import { cut, empty, jobLink, none, QUIET_MS, time, View } from './parts.js';
import { get, post, query } from './server.js';

/** The states, each in the colour of the state of jobs that is most like it. */
const STATES = { PENDING: ['pending', 'retrying'], DELIVERED: ['delivered', 'succeeded'], SUPERSEDED: ['superseded', 'cancelled'], GIVEN_UP: ['given up', 'failed'] };
const MOST = 200;

class Notices extends View {
  static properties = { list: { state: true }, only: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.refresh();
    this.every(QUIET_MS, () => this.refresh());
  }

  async read(signal) {
    this.list = await get(`/v1/notices${query({ state: this.only, limit: MOST })}`, signal);
  }

  #choose(event) {
    this.only = event.target.value;
    this.refresh(0);
  }

  async #send(notice) {
    await attempt(() => post(`/v1/notices/${encodeURIComponent(notice.id)}/send`, {}), 'A server sends it within seconds');
    this.refresh(0);
  }

  render() {
    const all = this.list?.notices ?? [];
    return html`<div class="head"><h1 tabindex="-1">Notices</h1>
        <label>State <select name="state" @change=${(event) => this.#choose(event)}><option value="">all</option>
          ${Object.entries(STATES).map(([state, [word]]) => html`<option value=${state} ?selected=${this.only === state}>${word}</option>`)}</select></label></div>
      ${this.trouble()}
      <p class="dim">When a job asks somebody, servers post a signed notice ${this.list?.receiver ? html`to <span class="mono">${this.list.receiver}</span>` : 'to where HOLDFAST_NOTIFY_URL says'}, until it is received.
        The questions themselves: <a href="#/jobs?search=waits%3Aapproval">waits:approval</a>.</p>
      <div class="scroll" tabindex="0"><table class="acted">
        <thead><tr><th>State</th><th>Job</th><th>Kind</th><th>Question</th><th>Asked</th><th class="r">Tries</th><th>Next try</th><th>Last answer</th>${this.mayOperate ? html`<th><span class="hidden">Actions</span></th>` : nothing}</tr></thead>
        <tbody>${all.length === 0 ? empty(9, this.list ? 'There is no notice' : 'Loading …') : repeat(all, (each) => each.id, (each) => this.#row(each))}</tbody></table></div>`;
  }

  #row(each) {
    const [word, like] = STATES[each.state] ?? [each.state.toLowerCase(), 'pending'];
    return html`<tr><td><span class="badge s-${like}">${word}</span></td><td>${jobLink(each.jobId)}</td><td>${cut(each.kind)}</td><td>${cut(each.waitId)}</td>
      <td class="num">${time(each.askedAt)}</td><td class="r num">${count(each.attempts)}</td><td class="num">${each.nextTryAt ? time(each.nextTryAt) : none}</td>
      <td>${each.lastError ? cut(each.lastError) : each.lastStatus ? `status ${each.lastStatus}` : none}</td>
      ${this.mayOperate ? html`<td class="r">${each.state === 'SUPERSEDED' ? nothing : html`<button type="button" class="small" aria-label="Send the notice of …${each.jobId.slice(-8)} again" @click=${() => this.#send(each)}>Send again</button>`}</td>` : nothing}</tr>`;
  }
}

customElements.define('hf-notices', Notices);
