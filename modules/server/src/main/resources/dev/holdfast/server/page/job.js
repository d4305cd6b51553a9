/** One job: its state, steps, attempts and events, and the commands that can be sent to it. */
import { html, nothing } from 'lit';
import { repeat } from 'lit-html/directives/repeat.js';
import { ask } from './dialogs.js';
import { bytes, clipped, count, millis, now, span } from './format.js';
import { live } from './live.js';
import { ACTIVE, badge, copyButton, cut, DEAD, empty, jobsLink, long, progressBar, QUIET_MS, time, View } from './parts.js';
import { get, jobPath, post, query } from './server.js';
import { kindOf } from './timeline.js';

const MOST_TEXT = 20_000;
const MOST_EVENTS = 200;
const MOST_LOG = 200_000;
const NO_LOG = { parts: [], next: null, skipped: false };

/** Of each action what is asked before, and what it asks of the step. */
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

/** Those of one attempt together, and of a long one the end. */
function joined(before, more) {
  const parts = before.map((part) => ({ ...part }));
  for (const part of more) {
    const last = parts.at(-1);
    if (last?.attempt === part.attempt) last.text = (last.text + part.text).slice(-MOST_LOG);
    else parts.push(part);
  }
  return parts.slice(-16);
}

class JobView extends View {
  static properties = {
    jobId: { attribute: false },
    job: { state: true },
    events: { state: true },
    attempts: { state: true },
    steps: { state: true },
    artifacts: { state: true },
    whole: { state: true },
    log: { state: true },
  };
  #readingLog = false;
  #rung = false;

  constructor() {
    super();
    this.whole = new Set();
    this.log = NO_LOG;
  }

  connectedCallback() {
    super.connectedCallback();
    // Steps, events and commands are not in the stream, and while it runs there are many.
    this.every(3000, () => this.job?.state === 'RUNNING' && this.refresh(3000));
    this.every(QUIET_MS, () => this.job && ACTIVE.includes(this.job.state) && this.refresh());
  }

  willUpdate(changed) {
    if (changed.has('jobId')) {
      Object.assign(this, { job: null, events: [], attempts: [], steps: [], artifacts: [], whole: new Set(), log: NO_LOG, atEnd: true });
      this.refresh(0);
    }
  }

  changed(event) {
    // Progress is in the stream; what else changed is worth a look sooner.
    const told = live.jobs.get(this.jobId);
    if (event.jobs.has(this.jobId)) this.refresh(told?.state === this.job?.state && told?.attempt === this.job?.attempt ? 3000 : 1000);
    if (event.logs.has(this.jobId)) this.#readLog();
    this.requestUpdate();
  }

  async read(signal) {
    const { events, attempts, steps, artifacts, ...job } = await get(jobPath(this.jobId, '?include=events,attempts,steps,artifacts'), signal);
    if (signal.aborted) return;
    Object.assign(this, { job, events, attempts, steps, artifacts });
    this.#readLog();
  }

  /** What its programs have printed since it was asked last; one at a time, and once more if it was rung meanwhile. */
  async #readLog() {
    if (this.#readingLog) {
      this.#rung = true;
      return;
    }
    this.#readingLog = true;
    const { jobId } = this;
    try {
      do {
        this.#rung = false;
        const { parts, next, skipped } = await get(`${jobPath(jobId, '/log')}${query({ cursor: this.log.next })}`);
        if (jobId === this.jobId && (parts.length || skipped)) this.log = { parts: joined(skipped ? [] : this.log.parts, parts), next, skipped: skipped || this.log.skipped };
      } while (this.#rung && jobId === this.jobId && this.isConnected);
    } catch {
      // What is wrong is said where the rest is read, and there it is asked for again.
    } finally {
      this.#readingLog = false;
      if (jobId !== this.jobId) this.#readLog();
    }
  }

  /** Whoever reads its end goes on reading its end. */
  updated(changed) {
    const shown = changed.has('log') ? this.querySelector('pre.log') : null;
    if (shown && this.atEnd) shown.scrollTop = shown.scrollHeight;
  }

