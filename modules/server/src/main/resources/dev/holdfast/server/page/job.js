/** One job: its state, steps, attempts and events, and the commands that can be sent to it. */
import { html, nothing } from 'lit';
import { clipped, count } from './format.js';
import { dependencyGraph } from './graph.js';
import { actions } from './job-actions.js';
import { attemptTable, data, eventTable, facts, failure, folded, output, stepTable } from './job-parts.js';
import { live } from './live.js';
import { badge, copyButton, progressBar, QUIET_MS, View } from './parts.js';
import { get, jobPath, query } from './server.js';
import { waitsFor } from './waits.js';
import { whyNot } from './why.js';
import { ACTIVE } from './states.js';

const MOST_LOG = 200_000;
const NO_LOG = { parts: [], next: null, skipped: false };
const NO_DEPENDENCIES = { dependsOn: [], dependents: [], forks: [] };
const TABS = [['timeline', 'Timeline'], ['output', 'Output'], ['data', 'Data'], ['events', 'Events']];

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
    tab: { attribute: false },
    job: { state: true },
    events: { state: true },
    attempts: { state: true },
    steps: { state: true },
    artifacts: { state: true },
    dependencies: { state: true },
    problems: { state: true },
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
      Object.assign(this, { job: null, events: [], attempts: [], steps: [], artifacts: [], dependencies: NO_DEPENDENCIES, problems: [], whole: new Set(), log: NO_LOG, atEnd: true });
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
    const { events, attempts, steps, artifacts, dependencies, ...job } = await get(jobPath(this.jobId, '?include=events,attempts,steps,artifacts,dependencies'), signal);
    if (signal.aborted) return;
    Object.assign(this, { job, events, attempts, steps, artifacts, dependencies });
    this.#readLog();
    await this.#readProblems(signal);
  }

  /** What keeps its queue from being worked on, while it waits in it. */
  async #readProblems(signal) {
    const { job } = this;
    if (!['PENDING', 'RETRYING'].includes(job.state)) return;
    const { problems } = await get('/v1/info', signal);
    if (!signal.aborted) this.problems = problems.filter(({ parameters: p, code }) => code === 'all_paused' || (p?.queue === job.queue && (!p.kind || p.kind === job.kind) && (!p.version || p.version === job.version)));
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
    super.updated(changed);
    const shown = changed.has('log') || changed.has('tab') ? this.querySelector('pre.log') : null;
    if (shown && this.atEnd) shown.scrollTop = shown.scrollHeight;
  }

  scrolled(shown) {
    this.atEnd = shown.scrollHeight - shown.scrollTop - shown.clientHeight < 40;
  }

  show(what) {
    this.whole = new Set([...this.whole, what]);
  }

  render() {
    const { job } = this;
    if (!job) {
      return html`<h1 tabindex="-1">Job</h1>${this.error ? this.trouble() : html`<p class="dim">Loading …</p>`}<p><a href="#/jobs">All jobs</a></p>`;
    }
    const brief = live.jobs.get(job.id);
    const shown = brief && brief.attempt === job.attempt && brief.state === job.state ? { ...job, progress: brief.progress, progressMessage: brief.progressMessage } : job;
    const asked = job.liveControl;
    return html`<div class="job-head">
        ${this.#crumbs(job)}
        <div class="head"><h1 tabindex="-1"><span class="cut">${clipped(job.kind, 80)}</span> ${badge(job.state)}
          ${asked?.paused ? badge('paused') : nothing} ${asked?.takeover ? badge('taken over') : nothing}
          ${job.cancelRequestedAt && job.state === 'RUNNING' ? badge('cancelling') : nothing}</h1>
        ${this.mayOperate ? actions(this) : nothing}</div>
      </div>
      ${this.trouble()}
      <div class="actions"><span class="mono wrap">${job.id}</span> ${copyButton(job.id, 'id')} ${copyButton(this.#curl(), 'curl')}</div>
      ${this.#asked(asked)}
      ${ACTIVE.includes(job.state) && shown.progress != null ? html`<div class="big-progress">${progressBar(shown.progress, shown.progressMessage)}</div>` : nothing}
      ${failure(this)}
      ${whyNot(this)}
      ${waitsFor(this)}
      ${facts(this)}
      ${this.#forks()}
      ${this.#tabs()}`;
  }

  #forks() {
    const forks = this.dependencies.forks ?? [];
    if (forks.length === 0) return nothing;
    return html`<section aria-labelledby="forks"><h2 id="forks">Forks</h2>
      <ul>${forks.map((each) => html`<li><a class="mono" href="#/jobs/${encodeURIComponent(each.id)}">…${each.id.slice(-8)}</a> ${badge(each.state)}</li>`)}</ul></section>`;
  }

  /** Where it comes from: its run and its parent. */
  #crumbs(job) {
    return html`<nav class="crumbs" aria-label="Where it belongs"><a href="#/jobs">Jobs</a>
      ${job.runId !== job.id ? html`› <a href="#/runs/${job.runId}">run …${job.runId.slice(-8)}</a>` : nothing}
      ${job.parentId ? html`› <a href="#/jobs/${encodeURIComponent(job.parentId)}">parent …${job.parentId.slice(-8)}</a>` : nothing}
      ${job.forkedFrom ? html`› <a href="#/jobs/${encodeURIComponent(job.forkedFrom.jobId)}">fork of …${job.forkedFrom.jobId.slice(-8)}</a>` : nothing}
      › <span class="mono">…${job.id.slice(-8)}</span></nav>`;
  }

  #tabs() {
    const chosen = TABS.some(([name]) => name === this.tab) ? this.tab : 'timeline';
    const counts = { output: this.log.parts.length ? '' : ' (none)', events: ` ${count(folded(this.events).length)}` };
    return html`<div class="tabs" role="tablist" @keydown=${(event) => this.#arrow(event, chosen)}>${TABS.map(([name, text]) => html`<a role="tab" id="tab-${name}" aria-controls="panel" aria-selected=${chosen === name ? 'true' : 'false'} tabindex=${chosen === name ? '0' : '-1'}
        href="#/jobs/${encodeURIComponent(this.jobId)}?tab=${name}">${text}<span class="dim">${counts[name] ?? ''}</span></a>`)}</div>
      <div role="tabpanel" id="panel" aria-labelledby="tab-${chosen}">${this.#panel(chosen)}</div>`;
  }

  #arrow(event, chosen) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const [name] = TABS[(TABS.findIndex(([each]) => each === chosen) + step + TABS.length) % TABS.length];
    location.hash = `#/jobs/${encodeURIComponent(this.jobId)}?tab=${name}`;
    this.updateComplete.then(() => setTimeout(() => this.querySelector(`#tab-${name}`)?.focus()));
  }

  #panel(name) {
    const { job } = this;
    switch (name) {
      case 'output':
        return output(this);
      case 'data':
        return data(this);
      case 'events':
        return eventTable(this);
      default:
        return html`${dependencyGraph(job, this.dependencies)}
          <section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
            <hf-timeline .job=${job} .events=${this.events} .attempts=${this.attempts} .steps=${this.steps}></hf-timeline></section>
          ${this.steps.length ? stepTable(this) : nothing}
          ${attemptTable(this)}`;
    }
  }

  #curl() {
    const key = this.session?.expiresAt ? ` -H "Authorization: Bearer $HOLDFAST_KEY"` : '';
    return `curl -s${key} '${location.origin}${jobPath(this.job.id)}'`;
  }

  /** What is asked of it and not done yet, and where somebody who took it over finds it. */
  #asked(asked) {
    const { heldBy, recovery, paused, takeover } = asked ?? {};
    const place = takeover && this.events.findLast((event) => event.type === 'task.control.recovery.ack' && event.data?.action === 'takeover')?.data.workspace;
    return html`${heldBy ? html`<p class="dim wrap">${takeover ? 'Taken over' : 'Paused'} by ${heldBy.requestedBy}: ${clipped(heldBy.reason, 300)}</p>` : nothing}
      ${recovery ? html`<p class="dim wrap">${recovery.action}${recovery.stepId ? ` of '${clipped(recovery.stepId, 60)}'` : ''} was requested by ${recovery.requestedBy}: ${clipped(recovery.reason, 300)}${paused || takeover ? '; it starts when the job is resumed' : ''}</p>` : nothing}
      ${place ? html`<div class="actions"><span>Its workspace is <span class="mono wrap">${clipped(place, 600)}</span></span> ${copyButton(place, 'path')}</div>` : nothing}`;
  }
}

customElements.define('hf-job', JobView);
