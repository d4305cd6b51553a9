/** Jobs and what they wait for, as a graph: around one job, or of a whole run. */
import { html, nothing, svg } from 'lit';
import { clipped, count } from './format.js';

const BOX = { width: 190, height: 40, gap: 10 };
const BETWEEN = 70;
const MOST = 12;
/** How many jobs of one column are drawn. */
const MOST_ROWS = 30;

const heightOf = (n) => n * BOX.height + (n - 1) * BOX.gap;

function column(jobs, x, height) {
  const top = (height - heightOf(jobs.length)) / 2;
  return jobs.map((job, i) => ({ job, x, y: top + i * (BOX.height + BOX.gap) }));
}

function box({ job, x, y }, { self = false, note = `…${job.id.slice(-8)}` } = {}) {
  const name = job.runKey ?? job.kind;
  const inside = svg`<rect class="g-box ${self ? 'g-self' : ''}" x=${x} y=${y} width=${BOX.width} height=${BOX.height} rx="4"></rect>
    <rect class="t-bar s-${job.state.toLowerCase()}" x=${x} y=${y} width="5" height=${BOX.height} rx="2"></rect>
    <text class="g-kind" x=${x + 14} y=${y + 17}>${clipped(name, 22)}</text>
    <text class="g-state" x=${x + 14} y=${y + 33}>${job.state.toLowerCase()} · ${note}</text>`;
  return self ? svg`<g>${inside}</g>` : svg`<a href="#/jobs/${job.id}" aria-label="${name}, ${job.state.toLowerCase()}, job ${job.id}">${inside}</a>`;
}

function edge(from, to, kind = '') {
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return svg`<path class="g-edge ${kind}" d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}"></path>`;
}

/** What a job waits for; where that is nothing, the job that enqueued it. */
function parentsOf(jobs, dependencies) {
  const known = new Set(jobs.map((job) => job.id));
  const parents = new Map(jobs.map((job) => [job.id, []]));
  for (const { jobId, dependsOnId } of dependencies) parents.get(jobId).push({ id: dependsOnId, kind: '' });
  for (const job of jobs) if (job.parentId && known.has(job.parentId) && parents.get(job.id).length === 0) parents.get(job.id).push({ id: job.parentId, kind: 'g-parent' });
  return parents;
}

/** Each job one column after the last of those that it waits for. Jobs wait in no circle; should they, it ends here. */
function columnsOf(jobs, parents) {
  const depths = new Map();
  const depth = (id, above) => {
    if (!depths.has(id)) depths.set(id, above > jobs.length ? 0 : Math.max(0, ...parents.get(id).map((each) => 1 + depth(each.id, above + 1))));
    return depths.get(id);
  };
  const columns = [];
  for (const job of jobs) (columns[depth(job.id, 0)] ??= []).push(job);
  return columns;
}

/** Beside what it waits for, so that fewer lines cross. */
function inOrder(jobs, parents, rows) {
  const place = (job) => {
    const at = parents.get(job.id).map((each) => rows.get(each.id) ?? 0);
    return at.length ? at.reduce((sum, each) => sum + each, 0) / at.length : 0;
  };
  const sorted = [...jobs].sort((a, b) => place(a) - place(b));
  sorted.forEach((job, i) => rows.set(job.id, i / sorted.length));
  return sorted;
}

/**
 * The jobs of a run, from left to right as they wait for each other.
 *
 * @param noteOf what is said of a job besides its state
 */
export function runGraph(jobs, dependencies, noteOf) {
  const parents = parentsOf(jobs, dependencies);
  const rows = new Map();
  const columns = columnsOf(jobs, parents).map((each) => inOrder(each, parents, rows));
  const height = heightOf(Math.max(1, ...columns.map((each) => Math.min(each.length, MOST_ROWS + 1))));
  const placed = new Map();
  const more = [];
  columns.forEach((each, i) => {
    const x = i * (BOX.width + BETWEEN);
    const shown = each.length > MOST_ROWS ? each.slice(0, MOST_ROWS) : each;
    const drawn = column(shown, x, each.length > MOST_ROWS ? height - BOX.height : height);
    drawn.forEach((one) => placed.set(one.job.id, one));
    if (shown.length < each.length) more.push({ x, y: height - BOX.height / 2, n: each.length - shown.length });
  });
  const width = columns.length * BOX.width + (columns.length - 1) * BETWEEN;
  const lines = [...parents].flatMap(([id, all]) => all.filter((each) => placed.has(id) && placed.has(each.id)).map((each) => edge(placed.get(each.id), placed.get(id), each.kind)));
  return html`<div class="scroll graph" tabindex="0"><svg width=${width + 2} height=${height + 2} viewBox="-1 -1 ${width + 2} ${height + 2}" role="group" aria-label="${jobs.length} jobs in ${columns.length} columns, each after those it waits for">
    ${lines}${[...placed.values()].map((each) => box(each, { note: noteOf(each.job) }))}
    ${more.map(({ x, y, n }) => svg`<text class="g-state" x=${x + 14} y=${y}>and ${count(n)} more</text>`)}</svg></div>`;
}

export function dependencyGraph(job, { dependsOn, dependents }) {
  if (dependsOn.length === 0 && dependents.length === 0) return nothing;
  const waits = dependsOn.filter((each) => !['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(each.state)).length;
  const [before, after] = [dependsOn.slice(0, MOST), dependents.slice(0, MOST)];
  const height = heightOf(Math.max(before.length, after.length, 1));
  const columns = [before, [job], after].filter((each) => each.length);
  const width = columns.length * BOX.width + (columns.length - 1) * BETWEEN;
  let at = 0;
  const place = (jobs) => {
    if (jobs.length === 0) return [];
    const placed = column(jobs, at, height);
    at += BOX.width + BETWEEN;
    return placed;
  };
  const [left, [self], right] = [place(before), place([job]), place(after)];
  const more = dependsOn.length + dependents.length - before.length - after.length;
  const what = `Depends on ${dependsOn.length} jobs; ${dependents.length} jobs depend on it`;
  return html`<section aria-labelledby="dependencies"><h2 id="dependencies">Dependencies</h2>
    ${job.state === 'WAITING' && !job.waitsFor ? html`<p>${waits ? html`Waits for ${count(waits)} ${waits === 1 ? 'job' : 'jobs'} to end.` : 'All that it waited for has ended; it becomes due in a moment.'}</p>` : nothing}
    <div class="scroll graph" tabindex="0"><svg width=${width + 2} height=${height + 2} viewBox="-1 -1 ${width + 2} ${height + 2}" role="group" aria-label=${what}>
      ${left.map((each) => edge(each, self))}${right.map((each) => edge(self, each))}
      ${left.map((each) => box(each))}${box(self, { self: true })}${right.map((each) => box(each))}</svg></div>
    ${more > 0 ? html`<p class="dim">and ${count(more)} more</p>` : nothing}</section>`;
}
