import assert from "node:assert/strict";
import { test } from "node:test";
import { CancelledError, FailedError, LeaseLostError } from "holdfast";
import {
  aborted,
  call,
  ends,
  FaultyProxy,
  holdfast,
  Messages,
  newQueue,
  newWorker,
  sleep,
  slow,
  until,
} from "./fixtures.js";

test("a handler gets the payload, and what it returns is the result", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("double", (payload: { n: number }, ctx) => ({
      n: payload.n * 2,
      attempt: ctx.attempt,
      kind: ctx.job.kind,
    }))
    .handler("nothing", async () => sleep(1))
    .start();
  const [double, nothing] = await holdfast.enqueue([
    { kind: "double", queue, payload: { n: 21 } },
    { kind: "nothing", queue },
  ]);
  assert.deepEqual((await ends(double?.id ?? "", "SUCCEEDED")).result, { n: 42, attempt: 1, kind: "double" });
  assert.equal((await ends(nothing?.id ?? "", "SUCCEEDED")).result ?? null, null);
});

test("what a handler throws is the failure, by its category", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("data", () => {
      throw new FailedError("DATA_QUALITY", "BAD_AMOUNT", "nothing to charge");
    })
    .handler("bug", (_, ctx) => {
      if (ctx.attempt < 3) {
        throw new FailedError("INFRASTRUCTURE", "BUSY", "the bank is busy", { retryAfterMs: 1 });
      }
      return ctx.job.failures;
    })
    .handler("thrown", () => Promise.reject(new TypeError("oops \u0000")))
    .start();
  const [data, bug, thrown] = await holdfast.enqueue([
    { kind: "data", queue },
    { kind: "bug", queue },
    { kind: "thrown", queue, maxAttempts: 1 },
  ]);
  const failed = await ends(data?.id ?? "", "FAILED");
  assert.deepEqual(
    [failed.failure?.code, failed.failure?.message, failed.failures],
    ["BAD_AMOUNT", "nothing to charge", 0],
  );
  assert.match(failed.failure?.stackTrace ?? "", /worker\.test/);
  const retried = await ends(bug?.id ?? "", "SUCCEEDED");
  assert.deepEqual([retried.attempt, retried.result], [3, 2]);
  assert.match((await ends(thrown?.id ?? "", "FAILED")).failure?.message ?? "", /TypeError: oops \uFFFD/);
});

test("a snooze brings the job back without using budget", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("later", (_, ctx) => {
      if (ctx.attempt < 3) {
        throw ctx.snooze(10);
      }
      return ctx.job.failures;
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "later", queue, maxAttempts: 1 });
  const job = await ends(id, "SUCCEEDED");
  assert.deepEqual([job.attempt, job.result], [3, 0]);
});

test("a cancelled handler hears it by its signal, with the reason", async (t) => {
  const queue = newQueue();
  const reasons: unknown[] = [];
  await newWorker(t, { queues: [queue] })
    .handler("stops", async (_, ctx) => {
      ctx.onCancel((why) => reasons.push(why));
      await aborted(ctx.signal);
      assert.equal(ctx.isCancelled, true);
      ctx.checkCancelled();
    })
    .handler("finishes", async (_, ctx) => {
      await aborted(ctx.signal);
      return "all the same";
    })
    .start();
  const stops = await holdfast.enqueue({ kind: "stops", queue });
  const finishes = await holdfast.enqueue({ kind: "finishes", queue });
  for (const { id } of [stops, finishes]) {
    await until("it runs", async () => (await holdfast.get(id)).state === "RUNNING");
    assert.equal((await holdfast.cancel(id, "no longer needed")).outcome, "REQUESTED");
  }
  await ends(stops.id, "CANCELLED");
  assert.equal((await ends(finishes.id, "SUCCEEDED")).result, "all the same");
  const [why] = reasons as [CancelledError];
  assert.deepEqual([why instanceof CancelledError, why.why, why.reason], [true, "CANCELLED", "no longer needed"]);
});

