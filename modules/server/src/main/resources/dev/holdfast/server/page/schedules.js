/** What is enqueued by the clock. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { ask, attempt } from './dialogs.js';
import { exactly, millis, moment, now, shortMoment, span } from './format.js';
import { readJson } from './json.js';
import { ago, badge, cut, empty, none, pausedBy, QUIET_MS, time, View } from './parts.js';
import { get, post, put, remove } from './server.js';

const MISSED = ['ONCE', 'SKIP', 'ALL'];
const path = (name, rest = '') => `/v1/schedules/${encodeURIComponent(name)}${rest}`;

/** Fields that the form does not have stay as they are. */
function changed(before, form) {
  const kept = before ? { priority: before.priority, maxCrashes: before.maxCrashes, ...(before.maxAttempts ? { maxAttempts: before.maxAttempts } : {}), ...(before.timeoutMs ? { timeoutMs: before.timeoutMs } : {}) } : {};
  return { ...kept, cron: form.cron, zone: form.zone || 'UTC', kind: form.kind, queue: form.queue || 'default', missedFires: form.missedFires, allowOverlap: form.allowOverlap === 'yes', payload: readJson(form.payload, 'payload') };
}

class Schedules extends View {
  static properties = { schedules: { state: true } };

  connectedCallback() {
    super.connectedCallback();
    this.refresh();
    this.every(QUIET_MS, () => this.refresh());
  }

  async read(signal) {
    this.schedules = this.session?.tenant === null ? (await get('/v1/schedules', signal)).schedules : [];
  }

  async #do(name, verb) {
    await attempt(() => post(path(name, `/${verb}`)), `Schedule ${name} is ${verb}d`);
    this.refresh(0);
  }

  async #run(name) {
    await ask({
      title: `Run ${name} now?`,
      text: 'Its job is enqueued now. Its times stay as they are.',
      confirm: 'Run now',
      act: async () => {
        const { id, duplicate } = await post(path(name, '/run'), {});
        return duplicate ? `The last job of ${name} has not ended yet` : `Enqueued …${id.slice(-8)}`;
      },
    });
    this.refresh(0);
  }

  async #remove(name) {
    await ask({
      title: `Delete ${name}?`,
      text: 'The jobs that it enqueued stay.',
      confirm: 'Delete',
      danger: true,
      act: async () => {
        await remove(path(name));
        return `Schedule ${name} is deleted`;
      },
    });
    this.refresh(0);
  }

  async #edit(before) {
    await ask({
      title: before ? `Change ${before.name}` : 'New schedule',
      text: 'Five fields: minute, hour, day of month, month and day of week, or six with the second first; a word such as @daily; or @every 30s.',
      fields: [
        ...(before ? [] : [{ name: 'name', label: 'Name', required: true, pattern: '[A-Za-z0-9][A-Za-z0-9_.:\\/\\-]*' }]),
        { name: 'cron', label: 'Cron', required: true, value: before?.cron ?? '0 3 * * *' },
        { name: 'zone', label: 'Time zone', value: before?.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC' },
        { name: 'kind', label: 'Kind', required: true, value: before?.kind ?? '' },
        { name: 'queue', label: 'Queue', value: before?.queue ?? 'default' },
        { name: 'payload', label: 'Payload', rows: 4, value: JSON.stringify(before?.payload ?? {}, null, 2) },
        { name: 'missedFires', label: 'For missed times, fire', options: MISSED, value: before?.missedFires ?? 'ONCE' },
        { name: 'allowOverlap', label: 'While its last job has not ended, fire again', options: ['yes', 'no'], value: before?.allowOverlap === false ? 'no' : 'yes' },
      ],
      confirm: before ? 'Change' : 'Create',
      act: async (form) => {
        const name = before?.name ?? form.name;
        const { nextFireAt } = await put(path(name), changed(before, form));
        return `${name} fires next ${moment(nextFireAt)}`;
      },
    });
    this.refresh(0);
  }

  render() {
    const all = this.schedules ?? [];
    return html`<div class="head"><h1 tabindex="-1">Schedules</h1>
        ${this.mayOperateAll ? html`<button type="button" class="primary" @click=${() => this.#edit()}>New schedule …</button>` : nothing}</div>
      ${this.trouble()}
      <div class="scroll" tabindex="0"><table class="acted">
        <thead><tr><th>Schedule</th><th>Cron</th><th>Zone</th><th>Kind</th><th>Queue</th><th>Next five times</th><th>Last time</th><th>Last jobs</th>${this.mayOperateAll ? html`<th><span class="hidden">Actions</span></th>` : nothing}</tr></thead>
        <tbody>${all.length === 0 ? empty(9, this.schedules ? 'There is no schedule' : 'Loading …') : repeat(all, (each) => each.name, (each) => this.#row(each))}</tbody></table></div>`;
  }

  /** The first with how long it takes until then, the others after it. */
  #times([next, ...others]) {
    if (!next) return none;
    const left = millis(next) - now();
    return html`<span>${time(next)} <span class="dim">${left > 0 ? `in ${span(Math.ceil(left / 1000) * 1000)}` : 'now'}</span></span>
      <span class="dim">${others.map((at, i) => html`${i ? ' · ' : nothing}<time datetime=${at} title=${exactly(at)}>${shortMoment(at)}</time>`)}</span>`;
  }

  /** The newest first: the last one in words, those before it as marks. */
  #runs(each) {
    const [last, ...before] = each.lastRuns ?? [];
    if (!last) return html`<span class="dim">none</span>`;
    const took = (run) => (run.finishedAt ? `, took ${span(millis(run.finishedAt) - millis(run.startedAt ?? run.createdAt))}` : '');
    return html`<span class="num"><a href="#/jobs/${last.id}" title="${last.id}${took(last)}">${badge(last.state)}</a> <span class="dim">${ago(last.createdAt)} ago</span></span>
      ${before.length ? html`<div class="runs" role="group" aria-label="Jobs before it">${before.map((run) => html`<a class="run s-${run.state.toLowerCase()}" href="#/jobs/${run.id}"
        aria-label="${run.state.toLowerCase()} ${moment(run.createdAt)}" title="${run.state.toLowerCase()}, ${exactly(run.createdAt)}${took(run)}"></a>`)}</div>` : nothing}`;
  }

  #row(each) {
    const button = (text, act) => html`<button type="button" class="small" aria-label="${text} ${each.name}" @click=${act}>${text}</button>`;
    return html`<tr><td>${cut(each.name)} ${each.pausedAt ? badge('paused') : nothing} ${each.pause ? html`<span class="dim cut">${pausedBy(each.pause)}</span>` : nothing} ${each.fireError ? html`<span class="badge s-failed" title=${each.fireError}>broken</span>` : nothing}</td>
      <td class="mono">${each.cron}</td><td>${each.zone}</td><td>${cut(each.kind)}</td><td><a class="cut" href="#/queues/${encodeURIComponent(each.queue)}">${each.queue}</a></td>
      <td class="times">${this.#times(each.upcoming)}</td>
      <td class="num">${each.lastFiredAt ? time(each.lastFiredAt) : none}</td><td>${this.#runs(each)}</td>
      ${this.mayOperateAll
        ? html`<td class="r"><span class="buttons">${button('Run now', () => this.#run(each.name))}${button(each.pausedAt ? 'Resume' : 'Pause', () => this.#do(each.name, each.pausedAt ? 'resume' : 'pause'))}${button('Change', () => this.#edit(each))}${button('Delete', () => this.#remove(each.name))}</span></td>`
        : nothing}</tr>`;
  }
}

customElements.define('hf-schedules', Schedules);
