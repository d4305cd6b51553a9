/** What the handler of a job waits for, and what somebody can do about it. */
import { html, nothing } from 'lit';
import { ask, toast } from './dialogs.js';
import { clipped } from './format.js';
import { readJson } from './json.js';
import { copy, time } from './parts.js';
import { jobPath, post } from './server.js';

const AFTERWARDS = { REJECT: 'it counts as rejected', APPROVE: 'it counts as approved', FAIL: 'the job fails' };

async function decide(view, open, approved) {
  await ask({
    title: approved ? 'Approve?' : 'Reject?',
    text: clipped(open.question.text, 1000),
    fields: [{ name: 'comment', label: 'Comment, for the timeline and the handler', value: '' }],
    confirm: approved ? 'Approve' : 'Reject',
    danger: !approved,
    act: async ({ comment }) => {
      await post(jobPath(view.jobId, '/decisions'), { waitId: open.id, approved, ...(comment ? { comment } : {}) });
      return approved ? 'Approved' : 'Rejected';
    },
  });
  view.refresh(0);
}

/** For somebody who has no key. */
async function link(view, open) {
  let made;
  try {
    made = await post(jobPath(view.jobId, '/links'), { waitId: open.id });
  } catch (failed) {
    toast(failed.message, 'bad');
    return;
  }
  let wanted = false;
  await ask({
    title: 'A link to decide',
    text: 'Whoever has it decides, without a key: send it to that person alone. It ends with the question, and after thirty days at the latest.',
    fields: [{ name: 'link', label: 'Link', value: made.url }],
    confirm: 'Copy',
    act: async () => {
      wanted = true;
    },
  });
  if (wanted) await copy(made.url);
}

async function signal(view, open) {
  await ask({
    title: `Send '${clipped(open.signal, 100)}'?`,
    text: 'The job is woken, and its handler gets what is sent.',
    fields: [{ name: 'payload', label: 'Payload (JSON)', rows: 6, value: '{}' }],
    confirm: 'Send the signal',
    act: async ({ payload }) => {
      await post(jobPath(view.jobId, '/signals'), { name: open.signal, payload: readJson(payload, 'payload') });
      return 'Sent';
    },
  });
  view.refresh(0);
}

function what(view, open) {
  const { mayOperate } = view;
  switch (open.sort) {
    case 'SIGNAL':
      return html`<p>For the signal <span class="mono wrap">${clipped(open.signal, 100)}</span>.
        ${mayOperate ? html`<button type="button" class="small" @click=${() => signal(view, open)}>Send it …</button>` : nothing}</p>`;
    case 'APPROVAL':
      return html`<p class="wrap"><strong>${clipped(open.question.text, 1000)}</strong></p>
        ${open.question.details ? html`<pre class="text">${clipped(open.question.details, 4000)}</pre>` : nothing}
        <p class="dim">For somebody of role ${open.question.role}${open.until ? html`; if nobody decides until then, ${AFTERWARDS[open.question.afterwards]}` : nothing}.</p>
        ${mayOperate ? html`<div class="actions"><button type="button" class="primary" @click=${() => decide(view, open, true)}>Approve …</button>
          <button type="button" class="danger" @click=${() => decide(view, open, false)}>Reject …</button>
          <button type="button" @click=${() => link(view, open)}>Link …</button></div>` : nothing}`;
    case 'CHILDREN':
      return html`<p>For the jobs that it has started as <span class="mono wrap">${clipped(open.started.join(', '), 300)}</span>: <a href="#/jobs?parentId=${encodeURIComponent(view.jobId)}">its children</a>.</p>`;
    default:
      return html`<p>For a time.</p>`;
  }
}

/** The same in a few words. */
export function waitText(open) {
  switch (open.sort) {
    case 'SIGNAL':
      return `the signal '${open.signal}'`;
    case 'APPROVAL':
      return `a decision of role ${open.question.role.toLowerCase()} on '${open.id}': ${open.question.text}`;
    case 'CHILDREN':
      return `jobs that it has started as ${open.started.join(', ')}`;
    default:
      return `a time ('${open.id}')`;
  }
}

/** In a list of jobs. */
export const waitNote = (open) =>
  html`<span class="cut long" title=${clipped(waitText(open), 600)}>waits for ${clipped(waitText(open), 300)}${open.until ? html` until ${time(open.until)}` : nothing}</span>`;

/** Of a job that waits for jobs it depends on, these are drawn instead. */
export function waitsFor(view) {
  const open = view.job.waitsFor;
  if (!open) return nothing;
  return html`<section aria-labelledby="waits"><h2 id="waits">What it waits for</h2>
    ${what(view, open)}
    <p class="dim">Since ${time(open.since)}${open.until ? html`, until ${time(open.until)}` : nothing}, as <span class="mono wrap">${clipped(open.id, 100)}</span>.</p></section>`;
}
