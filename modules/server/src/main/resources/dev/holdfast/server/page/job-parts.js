/** The parts of a job's page. Each is a function of the view. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import './diff.js';
import { bytes, clipped, count, millis, now, span } from './format.js';
import { stepActions } from './job-actions.js';
import { badge, copyButton, cut, long, none, time, workerLink } from './parts.js';
import { withTerm } from './search.js';
import { jobPath } from './server.js';
import { kindOf } from './timeline.js';

const MOST_TEXT = 20_000;
const MOST_EVENTS = 200;

export function failure(view) {
  // What an attempt before the one that succeeded failed of is beside that attempt.
  if (!view.job.failure || view.job.state === 'SUCCEEDED') return nothing;
  const { category, code, message, stackTrace, retryable, cause } = view.job.failure;
  const root = cause ?? { code, message };
  return html`<section class="notice bad" aria-labelledby="failure">
    <h2 id="failure" class="wrap">${clipped(root.message.split('\n', 1)[0], 200)}</h2>
    <p><span class="code">${clipped(root.code, 200)}</span> ${cause ? html`<span class="code">${code}</span>` : nothing}
      <span class="dim">${String(category).toLowerCase().replaceAll('_', ' ')}, ${retryable ? 'tried again' : cause ? 'no attempt left' : 'not tried again'}</span></p>
    ${root.message.includes('\n') || root.message.length > 200 ? html`<pre class="text">${text(view, 'message', root.message)}</pre>` : nothing}
    ${stackTrace ? html`<details><summary>Stack trace</summary><pre class="text">${text(view, 'stackTrace', stackTrace)}</pre></details>` : nothing}
  </section>`;
}

export function facts({ job }) {
  const end = millis(job.finishedAt) ?? (job.state === 'RUNNING' ? now() : null);
  const all = [
    ['Queue', html`<a class="cut" href="#/queues/${encodeURIComponent(job.queue)}">${job.queue}</a>`],
    ['Priority', job.priority],
    ['Attempt', html`${count(job.attempt)} <span class="dim num">failures ${job.failures}/${job.maxAttempts}, crashes ${job.crashes}/${job.maxCrashes}</span>`],
    ['Version', job.version],
    ['Worker', job.workerId && workerLink(job.workerId)],
    ['Created', time(job.createdAt)],
    ['Due', time(job.runAt)],
    ['Started', job.startedAt && time(job.startedAt)],
    ['Ended', job.finishedAt && time(job.finishedAt)],
    ['Ran for', job.startedAt && end ? span(end - millis(job.startedAt)) : null],
    ['Last heartbeat', job.heartbeatAt && time(job.heartbeatAt)],
    ['Lease ends', job.leaseExpiresAt && time(job.leaseExpiresAt)],
    ['Deadline', job.deadline && time(job.deadline)],
    ['Cancel requested', job.cancelRequestedAt && html`${time(job.cancelRequestedAt)} ${cut(job.cancelReason)}`],
    ['Tenant', job.tenant !== 'default' && cut(job.tenant)],
    ['Workspace', job.workspace !== 'default' && cut(job.workspace)],
    ['Run', job.runId !== job.id && html`<a href="#/runs/${job.runId}">…${job.runId.slice(-8)}</a> <span class="dim cut">${clipped(job.runKey, 80)}</span>`],
    ['Fork from', job.forkedFrom && cut(job.forkedFrom.stepId)],
    ['Tags', job.tags?.length > 0 && job.tags.map((tag) => html`<a class="code" href="#/jobs?${new URLSearchParams({ search: withTerm('', 'tag', tag) })}">${tag}</a> `)],
    ['Unique key', job.uniqueKey && cut(job.uniqueKey)],
    ['Concurrency key', job.concurrencyKey && cut(job.concurrencyKey)],
    ['Asset', job.assetId && cut(job.assetId)],
    ['Partition', job.partitionKey && cut(job.partitionKey)],
    ['Resources', Object.keys(job.resources ?? {}).length > 0 && cut(JSON.stringify(job.resources))],
    ['Trace', job.traceparent && cut(job.traceparent)],
  ];
  return html`<dl class="facts">${all.filter(([, value]) => value !== null && value !== false && value !== undefined).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

export function stepTable(view) {
  const patched = view.steps.filter((step) => step.patchBytes);
  const patch = (step) => jobPath(view.job.id, `/steps/${encodeURIComponent(step.stepId)}/patch`);
  return html`<section aria-labelledby="steps"><h2 id="steps">Steps</h2>
    <div class="scroll" tabindex="0"><table><thead><tr><th class="r">#</th><th>Step</th><th>State</th><th class="r">Attempt</th><th class="r">Resets</th><th class="r">Started</th><th class="r">Took</th><th>Patch</th>
      ${view.mayOperate ? html`<th><span class="hidden">Actions</span></th>` : nothing}</tr></thead>
      <tbody>${repeat(view.steps, (step) => step.stepId, (step) => html`<tr>
        <td class="r num">${step.stepIndex}</td><td>${cut(step.stepId)}</td><td>${badge(step.state)}</td><td class="r num">${step.attempt}</td><td class="r num">${step.resets}</td>
        <td class="r num">${time(step.startedAt)}</td><td class="r num">${span((millis(step.finishedAt) ?? (step.state === 'RUNNING' ? now() : millis(step.startedAt))) - millis(step.startedAt))}</td>
        <td>${step.patchBytes ? html`<a href=${patch(step)} download>${bytes(step.patchBytes)}</a>` : none}</td>
        ${view.mayOperate ? html`<td class="r">${stepActions(view, step)}</td>` : nothing}</tr>`)}</tbody></table></div></section>
    ${patched.length ? html`<section aria-labelledby="changes"><h2 id="changes">Changes</h2>
      <hf-diff .whole=${jobPath(view.job.id, '/patch')} .patches=${patched.map((step) => ({ name: step.stepId, href: patch(step), version: step.finishedAt }))}></hf-diff></section>` : nothing}`;
}

export function output(view) {
  const { parts, skipped } = view.log;
  if (parts.length === 0) return html`<p class="dim">Its programs have printed nothing.</p>`;
  const several = parts.length > 1 || parts[0].attempt > 1;
  return html`<section aria-labelledby="output"><h2 id="output">Output <span class="dim">of its programs${skipped ? ', the last part' : ''}</span></h2>
    <pre class="text log" tabindex="0" @scroll=${(event) => view.scrolled(event.target)}>${parts.map((part) => html`${several ? html`<b class="dim">attempt ${part.attempt}</b>\n` : nothing}${part.text}`)}</pre>
    <div class="actions">${copyButton(parts.map((part) => part.text).join(''), 'output')}</div></section>`;
}

export function data(view) {
  const { job } = view;
  return html`<div class="columns">
      <section aria-labelledby="payload"><h2 id="payload">Payload</h2>${json(view, 'payload', job.payload)}</section>
      <section aria-labelledby="result"><h2 id="result">Result</h2>${job.result == null ? html`<p class="dim">None${job.finishedAt ? '' : ' yet'}</p>` : json(view, 'result', job.result)}</section>
    </div>
    ${view.artifacts.length ? artifacts(view) : nothing}`;
}

function artifacts(view) {
  return html`<section aria-labelledby="artifacts"><h2 id="artifacts">Artifacts</h2>
    <div class="scroll" tabindex="0"><table><thead><tr><th>Name</th><th class="r">Size</th><th class="r">Attempt</th><th class="r">Published</th><th>SHA-256</th></tr></thead>
      <tbody>${view.artifacts.map((each) => html`<tr><td><a class="cut" href=${jobPath(view.job.id, `/artifacts/${encodeURIComponent(each.name)}`)} download>${each.name}</a></td>
        <td class="r num">${bytes(each.size)}</td><td class="r num">${each.attempt}</td><td class="r num">${time(each.publishedAt)}</td><td class="mono">${cut(each.sha256)}</td></tr>`)}</tbody></table></div></section>`;
}

/** Numbers and ids differ from one attempt to the next also where the failure is the same. */
const signature = (failure) => failure && `${failure.code}\n${failure.message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|\d+/gi, '#')}`;