slow("a handler that does not stop is given up, and its place is free", async (t) => {
  const queue = newQueue();
  let release = (): void => undefined;
  const stuck = new Promise<void>((resolve) => (release = resolve));
  const logger = new Messages();
  await newWorker(t, { queues: [queue], concurrency: 1, logger })
    .handler("ignores", () => stuck)
    .handler("next", () => 1)
    .start();
  const ignores = await holdfast.enqueue({ kind: "ignores", queue });
  const next = await holdfast.enqueue({ kind: "next", queue });
  await until("it runs", async () => (await holdfast.get(ignores.id)).state === "RUNNING");
  await holdfast.cancel(ignores.id);
  assert.equal((await ends(ignores.id, "FAILED")).failure?.code, "CANCEL_TIMEOUT");
  await ends(next.id, "SUCCEEDED");
  assert.match(logger.all.join("\n"), /pass ctx\.signal on/);
  release();
});

test("a timeout and a deadline stop the handler", async (t) => {
  const queue = newQueue();
  const why: string[] = [];
  await newWorker(t, { queues: [queue] })
    .handler("slow", async (_, ctx) => {
      why.push(((await aborted(ctx.signal)) as CancelledError).why);
      ctx.checkCancelled();
    })
    .start();
  const timeout = await holdfast.enqueue({ kind: "slow", queue, timeoutMs: 300, maxAttempts: 1 });
  assert.match((await ends(timeout.id, "FAILED")).failure?.message ?? "", /longer than its timeout of 300 ms/);
  const deadline = await holdfast.enqueue({ kind: "slow", queue, deadline: new Date(Date.now() + 1500) });
  assert.equal((await ends(deadline.id, "FAILED")).failure?.code, "DEADLINE_EXCEEDED");
  assert.deepEqual(why, ["ATTEMPT_TIMEOUT", "DEADLINE_EXCEEDED"]);
});

test("progress, log and events are written before the job ends", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("tells", async (_, ctx) => {
      for (let n = 0; n < 500; n++) {
        ctx.progress(n / 5, `frame ${n}`);
        ctx.log(`line ${n} ${"x".repeat(50)}`);
      }
      await ctx.event("encoded", { frames: 500 });
      ctx.progress(100, "done");
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "tells", queue });
  const job = await ends(id, "SUCCEEDED");
  assert.deepEqual([job.progress, job.progressMessage], [100, "done"]);
  const lines = (await holdfast.log(id)).trimEnd().split("\n");
  assert.deepEqual([lines.length, lines[0], lines[499]?.slice(0, 8)], [500, `line 0 ${"x".repeat(50)}`, "line 499"]);
  const timeline = await holdfast.timeline(id);
  assert.deepEqual(timeline.find((event) => event.type === "encoded")?.data, { frames: 500 });
  assert.ok(timeline.filter((event) => event.type === "progress").length < 10, "progress is throttled");
});

slow("a long log is kept from its end, whole lines only", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("tells", async (_, ctx) => {
      for (let n = 0; n < 3; n++) {
        for (let i = 0; i < 400; i++) {
          ctx.log(`round ${n} line ${i} ${"y".repeat(80)}`);
        }
        await sleep(1_200);
      }
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "tells", queue });
  await ends(id, "SUCCEEDED");
  const lines = (await holdfast.log(id)).trimEnd().split("\n");
  assert.match(lines.at(-1) ?? "", /^round 2 line 399 y+$/);
  assert.match(lines[0] ?? "", /^round \d line \d+ y+$/);
  assert.ok(lines.length > 500, `${lines.length} lines are kept`);
});

test("a result that cannot be kept fails its job and no other", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue], concurrency: 50 })
    .handler("big", () => "x".repeat(1 << 20))
    .handler("circular", () => {
      const self: { self?: unknown } = {};
      self.self = self;
      return self;
    })
    .handler("nul", () => "a\u0000b")
    .handler("fine", () => "fine")
    .start();
  const kinds = ["big", "fine", "circular", "fine", "nul", "fine"];
  const jobs = await holdfast.enqueue(kinds.map((kind) => ({ kind, queue })));
  const codes: (string | undefined)[] = [];
  for (const { id } of jobs) {
    const job = await holdfast.wait(id, { timeoutMs: 30_000 });
    codes.push(job.failure?.code ?? job.state);
  }
  assert.deepEqual(codes, [
    "RESULT_TOO_LARGE",
    "SUCCEEDED",
    "RESULT_NOT_JSON",
    "SUCCEEDED",
    "RESULT_NOT_JSON",
    "SUCCEEDED",
  ]);
});

