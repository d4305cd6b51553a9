/** What can be asked of a job, each with what it does. */
import { html, nothing } from 'lit';
import { ask } from './dialogs.js';
import { enqueue, millisOf } from './enqueue.js';
import { clipped, count } from './format.js';
import { readJson } from './json.js';
import { jobPath, patch, post, remove } from './server.js';
import { ACTIVE, DEAD } from './states.js';

/** Of each command its title, and what it does. */
const CONTROLS = {
  pause: ['Pause', 'The running attempt of a step continues. No further attempt starts until the job is resumed.'],
  takeover: ['Take over', 'The running step is stopped. You work in its workspace by hand until you resume the job or accept the step.'],
  resume: ['Resume', 'Ends the pause or the takeover.'],
  retry_step: ['Retry a step', 'Runs the step again in the same workspace, now. Uses no retry budget.'],
  hard_reset_step: ['Reset a step', 'Runs the step again, now, in a new workspace built from the checkpoints before it.'],
  accept_step: ['Accept a step', 'Marks the step as done, with the workspace as you left it. The job continues with the next step.'],
  resume_from_step: ['Go back to a step', 'Runs this step and all steps after it again, in a new workspace.'],
};

/** Those that take back what is done. */
const DROPPING = ['hard_reset_step', 'resume_from_step'];
const MOST_NAMED = 20;

export async function cancelJob(view) {
  await ask({
    title: 'Cancel this job?',
    text: view.job.state === 'RUNNING' ? 'Its worker is asked to stop, within the cancel grace period.' : 'It will not run.',
    reason: true,
    confirm: 'Cancel the job',
    danger: true,
    act: async ({ reason }) => {
      await post(jobPath(view.jobId, '/cancel'), reason ? { reason } : {});
      return 'Cancellation requested';
    },
  });
  view.refresh(0);
}

export async function retryJob(view) {
  await ask({
    title: 'Retry this job?',
    text: 'It is requeued with new retry budgets. Completed steps are not repeated.',
    confirm: 'Retry the job',
    act: async () => {
      await post(jobPath(view.jobId, '/retry'));
      return 'Requeued';
    },
  });
  view.refresh(0);
}

/** What can still be changed about a job that no worker has claimed. */
async function editJob(view) {
  const { job } = view;
  const lost = job.omitted?.includes('payload');
  const before = { priority: String(job.priority), payload: lost ? '' : JSON.stringify(job.payload, null, 2) };
  await ask({
    title: `Change this ${job.kind}?`,
    text: `It stays the same job. What is left as it is does not change.${lost ? ' Its payload is too large to be shown here; an empty field keeps it.' : ''}`,
    fields: [
      { name: 'priority', label: 'Priority, 0 is first', type: 'number', min: 0, max: 9, required: true, value: before.priority },
      { name: 'delay', label: 'Due in, such as 90s or 1h30m; 0s is now', value: '' },
      { name: 'payload', label: 'Payload (JSON)', rows: 8, value: before.payload },
    ],
    confirm: 'Change the job',
    act: async (form) => {
      const delayMs = millisOf(form.delay);
      const change = {
        ...(form.priority === before.priority ? {} : { priority: Number(form.priority) }),
        ...(delayMs === null ? {} : { delayMs }),
        ...(form.payload.trim() === before.payload ? {} : { payload: readJson(form.payload, 'payload') }),
      };
      if (Object.keys(change).length === 0) throw new Error('Nothing is changed');
      await patch(jobPath(view.jobId), change);
      return 'Changed';
    },
  });
  view.refresh(0);
}

/** New jobs that go on from a step of this one. */
export async function forkJob(view, stepId) {
  const { job, steps } = view;
  const known = steps.map((step) => step.stepId);
  if (job.waitsFor && !known.includes(job.waitsFor.id)) known.push(job.waitsFor.id);
  await ask({
    title: `Fork this ${clipped(job.kind, 60)}?`,
    text: 'New jobs with what was done before the step do it and all after it again. This job stays as it is. What is left empty they have from this one.',
    fields: [
      { name: 'fromStep', label: 'From step', list: known, required: true, value: stepId ?? '' },
      { name: 'times', label: 'How many', type: 'number', min: 1, max: 100, required: true, value: '1' },
      { name: 'payload', label: 'Another payload (JSON)', rows: 6, value: '' },
    ],
    confirm: 'Fork the job',
    act: async (form) => {
      const payload = form.payload.trim() === '' ? {} : { payload: readJson(form.payload, 'payload') };
      const { jobs } = await post(jobPath(view.jobId, '/fork'), { fromStep: form.fromStep, times: Number(form.times), ...payload });
      if (jobs.length === 1) location.hash = `#/jobs/${encodeURIComponent(jobs[0])}`;
      return jobs.length === 1 ? 'Forked' : `Forked ${count(jobs.length)} times`;
    },
  });
  view.refresh(0);
}