/** Attempts side by side: how long each took beside the longest, and which failed alike. */
export function attemptTable(view) {
  if (view.attempts.length === 0) return nothing;
  const end = now();
  const took = (each) => Math.max(0, (millis(each.endedAt) ?? end) - millis(each.startedAt));
  const longest = Math.max(1, ...view.attempts.map(took));
  const first = new Map();
  for (const each of view.attempts) {
    const same = signature(each.failure);
    if (same && !first.has(same)) first.set(same, each.attempt);
  }
  const alike = (each) => {
    const number = first.get(signature(each.failure));
    return number !== undefined && number !== each.attempt ? html`<span class="dim">as attempt ${number}</span> ` : nothing;
  };
  return html`<section aria-labelledby="attempts"><h2 id="attempts">Attempts</h2>
    <div class="scroll" tabindex="0"><table><thead><tr><th class="r">#</th><th>Outcome</th><th>Worker</th><th class="r">Started</th><th class="r">Took</th><th class="bars"><span class="hidden">Beside the longest</span></th><th>Failure</th></tr></thead>
      <tbody>${[...view.attempts].reverse().slice(0, MOST_EVENTS).map((each) => html`<tr><td class="r num">${each.attempt}</td><td>${badge(each.outcome)}</td><td>${workerLink(each.workerId)}</td>
        <td class="r num">${time(each.startedAt)}</td><td class="r num">${span(took(each))}</td>
        <td class="bars"><svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="s-${each.outcome.toLowerCase()}" width=${(100 * took(each)) / longest} height="1"></rect></svg></td>
        <td>${alike(each)}${each.failure ? html`<details><summary class="cut long"><span class="code">${clipped(each.failure.code, 60)}</span> ${clipped(each.failure.message, 160)}</summary><pre class="text">${clipped(`${each.failure.message}\n\n${each.failure.stackTrace ?? ''}`, MOST_TEXT)}</pre></details>` : none}</td></tr>`)}</tbody></table></div></section>`;
}