  async #ask(question) {
    await ask(question);
    this.refresh(0);
  }

  #cancel() {
    this.#ask({
      title: 'Cancel this job?',
      text: this.job.state === 'RUNNING' ? 'Its worker is asked to stop, within the cancel grace period.' : 'It will not run.',
      reason: true,
      confirm: 'Cancel the job',
      danger: true,
      act: async ({ reason }) => {
        await post(jobPath(this.jobId, '/cancel'), reason ? { reason } : {});
        return 'Cancellation requested';
      },
    });
  }

  #retry() {
    this.#ask({
      title: 'Retry this job?',
      text: 'It is requeued with new retry budgets. Completed steps are not repeated.',
      confirm: 'Retry the job',
      act: async () => {
        await post(jobPath(this.jobId, '/retry'));
        return 'Requeued';
      },
    });
  }

  /** Steps that are done and will be done again, as the server counts them. */
  #drops(action, stepId) {
    if (!DROPPING.includes(action)) return '';
    const from = this.steps.find((step) => step.stepId === stepId)?.stepIndex;
    const done = this.steps.filter((step) => step.state === 'DONE' && step.stepIndex >= from).map((step) => clipped(step.stepId, 60));
    if (done.length === 0) return '';
    const more = done.length > MOST_NAMED ? ` and ${count(done.length - MOST_NAMED)} more` : '';
    return ` These completed steps will run again: ${done.slice(0, MOST_NAMED).join(', ')}${more}.`;
  }

  /** What follows from how the job stands just now. */
  #besides(action) {
    const { job } = this;
    if (action === 'accept_step') return job.liveControl?.paused ? ' The job is also paused, until you resume it.' : '';
    if (!DROPPING.includes(action) || ACTIVE.includes(job.state)) return '';
    return ` The job is requeued${job.result != null ? ', and its result is deleted until it has a new one' : ''}.`;
  }

  #control(action, stepId) {
    const [title, text] = CONTROLS[action];
    this.#ask({
      title: stepId ? `${title.replace(' a step', ` '${clipped(stepId, 60)}'`)}?` : `${title}?`,
      text: text + this.#drops(action, stepId) + this.#besides(action),
      reason: true,
      confirm: title.replace(/ (to )?a step/, ''),
      danger: DROPPING.includes(action) || action === 'takeover',
      act: async ({ reason }) => {
        await post(jobPath(this.jobId, '/control'), { action, ...(stepId ? { stepId } : {}), ...(reason ? { reason } : {}) });
        return 'Command sent; its worker receives it within about a second';
      },
    });
  }

  render() {
    const { job } = this;
    if (!job) {
      return html`<h1 tabindex="-1">Job</h1>${this.error ? this.trouble() : html`<p class="dim">Loading …</p>`}<p><a href="#/jobs">All jobs</a></p>`;
    }
    const brief = live.jobs.get(job.id);
    const shown = brief && brief.attempt === job.attempt && brief.state === job.state ? { ...job, progress: brief.progress, progressMessage: brief.progressMessage } : job;
    const control = job.liveControl;
    return html`<h1 tabindex="-1"><span class="cut">${clipped(job.kind, 80)}</span> ${badge(job.state)}
        ${control?.paused ? badge('paused') : nothing} ${control?.takeover ? badge('taken over') : nothing}
        ${job.cancelRequestedAt && job.state === 'RUNNING' ? badge('cancelling') : nothing}</h1>
      ${this.trouble()}
      <div class="actions"><span class="mono wrap">${job.id}</span> ${copyButton(job.id, 'id')} ${copyButton(this.#curl(), 'curl')}</div>
      ${this.mayOperate ? this.#actions(job, control) : nothing}
      ${this.#asked(control)}
      ${ACTIVE.includes(job.state) && shown.progress != null ? html`<div class="big-progress">${progressBar(shown.progress, shown.progressMessage)}</div>` : nothing}
      ${this.#failure(job)}
      ${this.#facts(job)}
      <section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
        <hf-timeline .job=${job} .events=${this.events} .attempts=${this.attempts} .steps=${this.steps}></hf-timeline></section>
      ${this.steps.length ? this.#stepTable(job) : nothing}
      ${this.log.parts.length ? this.#output() : nothing}
      <div class="columns">
        <section aria-labelledby="payload"><h2 id="payload">Payload</h2>${this.#json('payload', job.payload)}</section>
        <section aria-labelledby="result"><h2 id="result">Result</h2>${job.result == null ? html`<p class="dim">None${ACTIVE.includes(job.state) ? ' yet' : ''}</p>` : this.#json('result', job.result)}</section>
      </div>
      ${this.artifacts.length ? this.#artifacts() : nothing}
      ${this.#attemptTable()}
      ${this.#eventTable()}`;
  }

  #curl() {
    const key = this.session?.expiresAt ? ` -H "Authorization: Bearer $HOLDFAST_KEY"` : '';
    return `curl -s${key} '${location.origin}${jobPath(this.job.id)}'`;
  }

  #actions(job, control) {
    const active = ACTIVE.includes(job.state);
    const held = control?.paused || control?.takeover;
    // Only what runs in steps can be held between them.
    const inSteps = job.kind === 'workspace' || this.steps.length > 0;
    return html`<div class="actions" role="group" aria-label="Commands to this job">
      ${DEAD.includes(job.state) ? html`<button type="button" class="primary" @click=${() => this.#retry()}>Retry …</button>` : nothing}
      ${active && held ? html`<button type="button" class="primary" @click=${() => this.#control('resume')}>Resume …</button>` : nothing}
      ${active && !held && inSteps ? html`<button type="button" @click=${() => this.#control('pause')}>Pause …</button>` : nothing}
      ${job.state === 'RUNNING' && !control?.takeover && inSteps ? html`<button type="button" @click=${() => this.#control('takeover')}>Take over …</button>` : nothing}
      ${active && !(job.state === 'RUNNING' && job.cancelRequestedAt) ? html`<button type="button" class="danger" @click=${() => this.#cancel()}>Cancel …</button>` : nothing}
    </div>`;
  }

  /** What is asked of it and not done yet, and where somebody who took it over finds it. */
  #asked(control) {
    const { heldBy, recovery, paused, takeover } = control ?? {};
    const place = takeover && this.events.findLast((event) => event.type === 'task.control.recovery.ack' && event.data?.action === 'takeover')?.data.workspace;
    return html`${heldBy ? html`<p class="dim wrap">${takeover ? 'Taken over' : 'Paused'} by ${heldBy.requestedBy}: ${clipped(heldBy.reason, 300)}</p>` : nothing}
      ${recovery ? html`<p class="dim wrap">${recovery.action}${recovery.stepId ? ` of '${clipped(recovery.stepId, 60)}'` : ''} was requested by ${recovery.requestedBy}: ${clipped(recovery.reason, 300)}${paused || takeover ? '; it starts when the job is resumed' : ''}</p>` : nothing}
      ${place ? html`<div class="actions"><span>Its workspace is <span class="mono wrap">${clipped(place, 600)}</span></span> ${copyButton(place, 'path')}</div>` : nothing}`;
  }

  #failure(job) {
    if (!job.failure) return nothing;
    const { category, code, message, stackTrace, retryable } = job.failure;
    return html`<section class="notice bad" aria-labelledby="failure">
      <h2 id="failure" class="wrap">${clipped(code, 200)} <span class="dim">${String(category).toLowerCase()}${retryable ? ', retryable' : ', not retried'}</span></h2>
      <pre class="text">${this.#text('message', message)}</pre>
      ${stackTrace ? html`<details><summary>Stack trace</summary><pre class="text">${this.#text('stackTrace', stackTrace)}</pre></details>` : nothing}
    </section>`;
  }

  #facts(job) {
    const end = millis(job.finishedAt) ?? (job.state === 'RUNNING' ? now() : null);
    const facts = [
      ['Queue', html`<a class="cut" href="#/jobs?queue=${encodeURIComponent(job.queue)}">${job.queue}</a>`],
      ['Priority', job.priority],
      ['Attempt', html`${count(job.attempt)} <span class="dim">(${job.failures} of ${job.maxAttempts} failures, ${job.crashes} of ${job.maxCrashes} crashes)</span>`],
      ['Worker', job.workerId && cut(job.workerId)],
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
      ['Run', job.runId !== job.id && html`${jobsLink({ runId: job.runId }, 'its jobs')} <span class="dim cut">${clipped(job.runKey, 80)}</span>`],
      ['Parent', job.parentId && html`<a class="mono" href="#/jobs/${encodeURIComponent(job.parentId)}">${job.parentId}</a>`],
      ['Unique key', job.uniqueKey && cut(job.uniqueKey)],
      ['Concurrency key', job.concurrencyKey && cut(job.concurrencyKey)],
      ['Asset', job.assetId && cut(job.assetId)],
      ['Partition', job.partitionKey && cut(job.partitionKey)],
      ['Resources', Object.keys(job.resources ?? {}).length > 0 && cut(JSON.stringify(job.resources))],
      ['Trace', job.traceparent && cut(job.traceparent)],
    ];
    return html`<dl class="facts">${facts.filter(([, value]) => value !== null && value !== false && value !== undefined).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
  }

  #stepTable(job) {
    const active = ACTIVE.includes(job.state);
    const may = this.mayOperate;
    return html`<section aria-labelledby="steps"><h2 id="steps">Steps</h2>
      <div class="scroll"><table><thead><tr><th class="r">#</th><th>Step</th><th>State</th><th class="r">Attempt</th><th class="r">Resets</th><th class="r">Started</th><th class="r">Took</th><th>Patch</th>
        ${may ? html`<th><span class="hidden">Actions</span></th>` : nothing}</tr></thead>
        <tbody>${repeat(this.steps, (step) => step.stepId, (step) => html`<tr>
          <td class="r num">${step.stepIndex}</td><td>${cut(step.stepId)}</td><td>${badge(step.state)}</td><td class="r num">${step.attempt}</td><td class="r num">${step.resets}</td>
          <td class="r num">${time(step.startedAt)}</td><td class="r num">${span((millis(step.finishedAt) ?? (step.state === 'RUNNING' ? now() : millis(step.startedAt))) - millis(step.startedAt))}</td>
          <td>${step.patchBytes ? html`<a href=${jobPath(job.id, `/steps/${encodeURIComponent(step.stepId)}/patch`)} download>${bytes(step.patchBytes)}</a>` : html`<span class="dim">–</span>`}</td>
          ${may ? html`<td class="r"><span class="buttons">
            ${active && step.state !== 'DONE' && job.liveControl?.takeover && job.kind === 'workspace' ? html`<button type="button" class="small" @click=${() => this.#control('accept_step', step.stepId)}>Accept</button>` : nothing}
            ${step.state === 'DONE' || !active ? nothing : html`<button type="button" class="small" @click=${() => this.#control('retry_step', step.stepId)}>Retry</button>
              <button type="button" class="small" @click=${() => this.#control('hard_reset_step', step.stepId)}>Reset</button>`}
            <button type="button" class="small" @click=${() => this.#control('resume_from_step', step.stepId)}>From here</button></span></td>` : nothing}</tr>`)}</tbody></table></div></section>`;
  }

  #output() {
    const { parts, skipped } = this.log;
    const several = parts.length > 1 || parts[0].attempt > 1;
    return html`<section aria-labelledby="output"><h2 id="output">Output <span class="dim">of its programs${skipped ? ', the last part' : ''}</span></h2>
      <pre class="text log" tabindex="0" @scroll=${(event) => this.#scrolled(event.target)}>${parts.map((part) => html`${several ? html`<b class="dim">attempt ${part.attempt}</b>\n` : nothing}${part.text}`)}</pre>
      <div class="actions">${copyButton(parts.map((part) => part.text).join(''), 'output')}</div></section>`;
  }

  #scrolled(shown) {
    this.atEnd = shown.scrollHeight - shown.scrollTop - shown.clientHeight < 40;
  }

  #artifacts() {
    return html`<section aria-labelledby="artifacts"><h2 id="artifacts">Artifacts</h2>
      <div class="scroll"><table><thead><tr><th>Name</th><th class="r">Size</th><th class="r">Attempt</th><th class="r">Published</th><th>SHA-256</th></tr></thead>
        <tbody>${this.artifacts.map((each) => html`<tr><td><a class="cut" href=${jobPath(this.job.id, `/artifacts/${encodeURIComponent(each.name)}`)} download>${each.name}</a></td>
          <td class="r num">${bytes(each.size)}</td><td class="r num">${each.attempt}</td><td class="r num">${time(each.publishedAt)}</td><td class="mono">${cut(each.sha256)}</td></tr>`)}</tbody></table></div></section>`;
  }

  #attemptTable() {
    const end = now();
    return html`<section aria-labelledby="attempts"><h2 id="attempts">Attempts</h2>
      <div class="scroll"><table><thead><tr><th class="r">#</th><th>Outcome</th><th>Worker</th><th class="r">Started</th><th class="r">Took</th><th>Failure</th></tr></thead>
        <tbody>${this.attempts.length === 0 ? empty(6, 'None yet') : [...this.attempts].reverse().slice(0, MOST_EVENTS).map((each) => html`<tr><td class="r num">${each.attempt}</td><td>${badge(each.outcome)}</td><td>${cut(each.workerId)}</td>
          <td class="r num">${time(each.startedAt)}</td><td class="r num">${span((millis(each.endedAt) ?? end) - millis(each.startedAt))}</td>
          <td>${each.failure ? html`<details><summary class="cut long">${clipped(`${each.failure.code}: ${each.failure.message}`, 160)}</summary><pre class="text">${clipped(`${each.failure.message}\n\n${each.failure.stackTrace ?? ''}`, MOST_TEXT)}</pre></details>` : html`<span class="dim">–</span>`}</td></tr>`)}</tbody></table></div></section>`;
  }

  #eventTable() {
    const from = millis(this.job.createdAt);
    const all = [...this.events].reverse();
    const shown = this.whole.has('events') ? all : all.slice(0, MOST_EVENTS);
    return html`<section aria-labelledby="events"><h2 id="events">Events <span class="dim num">${count(all.length)}</span></h2>
      <div class="scroll"><table><thead><tr><th class="r">#</th><th class="r">At</th><th class="r">After</th><th class="r">Attempt</th><th>Event</th><th>Data</th></tr></thead>
        <tbody>${repeat(shown, (event) => event.number, (event) => html`<tr><td class="r num">${event.number}</td><td class="r num">${time(event.at)}</td><td class="r num">${span(millis(event.at) - from)}</td>
          <td class="r num">${event.attempt}</td><td><span class="dot c-${kindOf(event.type)}"></span> <span class="cut">${event.type}</span></td>
          <td>${this.#data(event.data)}</td></tr>`)}</tbody></table></div>
      ${shown.length < all.length ? html`<button type="button" class="small" @click=${() => this.#show('events')}>Show all ${count(all.length)}</button>` : nothing}</section>`;
  }

  #data(data) {
    const text = data && Object.keys(data).length ? JSON.stringify(data) : null;
    return text && text.length > 60
      ? html`<details><summary class="cut long">${clipped(text, 200)}</summary><pre class="text">${clipped(JSON.stringify(data, null, 2), MOST_TEXT)}</pre></details>`
      : long(text);
  }

  #show(what) {
    this.whole = new Set([...this.whole, what]);
  }

  #json(what, value) {
    const text = typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value, null, 2);
    return html`<pre class="text" tabindex="0">${this.#text(what, text ?? '')}</pre>
      <div class="actions">${copyButton(text ?? '', what)} <span class="dim num">${bytes(new Blob([text ?? '']).size)}</span></div>`;
  }

  /** A megabyte in one element makes a browser slow, so the rest is there when somebody wants it. */
  #text(what, text) {
    const all = String(text ?? '');
    return all.length <= MOST_TEXT || this.whole.has(what)
      ? all
      : html`${all.slice(0, MOST_TEXT)}…
<button type="button" class="small" @click=${() => this.#show(what)}>Show all ${count(all.length)} characters</button>`;
  }
}

customElements.define('hf-job', JobView);
