/** What jobs fail of: failed jobs with the same cause are one row. */
import { html, nothing, svg } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { bulk } from './bulk.js';
import { count } from './format.js';
import { live } from './live.js';
import { ago, cut, empty, jobLink, jobsLink, QUIET_MS, View } from './parts.js';
import { get } from './server.js';

const searchOf = (group) => `failure:${group.signature}`;

/** How many failed in each of the last hours, as bars. */
function bars(hours) {
  const most = Math.max(1, ...hours);
  const total = hours.reduce((sum, each) => sum + each, 0);
  return html`<svg class="spark" viewBox="0 0 ${hours.length * 4} 20" role="img" aria-label="${total} in the last ${hours.length} hours">
    ${hours.map((n, i) => (n ? svg`<rect x=${i * 4} y=${20 - Math.max(2, (20 * n) / most)} width="3" height="20"><title>${n}, ${hours.length - 1 - i} h ago</title></rect>` : nothing))}</svg>`;
}

class Failures extends View {
  static properties = { failures: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.refresh();
    this.every(QUIET_MS, () => this.refresh());
  }

  changed(event) {
    if ([...event.ended].some((id) => (live.jobs.get(id)?.state ?? 'FAILED') === 'FAILED')) this.refresh(5000);
    this.requestUpdate();
  }

  async read(signal) {
    this.failures = await get('/v1/failures', signal);
  }

  async #retry(group) {
    await bulk('retry', { search: searchOf(group) });
    this.refresh(0);
  }

  render() {
    const groups = this.steady('failures', this.failures?.groups ?? [], (group) => group.signature);
    return html`<h1 tabindex="-1">Failures</h1>
      ${this.trouble()}
      <p class="dim">Failed jobs of one kind with one code, whose messages differ only in numbers and ids.${this.failures?.more ? ` Among the newest ${count(this.failures.searched)} failed jobs.` : ''}</p>
      <div class="scroll" tabindex="0" data-steady="failures"><table class="acted">
        <thead><tr><th>Failure</th><th class="r">Jobs</th><th>Last 24 hours</th><th class="r">Last</th><th class="r">First</th><th>Queues, workers</th><th>Latest</th>${this.mayOperate ? html`<th><span class="hidden">Actions</span></th>` : nothing}</tr></thead>
        <tbody>${groups.length === 0 ? empty(8, this.failures ? 'No job has failed' : 'Loading …') : repeat(groups, (group) => group.signature, (group) => this.#row(group))}</tbody>
      </table></div>`;
  }

  #row(group) {
    return html`<tr>
      <td><span class="clamp" title=${group.message}>${group.pattern || html`<span class="dim">no message</span>`}</span>
        <span class="code">${group.code}</span> <span class="dim">${cut(group.kind)}</span></td>
      <td class="r num">${jobsLink({ search: searchOf(group) }, count(group.jobs))}</td>
      <td>${bars(group.hours)}</td>
      <td class="r num">${ago(group.lastSeen)}</td><td class="r num">${ago(group.firstSeen)}</td>
      <td>${cut(group.queues.join(', '))}${group.workers.length ? html`<br><span class="dim">${cut(group.workers.join(', '))}</span>` : nothing}</td>
      <td>${jobLink(group.latest)}</td>
      ${this.mayOperate ? html`<td class="r"><button type="button" class="small" aria-label="Retry ${group.signature}" @click=${() => this.#retry(group)}>Retry …</button></td>` : nothing}</tr>`;
  }
}

customElements.define('hf-failures', Failures);
