import assert from "node:assert/strict";
import { test } from "node:test";
import {
  FailedError,
  Holdfast,
  HoldfastError,
  type JobFailedError,
  KeyRefusedError,
  type LiveEvent,
  NotFoundError,
  RefusedError,
  ServerUnavailableError,
} from "holdfast";
import {
  adminKey,
  FaultyProxy,
  freePort,
  holdfast,
  newQueue,
  newWorker,
  sleep,
  until,
  url,
  workerKey,
} from "./fixtures.js";

const NOBODY = "01a1dd4a-b938-7556-b3c6-ab0755016a84";

test("a job that was enqueued is there with all it was given", async () => {
  const queue = newQueue();
  const deadline = new Date(Date.now() + 3_600_000);
  const { id, duplicate } = await holdfast.enqueue({
    kind: "resize",
    queue,
    payload: { width: 100, name: "ä😀" },
    priority: 2,
    delayMs: 60_000,
    maxAttempts: 5,
    deadline,
    resources: { memory: "1G" },
  });
  assert.equal(duplicate, false);
  const job = await holdfast.get(id);
  assert.deepEqual(
    [job.kind, job.queue, job.state, job.priority, job.maxAttempts, job.payload, job.resources],
    ["resize", queue, "PENDING", 2, 5, { width: 100, name: "ä😀" }, { memory: "1G" }],
  );
  assert.equal(new Date(job.deadline ?? 0).getTime(), deadline.getTime());
});

test("many jobs are answered in their order, and listed newest first over several pages", async () => {
  const queue = newQueue();
  const jobs = Array.from({ length: 120 }, (_, n) => ({ kind: "count", queue, payload: { n } }));
  const enqueued = await holdfast.enqueue(jobs);
  assert.deepEqual((await holdfast.get(enqueued[119]?.id ?? "")).payload, { n: 119 });
  const listed: string[] = [];
  for await (const job of holdfast.list({ queue, state: ["PENDING", "RUNNING"], brief: true })) {
    listed.push(job.id);
  }
  assert.deepEqual(new Set(listed), new Set(enqueued.map((one) => one.id)));
});

test("no job and too many are answered without a request", async () => {
  assert.deepEqual(await holdfast.enqueue([]), []);
  const many = Array.from({ length: 10_001 }, () => ({ kind: "count" }));
  await assert.rejects(holdfast.enqueue(many), (error: RefusedError) => error.message.includes("split them"));
});

test("a job enqueued twice by its id is one job", async () => {
  const job = {
    kind: "once",
    queue: newQueue(),
    id: "01a1dd4a-b938-7556-b3c6-" + Date.now().toString(16).padStart(12, "0"),
  };
  assert.deepEqual(await holdfast.enqueue(job), { id: job.id, duplicate: false });
  assert.deepEqual(await holdfast.enqueue(job), { id: job.id, duplicate: false });
  const jobs: string[] = [];
  for await (const { id } of holdfast.list({ queue: job.queue })) {
    jobs.push(id);
  }
  assert.deepEqual(jobs, [job.id]);
});

test("a unique key that is taken is answered with the job that holds it", async () => {
  const job = { kind: "report", queue: newQueue(), uniqueKey: newQueue() };
  const first = await holdfast.enqueue(job);
  assert.deepEqual(await holdfast.enqueue(job), { id: first.id, duplicate: true });
});

test("an enqueue whose answer was lost is repeated, and is one job", async (t) => {
  const proxy = await FaultyProxy.start(t);
  let losses = 2;
  proxy.loses = () => losses-- > 0;
  const queue = newQueue();
  const { id, duplicate } = await new Holdfast({ url: proxy.url, apiKey: adminKey }).enqueue({
    kind: "once",
    queue,
  });
  assert.equal(proxy.seen.length, 3);
  assert.equal(duplicate, false);
  const ids: string[] = [];
  for await (const job of holdfast.list({ queue })) {
    ids.push(job.id);
  }
  assert.deepEqual(ids, [id]);
});

test("a job that is not there is undefined to find, and an error to get", async () => {
  assert.equal(await holdfast.find(NOBODY), undefined);
  await assert.rejects(holdfast.get(NOBODY), NotFoundError);
});

test("wait gives up in time and says what to do", async () => {
  const { id } = await holdfast.enqueue({ kind: "never", queue: newQueue() });
  await assert.rejects(
    holdfast.wait(id, { timeoutMs: 200 }),
    (error: HoldfastError) => error.code === "wait_timeout" && error.message.includes("still PENDING"),
  );
  const signal = AbortSignal.timeout(100);
  await assert.rejects(holdfast.wait(id, { signal }), { name: "TimeoutError" });
});

test("a pending job is cancelled at once, one that has ended stays as it is, and a retry puts it back", async () => {
  const { id } = await holdfast.enqueue({ kind: "never", queue: newQueue() });
  assert.deepEqual(await holdfast.cancel(id, "no longer needed"), {
    id,
    previousState: "PENDING",
    outcome: "CANCELLED",
  });
  assert.equal((await holdfast.wait(id)).state, "CANCELLED");
  assert.equal((await holdfast.cancel(id)).outcome, "ALREADY_TERMINAL");
  assert.equal((await holdfast.retry(id)).state, "PENDING");
  await assert.rejects(holdfast.retry(id), (error: RefusedError) => error.code === "job_not_retryable");
});