slow("a kind without a handler is left to a worker that has one", async (t) => {
  const queue = newQueue();
  const other = newWorker(t, { queues: [queue] }).handler("other", () => 1);
  await other.start();
  const { id } = await holdfast.enqueue({ kind: "known-elsewhere", queue });
  await until("it was left", async () => (await holdfast.timeline(id)).some((event) => event.type === "snoozed"));
  await other.close(0); // otherwise chance decides which of them gets the job
  await newWorker(t, { queues: [queue] })
    .handler("known-elsewhere", () => "here")
    .start();
  const job = await ends(id, "SUCCEEDED", 90_000);
  assert.deepEqual([job.result, job.failures], ["here", 0]);
});

test("a kind that nobody has a handler for fails when its time is over", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue], unknownKindsMs: 0 })
    .handler("other", () => 1)
    .start();
  const { id } = await holdfast.enqueue({ kind: "unknown", queue });
  assert.equal((await ends(id, "FAILED")).failure?.code, "NO_HANDLER");
});

test("no more jobs run at once than the concurrency, over all queues", async (t) => {
  const queues = [newQueue(), newQueue(), newQueue()];
  let running = 0;
  let most = 0;
  await newWorker(t, { queues, concurrency: 4 })
    .handler("counts", async () => {
      most = Math.max(most, ++running);
      await sleep(20);
      running--;
    })
    .start();
  const jobs = await holdfast.enqueue(
    Array.from({ length: 60 }, (_, n) => ({ kind: "counts", queue: queues[n % 3] as string })),
  );
  for (const { id } of jobs) {
    await ends(id, "SUCCEEDED");
  }
  assert.equal(most, 4);
});

slow("a handler that blocks the event loop keeps its job", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue], leaseMs: 8_000 })
    .handler("computes", () => {
      // Blocks the thread as a computation does, and leaves the processor to others.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 18_000);
      return "computed";
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "computes", queue });
  const job = await ends(id, "SUCCEEDED");
  assert.deepEqual([job.attempt, job.crashes, job.result], [1, 0, "computed"]);
});

slow("a worker whose heartbeats do not arrive loses the job, hears it, and settles nothing", async (t) => {
  const queue = newQueue();
  const proxy = await FaultyProxy.start(t);
  proxy.cuts = (path) => path === "/v1/leases/heartbeat" || path.startsWith("/v1/leases/commands");
  let why: unknown;
  await newWorker(t, { url: proxy.url, queues: [queue], leaseMs: 1_500, concurrency: 1 })
    .handler("work", async (_, ctx) => {
      why = await aborted(ctx.signal);
      return "too late";
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "work", queue });
  await until("the lease ran out", async () => {
    const job = await holdfast.get(id);
    return job.attempt === 1 && job.state === "PENDING";
  });
  proxy.cuts = (path) => path.endsWith("/lease");
  await until("the handler has heard", () => why !== undefined);
  assert.ok(why instanceof LeaseLostError);
  await newWorker(t, { queues: [queue] })
    .handler("work", () => "in time")
    .start();
  const job = await ends(id, "SUCCEEDED", 120_000);
  assert.deepEqual([job.result, job.attempt], ["in time", 2]);
});

