/** A job's life, drawn to scale: waits, attempts, leases, steps, and what was decided in between. */
import { html, LitElement, nothing, svg } from 'lit';
import { clipped, millis, now, span, timeOfDay } from './format.js';

const ROW = 22;
const LABEL = 130;
const RIGHT = 16;
const MOST_ATTEMPTS = 30;
const MOST_STEPS = 40;
const MOST_MARKS = 300;

/** Which events are worth a mark, and of which colour. */
function kindOf(type) {
  if (/^(requeued:stale|failed$|task\.self_heal\.exhausted|task\.step\.attempt\.failed)/.test(type)) return 'bad';
  if (/^(retry:|cancel|task\.self_heal|aborted:|snoozed|released)/.test(type)) return 'warn';
  if (/^(task\.control|task\.resume|retried)/.test(type)) return 'accent';
  if (/^(done|uploaded|source:ready)/.test(type)) return 'good';
  return 'dim';
}

/** What Holdfast decided about a step that failed, and what operators asked for. */
const isDecision = (event) => /^task\.(self_heal|control|resume)\./.test(event.type);

/** A step that its worker left behind still says that it runs. */
function stepOutcome(state, over) {
  if (state === 'DONE') return 'succeeded';
  return state === 'RUNNING' && over ? 'interrupted' : state.toLowerCase();
}

/** Of each step, when it was worked on: begun by one event, ended by another or with the attempt. */
function stepBars(events, attempts, steps, end) {
  const ends = new Map(attempts.filter((each) => each.endedAt).map((each) => [each.attempt, millis(each.endedAt)]));
  const over = attempts.length > 0 && ends.has(attempts.at(-1).attempt);
  const rows = new Map();
  const open = new Map();
  const close = (id, at, outcome) => {
    const bar = open.get(id);
    if (bar) Object.assign(bar, { to: Math.max(bar.from, Math.min(at, ends.get(bar.attempt) ?? at)), outcome });
    open.delete(id);
  };
  for (const event of events) {
    const id = event.data?.stepId;
    if (!id || !event.type.startsWith('task.step.attempt.')) continue;
    if (event.type.endsWith('.started')) {
      if (open.has(id)) close(id, millis(event.at), 'interrupted');
      if (!rows.has(id)) rows.set(id, []);
      const bar = { from: millis(event.at), attempt: event.attempt, number: event.data.attempt };
      rows.get(id).push(bar);
      open.set(id, bar);
    } else {
      close(id, millis(event.at), event.type.endsWith('.finished') ? 'succeeded' : 'failed');
    }
  }
  for (const [id, bar] of [...open]) {
    close(id, end, ends.has(bar.attempt) ? 'interrupted' : 'running');
  }
  // Workers in other languages leave checkpoints and no such events.
  for (const step of steps) {
    if (!rows.has(step.stepId)) {
      rows.set(step.stepId, [
        { from: millis(step.startedAt), to: millis(step.finishedAt) ?? end, number: step.attempt, outcome: stepOutcome(step.state, over) },
      ]);
    }
  }
  return [...rows].map(([id, bars]) => ({ id, bars }));
}