async function deleteJob(view) {
  await ask({
    title: 'Delete this job?',
    text: 'It is removed with its timeline, output and artifacts, and cannot be restored.',
    confirm: 'Delete the job',
    danger: true,
    act: async () => {
      await remove(jobPath(view.jobId));
      location.hash = '#/jobs';
      return 'Deleted';
    },
  });
}

/** Steps that are done and will be done again, as the server counts them. */
function drops({ steps }, action, stepId) {
  if (!DROPPING.includes(action)) return '';
  const from = steps.find((step) => step.stepId === stepId)?.stepIndex;
  const done = steps.filter((step) => step.state === 'DONE' && step.stepIndex >= from).map((step) => clipped(step.stepId, 60));
  if (done.length === 0) return '';
  const more = done.length > MOST_NAMED ? ` and ${count(done.length - MOST_NAMED)} more` : '';
  return ` These completed steps will run again: ${done.slice(0, MOST_NAMED).join(', ')}${more}.`;
}

/** What follows from how the job stands just now. */
function besides({ job }, action) {
  if (action === 'accept_step') return job.liveControl?.paused ? ' The job is also paused, until you resume it.' : '';
  if (!DROPPING.includes(action) || ACTIVE.includes(job.state)) return '';
  return ` The job is requeued${job.result != null ? ', and its result is deleted until it has a new one' : ''}.`;
}

export async function control(view, action, stepId) {
  const [title, text] = CONTROLS[action];
  await ask({
    title: stepId ? `${title.replace(' a step', ` '${clipped(stepId, 60)}'`)}?` : `${title}?`,
    text: text + drops(view, action, stepId) + besides(view, action),
    reason: true,
    confirm: title.replace(/ (to )?a step/, ''),
    danger: DROPPING.includes(action) || action === 'takeover',
    act: async ({ reason }) => {
      await post(jobPath(view.jobId, '/control'), { action, ...(stepId ? { stepId } : {}), ...(reason ? { reason } : {}) });
      return 'Command sent; its worker receives it within about a second';
    },
  });
  view.refresh(0);
}

export function actions(view) {
  const { job } = view;
  const asked = job.liveControl;
  const active = ACTIVE.includes(job.state);
  const held = asked?.paused || asked?.takeover;
  // Only what runs in steps can be held between them.
  const inSteps = job.kind === 'workspace' || view.steps.length > 0;
  return html`<div class="actions" role="group" aria-label="Commands to this job">
    ${DEAD.includes(job.state) ? html`<button type="button" class="primary" @click=${() => retryJob(view)}>Retry …</button>` : nothing}
    <button type="button" @click=${() => enqueue(job)}>Run again, edited …</button>
    ${view.steps.length > 0 || job.waitsFor ? html`<button type="button" @click=${() => forkJob(view)}>Fork …</button>` : nothing}
    ${active && job.state !== 'RUNNING' ? html`<button type="button" @click=${() => editJob(view)}>Change …</button>` : nothing}
    ${active && held ? html`<button type="button" class="primary" @click=${() => control(view, 'resume')}>Resume …</button>` : nothing}
    ${active && !held && inSteps ? html`<button type="button" @click=${() => control(view, 'pause')}>Pause …</button>` : nothing}
    ${job.state === 'RUNNING' && !asked?.takeover && inSteps ? html`<button type="button" @click=${() => control(view, 'takeover')}>Take over …</button>` : nothing}
    ${active && !(job.state === 'RUNNING' && job.cancelRequestedAt) ? html`<button type="button" class="danger" @click=${() => cancelJob(view)}>Cancel …</button>` : nothing}
    ${active ? nothing : html`<button type="button" class="danger" @click=${() => deleteJob(view)}>Delete …</button>`}
  </div>`;
}

export function stepActions(view, step) {
  const { job } = view;
  const active = ACTIVE.includes(job.state);
  return html`<span class="buttons">
    ${active && step.state !== 'DONE' && job.liveControl?.takeover && job.kind === 'workspace' ? html`<button type="button" class="small" @click=${() => control(view, 'accept_step', step.stepId)}>Accept</button>` : nothing}
    ${step.state === 'DONE' || !active ? nothing : html`<button type="button" class="small" @click=${() => control(view, 'retry_step', step.stepId)}>Retry</button>
      <button type="button" class="small" @click=${() => control(view, 'hard_reset_step', step.stepId)}>Reset</button>`}
    <button type="button" class="small" @click=${() => control(view, 'resume_from_step', step.stepId)}>From here</button></span>`;
}