slow("an attempt hears that it is lost when its own worker claims the job again", async (t) => {
  const queue = newQueue();
  const proxy = await FaultyProxy.start(t);
  proxy.cuts = (path) => path === "/v1/leases/heartbeat" || path.startsWith("/v1/leases/commands");
  let why: unknown;
  await newWorker(t, { url: proxy.url, queues: [queue], leaseMs: 1_500, concurrency: 2 })
    .handler("work", async (_, ctx) => {
      if (ctx.attempt === 1) {
        why = await aborted(ctx.signal);
      }
      return ctx.attempt;
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "work", queue });
  assert.equal((await ends(id, "SUCCEEDED")).result, 2);
  await until("the first attempt has heard", () => why !== undefined);
  assert.ok(why instanceof LeaseLostError);
});

test("jobs whose claim was not answered are released at once", async (t) => {
  const queue = newQueue();
  const proxy = await FaultyProxy.start(t);
  await newWorker(t, { url: proxy.url, queues: [queue], leaseMs: 600_000 })
    .handler("work", () => 1)
    .start();
  await until("it waits", () => proxy.seen.includes("/v1/queues/wait"));
  let losses = 0;
  proxy.loses = (path, answer) => path.endsWith("/lease") && answer.includes('"taskId"') && losses++ === 0;
  const jobs = await holdfast.enqueue([1, 2, 3].map(() => ({ kind: "work", queue })));
  for (const { id } of jobs) {
    const job = await ends(id, "SUCCEEDED");
    assert.equal(job.crashes, 0);
  }
  assert.ok(losses > 0);
});

test("an end whose answer was lost is told again, and counts once", async (t) => {
  const queue = newQueue();
  const proxy = await FaultyProxy.start(t);
  let losses = 3;
  proxy.loses = (path) => path.endsWith("/settle") && losses-- > 0;
  let runs = 0;
  await newWorker(t, { url: proxy.url, queues: [queue] })
    .handler("work", () => ++runs)
    .start();
  const { id } = await holdfast.enqueue({ kind: "work", queue });
  const job = await ends(id, "SUCCEEDED");
  assert.deepEqual([job.attempt, job.result, runs], [1, 1, 1]);
  assert.equal((await call<{ attempts: unknown[] }>("GET", `/v1/jobs/${id}/attempts`)).attempts.length, 1);
});

slow("a strict handler stops when its lease may have run out, and another one goes on", async (t) => {
  const queue = newQueue();
  const proxy = await FaultyProxy.start(t);
  const stopped: unknown[] = [];
  let running = 0;
  const work = async (signal: AbortSignal, attempt: number): Promise<string> => {
    if (attempt === 1) {
      running++;
      await Promise.race([aborted(signal).then((why) => stopped.push(why)), sleep(6_000)]);
    }
    return "done";
  };
  await newWorker(t, { queues: [queue], url: proxy.url, leaseMs: 2_000 })
    .handler("strict", (_, ctx) => work(ctx.signal, ctx.attempt), { strict: true })
    .handler("plain", (_, ctx) => work(ctx.signal, ctx.attempt))
    .start();
  const jobs = await holdfast.enqueue([
    { kind: "strict", queue },
    { kind: "plain", queue },
  ]);
  await until("both run", () => running === 2);
  // Longer than a lease: heartbeats extend it, so neither is stopped.
  await sleep(3_000);
  assert.equal(stopped.length, 0);
  proxy.cuts = () => true;
  proxy.cutAll();
  await until("the strict one has stopped", () => stopped.length === 1, 5_000);
  assert.ok(stopped[0] instanceof LeaseLostError);
  proxy.cuts = () => false;
  await Promise.all(jobs.map(({ id }) => ends(id, "SUCCEEDED")));
});

test("files of a job are published and read again", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("makes", async (_, ctx) => {
      await ctx.publish("a b.txt", new TextEncoder().encode("first"));
      await ctx.publish("a b.txt", new TextEncoder().encode("second"));
      return ctx.publish("self.js", import.meta.filename);
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "makes", queue });
  const { result } = await ends<{ name: string; size: number }>(id, "SUCCEEDED");
  assert.equal(result?.name, "self.js");
  const listed = (await holdfast.artifacts(id)).map((one) => one.name).sort();
  assert.deepEqual(listed, ["a b.txt", "self.js"]);
  assert.equal(new TextDecoder().decode(await holdfast.artifact(id, "a b.txt")), "second");
});
