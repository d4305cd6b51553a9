/** Plots and tables of how it went over minutes to days. */
import { html, nothing } from 'lit';
import './charts.js';
import { count, dayAndHour, hourAndMinute, millis, rate, span } from './format.js';
import { none, time } from './parts.js';
import { query } from './server.js';

export const RANGES = [[15, '15 min'], [60, '1 h'], [360, '6 h'], [1440, '24 h'], [10080, '7 d']];

/** The range that an address names, or a quarter of an hour. */
export const rangeOf = (text) => RANGES.map(([minutes]) => minutes).find((minutes) => String(minutes) === text) ?? 15;

export const historyPath = ({ minutes, queue, kind }) => `/v1/history${query({ minutes, queue, kind })}`;

export const rangeChoice = (chosen, choose) => html`<div class="choice" role="group" aria-label="How far back">
  ${RANGES.map(([minutes, text]) => html`<button type="button" class="small" aria-pressed=${chosen === minutes} @click=${() => choose(minutes)}>${text}</button>`)}</div>`;

export const rangeName = (minutes) => RANGES.find(([each]) => each === minutes)?.[1] ?? span(minutes * 60_000);

/** Time of which nothing is known is left blank, and said: it is not time in which nothing happened. */
export function knownNote(history) {
  if (!history || history.points.every((point) => point.jobs)) return nothing;
  const first = history.points.find((point) => point.jobs)?.at;
  return html`<p class="dim">Known since ${time(first && millis(history.knownSince) < millis(first) ? first : history.knownSince)}; what was before is left blank.</p>`;
}

/** The last point is not over yet. */
const seconds = (history, point) => Math.max(1, Math.min(history.stepMs, millis(history.until) - millis(point.at)) / 1000);

const TIMES = [
  ['p50', 'accent', false],
  ['p95', 'warn', false],
  ['p99', 'bad', true],
];

export function historyPlots(history, { depth = false } = {}) {
  if (!history) return html`<div class="plots"></div>`;
  const { points } = history;
  const label = history.stepMs >= 3_600_000 ? dayAndHour : hourAndMinute;
  const labels = points.map((point) => label(point.at));
  const perSecond = (field) => points.map((point) => (point.jobs ? point.jobs[field] / seconds(history, point) : null));
  const times = (measure) => TIMES.map(([name, color, dashed]) => ({ label: name, color, dashed, data: points.map((point) => point.jobs?.[measure]?.[name] ?? null) }));
  const depths = (field) => points.map((point) => point.depth?.[field] ?? null);
  return html`<div class="plots ${depth ? 'four' : ''}">
    ${depth ? html`<figure><figcaption>Depth</figcaption>
      <hf-chart kind="line" whole label="Jobs that were due and that ran" .labels=${labels} .format=${count}
        .series=${[{ label: 'due', color: 'accent', data: depths('due') }, { label: 'running', color: 'warn', dashed: true, data: depths('running') }]}></hf-chart></figure>` : nothing}
    <figure><figcaption>Ended jobs per second</figcaption>
      <hf-chart kind="bar" stacked label="Jobs that ended per second, by state, and jobs that were enqueued" .labels=${labels} .format=${rate}
        .series=${[
          { label: 'succeeded', color: 'good', data: perSecond('succeeded') },
          { label: 'failed', color: 'bad', data: perSecond('failed') },
          { label: 'cancelled', color: 'dim', data: perSecond('cancelled') },
          { label: 'enqueued', color: 'accent', line: true, data: perSecond('enqueued') },
        ]}></hf-chart></figure>
    <figure><figcaption>Time in the queue</figcaption>
      <hf-chart kind="line" spans label="How long jobs that succeeded had waited, and how long the first due job had" .labels=${labels} .format=${span}
        .series=${[...times('waitMs'), ...(points.some((point) => point.depth) ? [{ label: 'first due', color: 'dim', dashed: true, data: points.map((point) => point.depth?.oldestDueMs || null) }] : [])]}></hf-chart></figure>
    <figure><figcaption>Run time</figcaption>
      <hf-chart kind="line" spans label="How long jobs that succeeded ran" .labels=${labels} .format=${span} .series=${times('runMs')}></hf-chart></figure>
  </div>`;
}

/** Cells of a table: how many, and how long. */
export const TALLY_HEAD = html`<th class="r">Enqueued</th><th class="r">Succeeded</th><th class="r">Failed</th><th class="r">Cancelled</th>
  <th class="r">Wait p50</th><th class="r">p95</th><th class="r">p99</th><th class="r">Run p50</th><th class="r">p95</th><th class="r">p99</th>`;
export const TALLY_COLUMNS = 10;

const number = (n) => html`<td class="r num">${n ? count(n) : html`<span class="dim">0</span>`}</td>`;
const percentiles = (each) => ['p50', 'p95', 'p99'].map((name) => html`<td class="r num">${each ? span(each[name]) : none}</td>`);

export const tallyCells = (jobs) => html`${number(jobs.enqueued)}${number(jobs.succeeded)}<td class="r num">${jobs.failed ? html`<span class="badtext">${count(jobs.failed)}</span>` : html`<span class="dim">0</span>`}</td>${number(jobs.cancelled)}
  ${percentiles(jobs.waitMs)}${percentiles(jobs.runMs)}`;
