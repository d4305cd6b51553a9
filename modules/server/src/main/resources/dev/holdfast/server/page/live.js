/**
 * What the server says by itself: one stream for the whole page. It goes on where it was after a lost connection. A tab
 * that nobody sees lets go of its stream, because a browser has only six connections to a server, for all tabs together;
 * so does a page that is left, which a browser keeps for the way back.
 */
import { signedOut } from './server.js';

const MOST_JOBS = 1000;
const MOST_WORKERS = 500;
const MOST_QUEUES = 1000;
const MOST_TEXT = 32 << 20;
const SILENCE_MS = 40_000;
const HIDDEN_MS = 20_000;
const GATHER_MS = 150;

class Live extends EventTarget {
  state = 'connecting';
  lostSince = null;
  health = null;
  totals = null;
  queues = new Map();
  workers = new Map();
  jobs = new Map();
  #lastId = null;
  #running = false;
  #stream = null;
  #wake = () => {};
  #told = null;
  #hiding = 0;
  #left = false;

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => this.#seen());
    addEventListener('pagehide', () => this.#leave());
    addEventListener('pageshow', () => this.#comeBack());
    addEventListener('online', () => this.#wake());
  }

  start() {
    if (!this.#running) {
      this.#running = true;
      this.#go();
    }
  }

  stop() {
    this.#running = false;
    this.#lastId = null;
    this.#stream?.abort();
    this.#wake();
    this.#forget();
  }

  running() {
    return [...this.jobs.values()].filter((job) => job.state === 'RUNNING');
  }

  #seen() {
    clearTimeout(this.#hiding);
    if (document.hidden) {
      this.#hiding = setTimeout(() => this.#stream?.abort(), HIDDEN_MS);
    } else {
      this.#wake();
    }
  }

  #leave() {
    this.#left = true;
    this.#stream?.abort();
  }

  #comeBack() {
    this.#left = false;
    this.#wake();
  }

  get #unseen() {
    return document.hidden || this.#left;
  }

  async #go() {
    for (let failures = 0; this.#running; ) {
      try {
        await this.#listen(() => (failures = 0));
      } catch {
        // seen by the state
      }
      if (!this.#running) break;
      this.#enter(this.#unseen ? 'asleep' : 'lost');
      failures++;
      await this.#rest(this.#unseen ? null : Math.min(8000, 250 * 2 ** failures) * (0.75 + Math.random() / 2));
    }
  }

  /** Until the time has passed, or somebody looks again. */
  #rest(ms) {
    return new Promise((done) => {
      const timer = ms === null ? 0 : setTimeout(done, ms);
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  async #listen(connected) {
    const stream = new AbortController();
    this.#stream = stream;
    let silence = 0;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => stream.abort(), SILENCE_MS);
    };
    heard();
    try {
      const answer = await fetch('/v1/events', {
        signal: stream.signal,
        headers: this.#lastId ? { 'Last-Event-ID': this.#lastId } : {},
      });
      if (answer.status === 401) signedOut.dispatchEvent(new Event('signedout'));
      if (!answer.ok) throw new Error(String(answer.status));
      connected();
      this.#enter('live');
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        heard();
        text += value;
        if (text.length > MOST_TEXT) throw new Error('an event without an end');
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          this.#event(text.slice(0, end));
          text = text.slice(end + 2);
        }
      }
    } finally {
      clearTimeout(silence);
      stream.abort();
    }
  }

  #event(block) {
    const fields = {};
    for (const line of block.split('\n')) {
      const colon = line.indexOf(': ');
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
    }
    if (!fields.data) return;
    this.#take(fields.event, JSON.parse(fields.data));
    this.#lastId = fields.id;
  }

  #take(topic, data) {
    if (topic === 'reset') {
      this.#forget();
    } else if (topic === 'system:health') {
      this.health = data;
      this.#tell('health');
    } else if (topic === 'queue:status') {
      this.totals = data;
      this.#tell('queues');
    } else if (topic === 'queue:jobs') {
      const heardAt = Date.now();
      for (const job of data.jobs) {
        keep(this.jobs, job.id, { ...job, heardAt }, MOST_JOBS);
        this.#tell('jobs', job.id);
        if (job.finishedAt) this.#told.ended.add(job.id);
      }
      for (const id of data.dropped ?? []) {
        const ran = this.jobs.get(id)?.state === 'RUNNING';
        this.jobs.delete(id);
        this.#tell('jobs', id);
        // It may have: the stream will not tell.
        if (ran) this.#told.ended.add(id);
      }
    } else if (topic === 'queue:logs') {
      for (const job of data.jobs) this.#tell('logs', null, job);
    } else if (topic.startsWith('queue:')) {
      keep(this.queues, data.queue, data, MOST_QUEUES);
      this.#tell('queues');
    } else if (topic === 'worker:logs') {
      for (const { component, supervisor } of data.workers) this.#tell('workerLogs', null, null, `${component} ${supervisor}`);
    } else if (topic.startsWith('worker:')) {
      const key = `${data.component} ${data.supervisor ?? data.workerId}`;
      if (data.status === 'gone') this.workers.delete(key);
      else keep(this.workers, key, data, MOST_WORKERS);
      this.#tell('workers');
    }
  }

  #forget() {
    this.queues.clear();
    this.workers.clear();
    this.jobs.clear();
    this.totals = null;
    this.health = null;
    ['health', 'queues', 'jobs', 'workers'].forEach((what) => this.#tell(what));
  }

  #enter(state) {
    if (this.state !== state) {
      this.state = state;
      this.lostSince = state === 'lost' ? Date.now() : null;
      this.#tell('connection');
    }
  }

  /** Many events at once are one change to draw. */
  #tell(what, job, log, workerLog) {
    if (!this.#told) {
      this.#told = { what: new Set(), jobs: new Set(), ended: new Set(), logs: new Set(), workerLogs: new Set() };
      setTimeout(() => {
        const told = this.#told;
        this.#told = null;
        this.dispatchEvent(Object.assign(new Event('change'), told));
      }, GATHER_MS);
    }
    this.#told.what.add(what);
    if (job) this.#told.jobs.add(job);
    if (log) this.#told.logs.add(log);
    if (workerLog) this.#told.workerLogs.add(workerLog);
  }
}

/** The latest at the end, and the oldest dropped. */
function keep(map, key, value, most) {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value);
}

export const live = new Live();
