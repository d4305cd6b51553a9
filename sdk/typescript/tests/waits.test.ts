/** The scenarios of the conformance kit have the waits between worker and server; these are about what a handler sees. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Child, ChildFailedError, FailedError, type JobContext, SuspendedError } from "holdfast";
import { z } from "zod";
import { call, ends, FaultyProxy, holdfast, newQueue, newWorker, slow, until, workerKey } from "./fixtures.js";

async function waitsFor(id: string, wait: string): Promise<void> {
  await until(`job ${id} waits for ${wait}`, async () => (await holdfast.get(id)).waitsFor?.id === wait);
}

async function newJob(queue: string, kind: string, payload: unknown = {}, maxAttempts = 1): Promise<string> {
  return (await holdfast.enqueue({ kind, queue, payload, maxAttempts })).id;
}

async function message(thrown: Promise<unknown>): Promise<string> {
  return thrown.then(
    () => "nothing",
    (trouble: unknown) => (trouble as Error).message,
  );
}

test("a durable handler waits for everything on one place, and does its step once", async (t) => {
  const queue = newQueue();
  let welcomed = 0;
  await newWorker(t, { queues: [queue], concurrency: 1 })
    .handler("onboard", async (pages: string[], ctx) => {
      await ctx.step("welcome", () => {
        welcomed++;
      });
      await ctx.sleep("nap", 300);
      await ctx.sleepUntil("past", new Date(0));
      await ctx.sleepUntil("soon", new Date(Date.now() + 100).toISOString());
      const contract = await ctx.awaitSignal<{ number: string }>("contract");
      const limit = await ctx.approve("limit", { text: "Raise it?", details: "by 5", withinMs: 3_600_000 });
      const words: number[] = await ctx.map("count", pages, (page) => ({ kind: "count", payload: page }));
      return [contract.number, limit.approved, limit.comment, typeof limit.by, typeof limit.at, words];
    })
    .handler("count", (page: string) => page.split(" ").length)
    .start();
  const id = await newJob(queue, "onboard", ["one", "one two"]);
  await waitsFor(id, "contract");
  await holdfast.signal(id, "contract", { number: "C-17" });
  await waitsFor(id, "limit");
  const asking: string[] = [];
  for await (const job of holdfast.list({ queue, waits: "approval" })) {
    asking.push(job.id);
  }
  assert.deepEqual(asking, [id]);
  assert.equal((await holdfast.get(id)).waitsFor?.question?.details, "by 5");
  await holdfast.decide(id, { waitId: "limit", approved: true, comment: "fine" });
  const job = await ends(id, "SUCCEEDED");
  assert.deepEqual(job.result, ["C-17", true, "fine", "string", "string", [1, 2]]);
  assert.deepEqual([welcomed, job.failures, job.crashes], [1, 0, 0]);
});

test("after a wait everything asked of the context rejects with the same error, and the signal aborts", async (t) => {
  const queue = newQueue();
  const seen: unknown[] = [];
  let stops = 0;
  await newWorker(t, { queues: [queue] })
    .handler("careless", async (_, ctx) => {
      const asks = [
        () => ctx.awaitSignal("go"),
        () => ctx.step("a", () => 1),
        () => ctx.sleep("b", 1),
        () => ctx.spawn("c", { kind: "careless" }),
        () => ctx.event("told"),
        () => ctx.publish("a.txt", new Uint8Array()),
        () => ctx.continueAs(1),
      ];
      ctx.onCancel(() => stops++);
      for (const ask of asks) {
        await ask().catch((thrown: unknown) => seen.push(thrown));
      }
      seen.push(ctx.signal.reason);
      ctx.log("not kept");
      throw new Error("passed over");
    })
    .start();
  const id = await newJob(queue, "careless");
  await until("the handler has left", () => seen.length === 8);
  assert.ok(seen[0] instanceof SuspendedError && seen.every((one) => one === seen[0]), String(seen));
  assert.deepEqual([seen[0].why, stops], ["SUSPENDED", 1]);
  assert.match(seen[0].message, /the job waits for 'go'/);
  const job = await holdfast.get(id);
  assert.deepEqual([job.state, job.attempt, job.waitsFor?.signal], ["WAITING", 1, "go"]);
  assert.equal(await holdfast.log(id), "");
  await holdfast.cancel(id);
});

slow("a handler that waits and does not leave is given up, and its place is free", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue], concurrency: 1 })
    .handler("stuck", async (_, ctx) => {
      if (ctx.attempt === 1) {
        await ctx.awaitSignal("go").catch(() => new Promise(() => undefined));
      }
      return ctx.awaitSignal("go");
    })
    .handler("other", () => "done")
    .start();
  const id = await newJob(queue, "stuck");
  await waitsFor(id, "go");
  await ends(await newJob(queue, "other"), "SUCCEEDED");
  await holdfast.signal(id, "go", 5);
  assert.equal((await ends(id, "SUCCEEDED")).result, 5);
});

test("two waits at once, a wait beside or in a step, and one that is not awaited are refused", async (t) => {
  const queue = newQueue();
  const wrong: Record<string, (ctx: JobContext) => unknown> = {
    both: (ctx) => Promise.all([ctx.sleep("a", 60_000), ctx.awaitSignal("b")]),
    spawning: (ctx) => Promise.all([ctx.spawn("a", { kind: "x" }), ctx.approve("b", "Well?")]),
    waitFirst: (ctx) => Promise.all([ctx.sleep("a", 60_000), ctx.step("b", () => 1)]),
    stepFirst: (ctx) => Promise.all([ctx.step("b", () => 1), ctx.sleep("a", 60_000)]),
    inStep: (ctx) => ctx.step("b", () => ctx.sleep("a", 60_000)),
    left: (ctx) => {
      void ctx.sleep("a", 60_000);
      return 1;
    },
  };
  await newWorker(t, { queues: [queue] })
    .handler("wrong", (name: string, ctx) => wrong[name]?.(ctx))
    .start();
  const said: Record<string, RegExp> = {
    both: /'b' is asked for while 'a' is under way.*await one after the other/,
    spawning: /'b' is asked for while 'a' is under way/,
    waitFirst: /step 'b' is asked for while 'a' is under way/,
    stepFirst: /'a' would end the attempt in the middle of a step/,
    inStep: /'a' would end the attempt in the middle of a step/,
    left: /has left before 'a' was over: await it/,
  };
  for (const [name, text] of Object.entries(said)) {
    assert.match((await ends(await newJob(queue, "wrong", name), "FAILED")).failure?.message ?? "", text, name);
  }
});

test("an id is asked for once, and means the same in every attempt", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("reused", async (_, ctx) => {
      if (ctx.attempt === 1) {
        await ctx.step("a", () => 1);
        await ctx.spawn("c", [{ kind: "end" }, { kind: "end" }]);
        await ctx.sleep("b", 100);
      }
      return [
        await message(ctx.sleep("a", 1)),
        await message(ctx.step("b", () => 1)),
        await message(ctx.spawn("c", { kind: "end" })),
        await message(ctx.awaitSignal("c", { id: "c:again", withinMs: 0 })),
        await message(ctx.awaitSignal("c", { id: "c:again" })),
      ];
    })
    .handler("sorts", async (_, ctx) => {
      if (ctx.attempt === 1) {
        await ctx.sleep("a", 100);
      }
      return ctx.approve("a", "Well?");
    })
    .handler("end", () => 1)
    .start();
  const reused = await ends<string[]>(await newJob(queue, "reused"), "SUCCEEDED");
  const texts = [
    /'a' was a step before, and is a wait of the sort SLEEP now: give it another id/,
    /'b' was a wait of the sort SLEEP before, and is a step now/,
    /'c' has started 2 jobs in an attempt before, and would start 1 now/,
    /nothing/,
    /'c:again' was asked for in this attempt: .* an id of its own/,
  ];
  texts.forEach((text, i) => assert.match(reused.result?.[i] ?? "", text));
  const sorts = await ends(await newJob(queue, "sorts"), "FAILED");
  assert.match(sorts.failure?.message ?? "", /a wait of the sort SLEEP before, and is a wait of the sort APPROVAL now/);
});

test("a wait for a signal brings nothing when it is over, and a question what was asked for then", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("within", async (_, ctx) => {
      const first = await ctx.awaitSignal<string>("go", { withinMs: 100 });
      const second = await ctx.awaitSignal("go", { id: "go-again", withinMs: 3_600_000 });
      return [first === undefined, second];
    })
    .handler("undecided", async (afterwards: "REJECT" | "APPROVE" | "FAIL", ctx) => {
      const { approved, by } = await ctx.approve("q", { text: "Well?", withinMs: 100, afterwards });
      return [approved, by === undefined];
    })
    .start();
  const { id } = await holdfast.enqueue({ kind: "within", queue, uniqueKey: queue });
  await waitsFor(id, "go-again");
  const byKey = { kind: "within", uniqueKey: queue };
  assert.deepEqual(await holdfast.signal(byKey, "other", 1, { key: "k" }), { id, duplicate: false });
  assert.deepEqual(await holdfast.signal(id, "other", 1, { key: "k" }), { id, duplicate: true });
  await holdfast.signal(id, "go", [null]);
  assert.deepEqual((await ends(id, "SUCCEEDED")).result, [true, [null]]);
  const decided = async (afterwards: string): Promise<string> => newJob(queue, "undecided", afterwards);
  assert.deepEqual((await ends(await decided("REJECT"), "SUCCEEDED")).result, [false, true]);
  assert.deepEqual((await ends(await decided("APPROVE"), "SUCCEEDED")).result, [true, true]);
  const failed = await ends(await decided("FAIL"), "FAILED");
  assert.deepEqual([failed.failure?.category, failed.failure?.code], ["TIMEOUT", "NOT_DECIDED"]);
});

test("a signal that does not fit its schema fails the job for good, and is kept", async (t) => {
  const queue = newQueue();
  let mended = false;
  await newWorker(t, { queues: [queue] })
    .handler("typed", async (_, ctx) => {
      if (mended) {
        return ctx.awaitSignal<string>("go");
      }
      const { pages } = await ctx.awaitSignal("go", { payload: z.object({ pages: z.number() }) });
      return pages + 1;
    })
    .start();
  const id = await newJob(queue, "typed", {}, 3);
  await waitsFor(id, "go");
  await holdfast.signal(id, "go", "text");
  const failure = (await ends(id, "FAILED")).failure;
  assert.deepEqual([failure?.category, failure?.code], ["DATA_QUALITY", "VALIDATION"]);
  assert.match(failure?.message ?? "", /what 'go' has got by the signal 'go'/);
  mended = true;
  await holdfast.retry(id);
  assert.equal((await ends(id, "SUCCEEDED")).result, "text");
});

test("children are joined in their order, the first is found, and one that fails fails the others", async (t) => {
  const queue = newQueue();
  const started = (name: string, ctx: JobContext): Promise<Child[]> => {
    const jobs = name.split(" ").map((payload) => ({ kind: "child", payload, maxAttempts: 1 }));
    return ctx.spawn("children", jobs);
  };
  await newWorker(t, { queues: [queue] })
    .handler("child", async (name: string, ctx) => {
      if (name === "bad") {
        throw new FailedError("DATA_QUALITY", "BAD", "it is bad");
      }
      if (name === "never") {
        await ctx.sleep("never", 3_600_000);
      }
      return name === "nothing" ? undefined : name;
    })
    .handler("join", async (names: string, ctx) =>
      (await ctx.join<string>("all", await started(names, ctx))).map((end) => end.result),
    )
    .handler("taken", async (names: string, ctx) => {
      try {
        return await ctx.join("all", await started(names, ctx));
      } catch (thrown) {
        assert.ok(thrown instanceof ChildFailedError);
        return thrown.child.failure?.code;
      }
    })
    .handler("any", async (names: string, ctx) => (await ctx.any("first", await started(names, ctx))).result)
    .handler("map", (names: string, ctx) => ctx.map("m", names.split(" "), (payload) => ({ kind: "child", payload })))
    .handler("none", async (_, ctx) => [await ctx.map("m", [], () => ({ kind: "child" })), await ctx.join("j", [])])
    .handler("unique", (_, ctx) => ctx.spawn("c", { kind: "child", uniqueKey: "k" } as { kind: string }))
    .handler("stranger", (_, ctx) => ctx.join("j", [{ id: ctx.id, startedAs: "c" }]))
    .start();
  assert.deepEqual((await ends(await newJob(queue, "join", "a b c"), "SUCCEEDED")).result, ["a", "b", "c"]);
  assert.equal((await ends(await newJob(queue, "taken", "a bad never"), "SUCCEEDED")).result, "BAD");
  const failed = (await ends(await newJob(queue, "join", "bad never", 3), "FAILED")).failure;
  assert.deepEqual([failed?.category, failed?.code], ["USER_CODE", "CHILD_FAILED"]);
  const any = await newJob(queue, "any", "never first");
  assert.equal((await ends(any, "SUCCEEDED")).result, "first");
  await holdfast.cancel(any, "over", { cascade: true }).catch(() => undefined);
  assert.deepEqual((await ends(await newJob(queue, "none"), "SUCCEEDED")).result, [[], []]);
  assert.equal((await ends(await newJob(queue, "map", "a nothing"), "FAILED")).failure?.code, "VALIDATION");
  assert.equal((await ends(await newJob(queue, "unique"), "FAILED")).failure?.code, "BAD_UNIQUE");
  assert.match(
    (await ends(await newJob(queue, "stranger"), "FAILED")).failure?.message ?? "",
    /was not started as 'c'/,
  );
});

slow("many children are started and read in parts", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue], concurrency: 100 })
    .handler("child", (n: number) => n)
    .handler("parent", async (_, ctx) => {
      const items = Array.from({ length: 2_500 }, (_, n) => n);
      const results: number[] = await ctx.map("all", items, (n) => ({ kind: "child", payload: n }));
      return results.filter((result, n) => result === n).length;
    })
    .start();
  assert.equal((await ends(await newJob(queue, "parent"), "SUCCEEDED", 300_000)).result, 2_500);
});

test("a loop goes on as another job of the same key, and not where it may not", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("loop", async (turn: number, ctx) => {
      if (turn < 3) {
        await ctx.continueAs(turn + 1).catch(() => undefined);
        throw new Error("passed over");
      }
      return "ended";
    })
    .handler("parent", async (_, ctx) => ctx.join("all", [await ctx.spawn("child", { kind: "loop", payload: 1 })]))
    .start();
  const { id } = await holdfast.enqueue({ kind: "loop", queue, payload: 0, uniqueKey: queue });
  const turns = new Map<string, unknown>();
  await until("the last turn has ended", async () => {
    for await (const job of holdfast.list({ queue, kind: "loop", state: "SUCCEEDED" })) {
      turns.set(job.id, job.result ?? null);
    }
    return turns.size === 4;
  });
  assert.deepEqual([turns.get(id), [...turns.values()].filter((result) => result === "ended").length], [null, 1]);
  const parent = await newJob(queue, "parent");
  assert.equal((await ends(parent, "FAILED")).failure?.code, "CHILD_FAILED");
  for await (const child of holdfast.list({ parentId: parent })) {
    assert.equal(child.failure?.code, "BAD_DEPENDENCY");
  }
});

test("an operator sends a job back to a wait and to a start of jobs", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("back", async (_, ctx) => {
      const one = await ctx.awaitSignal<string>("one");
      const children: string[] = await ctx.map("map", ["x"], (payload) => ({ kind: "echo", payload }));
      return one + children.join("") + (await ctx.awaitSignal<string>("two"));
    })
    .handler("echo", (payload: string) => payload)
    .start();
  const id = await newJob(queue, "back");
  const started = async (): Promise<number> => {
    const jobs = await call<{ jobs: unknown[] }>("GET", `/v1/jobs?parentId=${id}`);
    return jobs.jobs.length;
  };
  const back = (stepId: string): Promise<unknown> =>
    call("POST", `/v1/jobs/${id}/control`, { action: "resume_from_step", stepId, reason: "another one" });
  await waitsFor(id, "one");
  await holdfast.signal(id, "one", "a");
  await waitsFor(id, "two");
  await back("one");
  await waitsFor(id, "one");
  await holdfast.signal(id, "one", "b");
  await waitsFor(id, "two");
  assert.equal(await started(), 2);
  await back("map");
  await until("jobs are started again", async () => (await started()) === 3);
  await waitsFor(id, "two");
  await holdfast.signal(id, "two", "c");
  assert.equal((await ends(id, "SUCCEEDED")).result, "bxc");
  const types = (await holdfast.timeline(id)).map((event) => event.type);
  assert.equal(types.filter((type) => type === "task.control.recovery.ack").length, 2);
  assert.ok(!types.includes("task.step.attempt.failed"), String(types));
});

test("a fork reads what the jobs of the other one have brought, and starts none again", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("origin", async (extra: string, ctx) => {
      const children = await ctx.spawn("children", [
        { kind: "echo", payload: "x" },
        { kind: "echo", payload: "y" },
      ]);
      const joined = await ctx.join<string>("all", children);
      const first = await ctx.any("first", children);
      return [...joined.map((end) => end.result), first.result, await ctx.step("last", () => extra)];
    })
    .handler("echo", (payload: string) => payload)
    .start();
  const id = await newJob(queue, "origin", "one");
  const [x, y] = (await ends<string[]>(id, "SUCCEEDED")).result ?? [];
  const fork = async (fromStep: string): Promise<string> => {
    const { jobs } = await call<{ jobs: string[] }>("POST", `/v1/jobs/${id}/fork`, {
      fromStep,
      payload: "two",
    });
    return jobs[0] ?? "";
  };
  for (const step of ["all", "last"]) {
    const forked = await fork(step);
    assert.deepEqual(
      (await ends<string[]>(forked, "SUCCEEDED")).result?.filter((_, i) => i !== 2),
      [x, y, "two"],
    );
    const children = await call<{ jobs: unknown[] }>("GET", `/v1/jobs?parentId=${forked}`);
    assert.equal(children.jobs.length, 0, step);
  }
});

test("what cannot be waited for is refused with its code", async (t) => {
  const queue = newQueue();
  const wrong: Record<string, (ctx: JobContext) => unknown> = {
    BAD_NAME: (ctx) => ctx.sleep("no blanks", 1),
    BAD_DELAY: (ctx) => ctx.awaitSignal("a", { withinMs: Number.NaN }),
    BAD_TIMING: (ctx) => ctx.sleepUntil("a", new Date("never")),
    PAYLOAD_TOO_LARGE: (ctx) => ctx.spawn("a", { kind: "x", payload: "x".repeat(1 << 20) }),
    BAD_LIMIT: (ctx) => ctx.spawn("a", new Array(100_001).fill({ kind: "x" })),
  };
  await newWorker(t, { queues: [queue] })
    .handler("wrong", (name: string, ctx) => wrong[name]?.(ctx))
    .handler("century", (_, ctx) => ctx.sleep("a", 200 * 365 * 86_400_000))
    .start();
  for (const code of Object.keys(wrong)) {
    const job = await ends(await newJob(queue, "wrong", code, 3), "FAILED");
    assert.deepEqual([job.failure?.code, job.attempt], [code, 1]);
  }
  const job = await ends(await newJob(queue, "century", {}, 3), "FAILED");
  assert.deepEqual([job.failure?.code, job.attempt], ["BAD_DELAY", 1]);
});

slow("a job has a thousand ids", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler("many", async (_, ctx) => {
      for (let n = 1; ; n++) {
        await ctx.sleep(`nap-${n}`, 0);
      }
    })
    .start();
  const job = await ends(await newJob(queue, "many", {}, 3), "FAILED", 300_000);
  assert.deepEqual([job.failure?.code, job.attempt], ["BAD_LIMIT", 1]);
  assert.match(job.failure?.message ?? "", /'nap-1001' is one too many/);
});

test("a job that is cancelled while it asks for a wait is cancelled, although the server is away", async (t) => {
  const queue = newQueue();
  const proxy = await FaultyProxy.start(t);
  proxy.cuts = (path) => path === "/v1/leases/suspend";
  await newWorker(t, { queues: [queue], url: proxy.url, apiKey: workerKey })
    .handler("away", async (_, ctx) => ctx.awaitSignal("go"))
    .start();
  const id = await newJob(queue, "away");
  await until("the wait is asked for", () => proxy.seen.includes("/v1/leases/suspend"));
  await holdfast.cancel(id);
  await ends(id, "CANCELLED");
});

test("a handler in a thread waits, starts jobs and goes on as another one", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue], concurrency: 2 })
    .handler("compute", new URL("./computing.js", import.meta.url))
    .handler("echo", (payload: unknown) => payload)
    .start();
  const id = await newJob(queue, "compute", { what: "wait" });
  await waitsFor(id, "go");
  await holdfast.signal(id, "go", 20);
  assert.deepEqual((await ends(id, "SUCCEEDED")).result, [20, [1, 2], 2, "SuspendedError"]);
  const { id: first } = await holdfast.enqueue({ kind: "compute", queue, payload: { what: "loop" }, uniqueKey: queue });
  await ends(first, "SUCCEEDED");
  await until("the next turn has ended", async () => {
    for await (const job of holdfast.list({ queue, kind: "compute", state: "SUCCEEDED" })) {
      if (job.uniqueKey === queue && job.id !== first) {
        return (job.result as { n: number }).n === 42;
      }
    }
    return false;
  });
  const both = await ends(await newJob(queue, "compute", { what: "both" }), "FAILED");
  assert.match(both.failure?.message ?? "", /'b' is asked for while 'a' is under way/);
});