/** Long progress is one row, with its last report. */
export function folded(events) {
  const rows = [];
  for (const event of events) {
    const last = rows.at(-1);
    if (event.type === 'progress' && last?.type === 'progress') rows[rows.length - 1] = { ...event, from: last.from ?? last.number, folded: (last.folded ?? 0) + 1 };
    else rows.push(event);
  }
  return rows;
}

export function eventTable(view) {
  const from = millis(view.job.createdAt);
  const all = (view.whole.has('progress') ? view.events : folded(view.events)).toReversed();
  const hidden = all.reduce((sum, event) => sum + (event.folded ?? 0), 0);
  const shown = view.whole.has('events') ? all : all.slice(0, MOST_EVENTS);
  return html`<section aria-labelledby="events"><h2 id="events">Events <span class="dim num">${count(view.events.length)}</span></h2>
    <div class="scroll" tabindex="0"><table><thead><tr><th class="r">#</th><th class="r">At</th><th class="r">After</th><th class="r">Attempt</th><th>Event</th><th>Data</th></tr></thead>
      <tbody>${repeat(shown, (event) => event.number, (event) => html`<tr><td class="r num">${event.folded ? `${event.from}–` : ''}${event.number}</td><td class="r num">${time(event.at)}</td><td class="r num">${span(millis(event.at) - from)}</td>
        <td class="r num">${event.attempt}</td><td><span class="dot c-${kindOf(event.type)}"></span> <span class="cut">${event.type}</span></td>
        <td>${eventData(event.data)}</td></tr>`)}</tbody></table></div>
    <div class="actions">
      ${hidden ? html`<button type="button" class="small" @click=${() => view.show('progress')}>Show ${count(hidden)} more reports of progress</button>` : nothing}
      ${shown.length < all.length ? html`<button type="button" class="small" @click=${() => view.show('events')}>Show all ${count(all.length)}</button>` : nothing}</div></section>`;
}

function eventData(given) {
  const written = given && Object.keys(given).length ? JSON.stringify(given) : null;
  return written && written.length > 60
    ? html`<details><summary class="cut long">${clipped(written, 200)}</summary><pre class="text">${clipped(JSON.stringify(given, null, 2), MOST_TEXT)}</pre></details>`
    : long(written);
}

function json(view, what, value) {
  const written = typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value, null, 2);
  return html`<pre class="text" tabindex="0">${text(view, what, written ?? '')}</pre>
    <div class="actions">${copyButton(written ?? '', what)} <span class="dim num">${bytes(new Blob([written ?? '']).size)}</span></div>`;
}

/** A megabyte in one element makes a browser slow, so the rest is there when somebody wants it. */
function text(view, what, given) {
  const all = String(given ?? '');
  return all.length <= MOST_TEXT || view.whole.has(what)
    ? all
    : html`${all.slice(0, MOST_TEXT)}…
<button type="button" class="small" @click=${() => view.show(what)}>Show all ${count(all.length)} characters</button>`;
}
