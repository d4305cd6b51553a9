/** Why a job that is not over does not run just now, with what can be done about it. */
import { html, nothing } from 'lit';
import { clipped, count, millis, now, span } from './format.js';
import { live } from './live.js';
import { time } from './parts.js';
import { problemRow } from './problems.js';

const jobs = (n) => `${count(n)} ${n === 1 ? 'job' : 'jobs'}`;

/** What it waits for itself: its time, or a worker. Jobs that it depends on are drawn beside this. */
function reason(job, queue) {
  const left = millis(job.runAt) - now();
  if (left > 0) return html`${job.state === 'RETRYING' ? 'Its next attempt is' : 'It is'} due in ${span(left)}, at ${time(job.runAt)}.`;
  const others = queue ? `: ${jobs(queue.pending)} of its queue ${queue.pending === 1 ? 'is' : 'are'} due and ${count(queue.running)} ${queue.running === 1 ? 'runs' : 'run'}` : '';
  const key = job.concurrencyKey ? `, and for other jobs with the concurrency key '${clipped(job.concurrencyKey, 60)}'` : '';
  return `It waits for a worker with a free slot${key}${others}.`;
}

/**
 * @param view with the job, and the problems of its queue
 */
export function whyNot(view) {
  const { job, problems } = view;
  if (job.state !== 'PENDING' && job.state !== 'RETRYING') return nothing;
  const held = job.liveControl?.paused || job.liveControl?.takeover;
  return html`<section aria-labelledby="why"><h2 id="why">Why it does not run</h2>
    ${problems.length ? html`<ul class="problems">${problems.map((each) => problemRow(each, view))}</ul>` : nothing}
    ${held ? html`<p>It is held until somebody resumes it.</p>` : problems.length && millis(job.runAt) <= now() ? nothing : html`<p>${reason(job, live.queues.get(job.queue))}</p>`}</section>`;
}
