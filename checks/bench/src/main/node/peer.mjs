// A queue for Node, driven by the benchmark: one request a line on standard input, one answer a line on standard output.
// node peer.mjs <graphile-worker | graphile-batched | graphile-batched-N | pg-boss | pg-boss-N> <database URL>
// N is the number of runners in this process, or of loops that fetch; without it, two runners and four loops.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const BULK = 1000;
const FILLER = 'x'.repeat(150);
const [, , fullName, connectionString] = process.argv;
const [, name, several] = /^(.*?)(?:-(\d))?$/.exec(fullName);

const payload = (n) => ({ n, filler: FILLER });
const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');

/** Numbers of jobs that have run, told in batches: a line for each would be measured, too. */
const finished = [];
setInterval(tell, 20).unref();

function tell() {
  if (finished.length > 0) say({ ran: finished.splice(0) });
}

function ran(n) {
  finished.push(n);
  if (finished.length >= BULK) tell();
}

async function graphileWorker(batched, runners) {
  const { run, makeWorkerUtils, Logger } = await import('graphile-worker');
  const logger = new Logger(() => () => {});
  const pool = new pg.Pool({ connectionString, max: 20 });
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  await utils.migrate();
  return {
    pool,
    pending: 'SELECT FROM graphile_worker._private_jobs',
    clear: () => pool.query('TRUNCATE graphile_worker._private_jobs, graphile_worker._private_job_queues'),
    add: (n) => utils.addJob('noop', payload(n)),
    addAll: (all) => utils.addJobs(all.map((n) => ({ identifier: 'noop', payload: payload(n) }))),
    async work(concurrency, handle) {
      const options = {
        pgPool: pool,
        logger,
        noHandleSignals: true,
        concurrency: Math.min(100, concurrency),
        taskList: { noop: ({ n }) => handle(n) },
        preset: batched
          ? { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } }
          : {},
      };
      const all = await Promise.all(Array.from({ length: concurrency > 10 ? runners : 1 }, () => run(options)));
      return () => Promise.all(all.map((runner) => runner.stop()));
    },
  };
}

async function pgBoss(fetching) {
  const { PgBoss } = await import('pg-boss');
  const boss = new PgBoss({ connectionString, max: 10, schedule: false, supervise: false, useListenNotify: true });
  boss.on('error', (trouble) => console.error(trouble));
  await boss.start();
  await boss.createQueue('noop', { notify: true });
  const pool = new pg.Pool({ connectionString, max: 2 });
  return {
    pool,
    pending: "SELECT FROM pgboss.job WHERE name = 'noop' AND state < 'completed'",
    clear: () => boss.deleteAllJobs('noop'),
    add: (n) => boss.send('noop', payload(n)),
    addAll: (all) => boss.insert('noop', all.map((n) => ({ data: payload(n) }))),
    /** Loops that fetch batches of 500, the fastest way; in an idle system, workers that are notified. */
    async work(concurrency, handle) {
      if (concurrency <= 10) {
        await boss.work('noop', { batchSize: concurrency }, async (jobs) => {
          for (const job of jobs) await handle(job.data.n);
        });
        return () => boss.offWork('noop');
      }
      let stopped = false;
      const fetchers = Array.from({ length: fetching }, async () => {
        while (!stopped) {
          const jobs = await boss.fetch('noop', { batchSize: Math.min(500, concurrency) });
          if (jobs.length === 0) {
            await sleep(2);
            continue;
          }
          await Promise.all(jobs.map((job) => handle(job.data.n)));
          await boss.complete('noop', jobs.map((job) => job.id));
        }
      });
      return async () => {
        stopped = true;
        await Promise.all(fetchers);
      };
    },
  };
}

const batched = name === 'graphile-batched';
const queue =
  name === 'pg-boss' ? await pgBoss(Number(several ?? 4)) : await graphileWorker(batched, Number(several ?? (batched ? 2 : 1)));
let stopWorking = async () => {};

const operations = {
  clear: () => queue.clear(),

  async enqueue({ first, count }) {
    for (let from = first; from < first + count; from += BULK) {
      const size = Math.min(BULK, first + count - from);
      await queue.addAll(Array.from({ length: size }, (_, i) => from + i));
    }
  },

  /** Each durable before the next, by so many at once. */
  async single({ threads, millis }) {
    const end = performance.now() + millis;
    let count = 0;
    await Promise.all(
      Array.from({ length: threads }, async () => {
        while (performance.now() < end) await queue.add(count++);
      }),
    );
    return { count };
  },

  async work({ concurrency, millis }) {
    stopWorking = await queue.work(concurrency, async (n) => {
      if (millis > 0) await sleep(millis);
      ran(n);
    });
  },

  async stop() {
    await stopWorking();
    tell();
  },

  async pending() {
    const { rows } = await queue.pool.query(`SELECT count(*)::int AS n FROM (${queue.pending} LIMIT 1) AS r`);
    return { count: rows[0].n };
  },

  /** From the call that enqueues to the handler's first line, one job at a time. */
  async pickup({ count }) {
    const began = new Array(count);
    const waiting = new Array(count);
    const stop = await queue.work(10, async (n) => {
      began[n] = performance.now();
      waiting[n]();
    });
    await sleep(500);
    const millis = [];
    for (let i = 0; i < count; i++) {
      const seen = new Promise((done) => (waiting[i] = done));
      const start = performance.now();
      await queue.add(i);
      await seen;
      millis.push(began[i] - start);
      await sleep(5 + (i % 7));
    }
    await stop();
    return { millis };
  },
};

say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, op, ...parameters } = JSON.parse(line);
  operations[op](parameters).then(
    (answer) => say({ id, ...answer }),
    (trouble) => say({ id, error: String(trouble?.stack ?? trouble) }),
  );
}
process.exit(0);
