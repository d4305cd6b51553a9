/** The server, its database, and what is wrong with what to do about it. */
import { html, nothing } from 'lit';
import { count, span } from './format.js';
import { live } from './live.js';
import { badge, cut, none, QUIET_MS, time, View } from './parts.js';
import { problemRow } from './problems.js';
import { get } from './server.js';

class Info extends View {
  static properties = { info: { state: true }, settings: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.refresh();
    this.every(QUIET_MS, () => this.refresh());
  }

  changed(event) {
    if (event.what.has('health')) this.refresh();
    this.requestUpdate();
  }

  async read(signal) {
    const info = await get('/v1/info', signal);
    // They stay what they are for as long as the server runs.
    if (this.mayOperateAll && !(this.settings && info.uptimeMs >= this.info.uptimeMs)) {
      this.settings = (await get('/v1/settings', signal)).settings;
    }
    this.info = info;
  }

  render() {
    const { info } = this;
    const status = live.health?.status;
    return html`<h1 tabindex="-1">Info ${status ? badge(status) : nothing}</h1>
      ${this.trouble()}
      ${live.health?.status === 'error' ? live.health.reasons.map((each) => html`<p class="notice bad">${each.message}</p>`) : nothing}
      ${info ? this.#shown(info) : html`<p class="dim">Loading …</p>`}
      <p class="dim">Press <kbd>?</kbd> for the keyboard shortcuts.</p>
      <p><a href="/docs">The API</a> · <a href="/openapi.yaml">openapi.yaml</a></p>`;
  }

  #shown(info) {
    const facts = (rows) => html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd class="num">${value}</dd></div>`)}</dl>`;
    return html`<section aria-labelledby="problems"><h2 id="problems">Problems</h2>
        ${info.problems.length === 0
          ? html`<p class="notice good">None.</p>`
          : html`<ul class="problems">${info.problems.map((each) => problemRow(each, this))}</ul>`}</section>
      <section aria-labelledby="server"><h2 id="server">Server</h2>
        ${facts([
          ['Version', info.version],
          ['Up for', span(info.uptimeMs)],
          ['Server time', time(info.serverTime)],
          ['Signed in as', `${this.session.name}, ${this.session.role}${this.session.tenant === null ? '' : `, tenant ${this.session.tenant}`}`],
          ['Session expires', this.session.expiresAt ? time(this.session.expiresAt) : 'never: this server has no API keys'],
        ])}</section>
      <section aria-labelledby="database"><h2 id="database">Database</h2>
        ${facts([['PostgreSQL', info.database.version], ['Schema', info.database.schemaVersion], ['Queues with unfinished jobs', count(info.counts.queues)], ['Unfinished jobs', count(['due', 'delayed', 'retrying', 'waiting', 'running'].reduce((sum, field) => sum + info.counts[field], 0))]])}</section>
      <section aria-labelledby="timings"><h2 id="timings">Timings of tasks over HTTP</h2>
        ${facts([
          ['Heartbeat', span(info.timings.heartbeatIntervalMs)],
          ['Lease', span(info.timings.heartbeatTimeoutMs)],
          ['Reap grace', span(info.timings.reapGraceMs)],
          ['Cancel grace', span(info.timings.cancelGracePeriodMs)],
        ])}</section>
      ${this.settings ? this.#settings(this.settings) : nothing}`;
  }

  #settings(all) {
    const given = all.filter((each) => each.origin !== 'default');
    const left = all.filter((each) => each.origin === 'default');
    const table = (rows) => html`<div class="scroll" tabindex="0"><table><thead><tr><th>Setting</th><th>Value</th><th>From</th><th>Variable</th><th>Meaning</th></tr></thead>
      <tbody>${rows.map((each) => html`<tr><td class="mono">${each.key}</td><td class="mono wrap">${each.value || none}</td>
        <td>${cut(each.origin)}</td><td class="mono">${each.variable ?? ''}</td><td class="dim">${each.meaning}</td></tr>`)}</tbody></table></div>`;
    return html`<section aria-labelledby="settings"><h2 id="settings">Settings of this server</h2>
      ${given.length ? table(given) : html`<p class="dim">All settings have their default values.</p>`}
      ${left.length ? html`<details><summary>${count(left.length)} with default values</summary>${table(left)}</details>` : nothing}</section>`;
  }
}

customElements.define('hf-info', Info);