class Timeline extends LitElement {
  static properties = { job: { attribute: false }, events: { attribute: false }, attempts: { attribute: false }, steps: { attribute: false }, width: { state: true } };
  #observer = new ResizeObserver(([entry]) => (this.width = Math.floor(entry.contentRect.width)));

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    this.#observer.observe(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#observer.disconnect();
  }

  render() {
    if (!this.width || !this.job) return nothing;
    const { job } = this;
    const ended = millis(job.finishedAt);
    const from = Math.min(millis(job.createdAt), ...this.events.map((event) => millis(event.at)));
    const lease = millis(job.leaseExpiresAt);
    const due = job.state === 'PENDING' || job.state === 'RETRYING' ? millis(job.runAt) : null;
    const latest = Math.max(ended ?? now(), from + 1, ...this.events.map((event) => millis(event.at)));
    // Where it will be: the end of the lease, or the next attempt, if that is not too far off to see the rest.
    const ahead = Math.max(lease ?? 0, due ?? 0);
    const to = Math.max(latest, Math.min(ahead, latest + (latest - from) + 60_000));
    const label = Math.min(LABEL, this.width / 4);
    const x = (at) => label + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (this.width - label - RIGHT);

    const attempts = this.attempts.slice(-MOST_ATTEMPTS);
    const steps = stepBars(this.events, this.attempts, this.steps, ended ?? now()).slice(-MOST_STEPS);
    const rows = [];
    const decisions = this.events.filter(isDecision);
    const others = this.events.filter((event) => event.type !== 'progress' && !event.type.startsWith('task.'));
    rows.push({ text: 'events', draw: (y) => this.#marks(x, y, others) });
    if (decisions.length) rows.push({ text: 'decisions', draw: (y) => this.#marks(x, y, decisions) });
    for (const each of attempts) rows.push({ text: `attempt ${each.attempt}`, draw: (y) => this.#attempt(each, x, y, ended ?? now()) });
    for (const step of steps) rows.push({ text: step.id, draw: (y) => this.#step(step, x, y) });
    const height = rows.length * ROW + 26;
    const what = `From ${timeOfDay(from)} to ${timeOfDay(to)}: ${this.attempts.length} ${this.attempts.length === 1 ? 'attempt' : 'attempts'}, ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}. The events are listed below.`;
    return html`<svg class="timeline" width=${this.width} height=${height} viewBox="0 0 ${this.width} ${height}" role="img" aria-label=${what}>
      ${this.#axis(from, to, x, rows.length * ROW)}
      ${!ended && ahead > latest ? svg`<line class="t-now" x1=${x(latest)} x2=${x(latest)} y1="0" y2=${rows.length * ROW}></line>` : nothing}
      ${rows.map((row, i) => svg`<g><text class="t-label" x="0" y=${i * ROW + 15}>${clipped(row.text, Math.floor(label / 7))}<title>${clipped(row.text)}</title></text>${row.draw(i * ROW)}</g>`)}
    </svg>`;
  }

  #axis(from, to, x, bottom) {
    const ticks = Math.max(1, Math.floor((this.width - LABEL) / 130));
    return Array.from({ length: ticks + 1 }, (_, i) => {
      const at = from + ((to - from) * i) / ticks;
      const anchor = i === 0 ? 'start' : i === ticks ? 'end' : 'middle';
      return svg`<line class="t-grid" x1=${x(at)} x2=${x(at)} y1="0" y2=${bottom}></line>
        <text class="t-tick" x=${x(at)} y=${bottom + 16} text-anchor=${anchor}>${i === 0 ? timeOfDay(from) : `+${span(at - from)}`}</text>`;
    });
  }

  #bar(x, y, from, to, kind, title) {
    const left = x(from);
    return svg`<rect class="t-bar s-${kind}" x=${left} y=${y + 4} width=${Math.max(2, x(to) - left)} height=${ROW - 8} rx="2"><title>${title}</title></rect>`;
  }

  #attempt(each, x, y, end) {
    const from = millis(each.startedAt);
    const running = each.outcome === 'RUNNING';
    const to = millis(each.endedAt) ?? end;
    const lease = running ? millis(this.job.leaseExpiresAt) : null;
    const due = each.attempt === 1 ? Math.max(millis(this.job.createdAt), Math.min(millis(this.job.runAt), from)) : null;
    const title = `attempt ${each.attempt} ${each.outcome.toLowerCase()} on ${clipped(each.workerId, 100)}: ${span(to - from)}${each.failure ? `, ${clipped(each.failure.code, 60)}` : ''}`;
    return svg`${due !== null && due < from ? this.#bar(x, y, due, from, 'wait', `in the queue for ${span(from - due)}`) : nothing}
      ${lease && lease > to ? this.#bar(x, y, to, lease, 'lease', `leased until ${timeOfDay(lease)}`) : nothing}
      ${this.#bar(x, y, from, to, each.outcome.toLowerCase(), title)}`;
  }

  #step(step, x, y) {
    return step.bars.map((bar) => this.#bar(x, y, bar.from, bar.to, bar.outcome, `${clipped(step.id, 100)}, attempt ${bar.number} ${bar.outcome}: ${span(bar.to - bar.from)}`));
  }

  #marks(x, y, events) {
    const middle = y + ROW / 2;
    return events.slice(-MOST_MARKS).map((event) => {
      const at = x(millis(event.at));
      const kind = kindOf(event.type);
      const title = svg`<title>${timeOfDay(millis(event.at))} ${clipped(event.type, 100)}${event.data?.because ? `: ${clipped(event.data.because, 200)}` : ''}</title>`;
      return isDecision(event)
        ? svg`<path class="t-mark c-${kind}" d="M${at} ${middle - 6}l6 6-6 6-6-6z">${title}</path>`
        : svg`<circle class="t-mark c-${kind}" cx=${at} cy=${middle} r="4">${title}</circle>`;
    });
  }
}

customElements.define('hf-timeline', Timeline);
export { kindOf };