test("a result is what the job returned, or an error that says why there is none", async (t) => {
  const queue = newQueue();
  const worker = newWorker(t, { queues: [queue] });
  worker.handler("add", ({ a, b }: { a: number; b: number }) => a + b);
  worker.handler("fail", () => {
    throw new FailedError("DATA_QUALITY", "BAD_ROW", "row 7");
  });
  await worker.start();
  const add = await holdfast.enqueue({ kind: "add", queue, payload: { a: 1, b: 2 } });
  assert.equal(await holdfast.result<number>(add.id), 3);
  const fail = await holdfast.enqueue({ kind: "fail", queue });
  await assert.rejects(
    holdfast.result(fail.id),
    (error: JobFailedError) => error.code === "BAD_ROW" && error.message.includes("FAILED: row 7"),
  );
  const cancelled = await holdfast.enqueue({ kind: "never", queue, delayMs: 60_000 });
  await holdfast.cancel(cancelled.id, "not needed");
  await assert.rejects(
    holdfast.result(cancelled.id),
    (error: JobFailedError) => error.state === "CANCELLED" && error.message.includes("not needed"),
  );
});

test("a cancel with cascade takes the children along", async () => {
  const queue = newQueue();
  const parent = await holdfast.enqueue({ kind: "never", queue });
  const child = await holdfast.enqueue({ kind: "never", queue, parentId: parent.id });
  await holdfast.cancel(parent.id, "withdrawn", { cascade: true });
  assert.equal((await holdfast.wait(child.id)).state, "CANCELLED");
});

test("events tell of jobs as they change, and go on after the connection broke", async (t) => {
  const proxy = await FaultyProxy.start(t);
  const client = new Holdfast({ url: proxy.url, apiKey: adminKey });
  const queue = newQueue();
  const end = new AbortController();
  t.after(() => end.abort()); // without it the process would not end
  const seen = new Set<string>();
  const heard: LiveEvent[] = [];
  const reading = (async () => {
    for await (const event of client.events({ topics: ["queue:jobs"], signal: end.signal })) {
      heard.push(event);
      for (const job of (event.data as { jobs?: { id: string }[] }).jobs ?? []) {
        seen.add(job.id);
      }
    }
  })();
  await until("the snapshot", () => heard.length > 0);
  // Several: of very many changes at once, which other tests may make, an event names only some.
  const isHeardOf = async (what: string): Promise<void> => {
    const jobs: string[] = [];
    const isSeen = async (): Promise<boolean> => {
      jobs.push((await holdfast.enqueue({ kind: "seen", queue })).id);
      await sleep(200);
      return jobs.some((id) => seen.has(id));
    };
    await until(what, isSeen, 120_000);
  };
  await isHeardOf("a first job");
  proxy.cutAll();
  await isHeardOf("a job that came after the stream was cut");
  assert.equal(proxy.resumed[0], undefined);
  assert.ok(proxy.resumed.at(-1), "the stream goes on where it was cut");
  end.abort();
  await reading;
});

test("leaving the loop over events ends the request", async (t) => {
  const proxy = await FaultyProxy.start(t);
  for await (const event of new Holdfast({ url: proxy.url, apiKey: adminKey }).events()) {
    assert.equal(typeof event.topic, "string");
    break;
  }
  assert.equal(proxy.seen.length, 1);
});

test("errors say what to do", async (t) => {
  const wrong = new Holdfast({ url, apiKey: "hf_000000000000_wrong" });
  await assert.rejects(
    wrong.get(NOBODY),
    (error: Error) => error instanceof KeyRefusedError && error.message.includes("holdfast keys create"),
  );
  await assert.rejects(wrong.events().next(), KeyRefusedError);
  await assert.rejects(
    wrong
      .worker()
      .handler("any", () => 1)
      .start(),
    KeyRefusedError,
  );
  const worker = new Holdfast({ url, apiKey: workerKey });
  await assert.rejects(
    worker.get(NOBODY),
    (error: Error) => error instanceof KeyRefusedError && error.message.includes("role submitter"),
  );
  const away = new Holdfast({ url: `http://127.0.0.1:${await freePort()}`, apiKey: adminKey, retryForMs: 300 });
  await assert.rejects(
    away.get(NOBODY),
    (error: Error) => error instanceof ServerUnavailableError && error.message.includes("nobody listens there"),
  );
  await assert.rejects(
    holdfast.enqueue({ kind: "bad kind!" }),
    (error: Error) => error instanceof RefusedError && error.status === 422 && error.message.includes("kind"),
  );
  assert.throws(() => new Holdfast({ url: "localhost:8420" }), /http:\/\/host:port/);
  assert.throws(() => new Holdfast({ apiKey: "two words" }), /HOLDFAST_SERVER_API_KEY/);
  assert.throws(() => newWorker(t, { concurrency: 0 }), /concurrency is 0/);
  assert.throws(() => newWorker(t, { queues: [] }), /at least one name/);
  const twice = newWorker(t, {}).handler("a", () => 1);
  assert.throws(() => twice.handler("a", () => 2), /already/);
  await assert.rejects(newWorker(t, {}).start(), /at least one handler/);
});
