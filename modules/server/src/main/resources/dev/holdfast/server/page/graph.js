/** What a job depends on and what depends on it, as a graph. */
import { html, nothing, svg } from 'lit';
import { clipped, count } from './format.js';

const BOX = { width: 190, height: 40, gap: 10 };
const BETWEEN = 70;
const MOST = 12;

const heightOf = (n) => n * BOX.height + (n - 1) * BOX.gap;

function column(jobs, x, height) {
  const top = (height - heightOf(jobs.length)) / 2;
  return jobs.map((job, i) => ({ job, x, y: top + i * (BOX.height + BOX.gap) }));
}

function box({ job, x, y }, self) {
  const inside = svg`<rect class="g-box ${self ? 'g-self' : ''}" x=${x} y=${y} width=${BOX.width} height=${BOX.height} rx="4"></rect>
    <rect class="t-bar s-${job.state.toLowerCase()}" x=${x} y=${y} width="5" height=${BOX.height} rx="2"></rect>
    <text class="g-kind" x=${x + 14} y=${y + 17}>${clipped(job.kind, 22)}</text>
    <text class="g-state" x=${x + 14} y=${y + 33}>${job.state.toLowerCase()} · …${job.id.slice(-8)}</text>`;
  return self ? svg`<g>${inside}</g>` : svg`<a href="#/jobs/${job.id}" aria-label="${job.kind}, ${job.state.toLowerCase()}, job ${job.id}">${inside}</a>`;
}

function edge(from, to) {
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return svg`<path class="g-edge" d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}"></path>`;
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
    ${job.state === 'WAITING' ? html`<p>${waits ? html`Waits for ${count(waits)} ${waits === 1 ? 'job' : 'jobs'} to end.` : 'All that it waited for has ended; it becomes due in a moment.'}</p>` : nothing}
    <div class="scroll graph" tabindex="0"><svg width=${width + 2} height=${height + 2} viewBox="-1 -1 ${width + 2} ${height + 2}" role="group" aria-label=${what}>
      ${left.map((each) => edge(each, self))}${right.map((each) => edge(self, each))}
      ${left.map((each) => box(each))}${box(self, true)}${right.map((each) => box(each))}</svg></div>
    ${more > 0 ? html`<p class="dim">and ${count(more)} more</p>` : nothing}</section>`;
}
