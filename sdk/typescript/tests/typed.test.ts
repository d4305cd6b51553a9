import assert from "node:assert/strict";
import { test } from "node:test";
import { currentJob, Worker } from "holdfast";
import { z } from "zod";
import { call, ends, FaultyProxy, holdfast, Messages, newQueue, newWorker, sleep, until } from "./fixtures.js";

const Resize = z.object({ width: z.number().int(), at: z.coerce.date(), fit: z.enum(["cover", "contain"]).optional() });

test("a schema checks the payload, and types the handler", async (t) => {
  const queue = newQueue();
  await newWorker(t, { queues: [queue] })
    .handler(
      "resize",
      (payload) => {
        // Compiled only if the type comes from the schema.
        const year: number = payload.at.getUTCFullYear();
        return { width: payload.width * 2, year };
      },
      { payload: Resize },
    )
    .handler("compute", new URL("./computing.js", import.meta.url), {
      payload: z.object({ what: z.literal("double"), n: z.string().transform(Number) }),
    })
    .start();
  const good = { width: 21, at: "2030-01-02T00:00:00Z", newer: true };
  const [fits, misfits, computed] = await holdfast.enqueue([
    { kind: "resize", queue, payload: good },
    { kind: "resize", queue, payload: { ...good, width: "21", fit: "none" } },
    { kind: "compute", queue, payload: { what: "double", n: "21" } },
  ]);
  assert.deepEqual((await ends(fits?.id ?? "", "SUCCEEDED")).result, { width: 42, year: 2030 });
  const { failure, attempt } = await ends(misfits?.id ?? "", "FAILED");
  assert.deepEqual([failure?.code, failure?.retryable, attempt], ["VALIDATION", false, 1]);
  assert.match(failure?.message ?? "", /^the payload does not fit 'resize': width: .*; fit: /);
  assert.equal((await ends<{ n: number }>(computed?.id ?? "", "SUCCEEDED")).result?.n, 42);
});

test("the job of a handler is known to whatever it calls", async (t) => {
  const queue = newQueue();
  async function deep(): Promise<string | undefined> {
    await sleep(1);
    return currentJob()?.id;
  }
  await newWorker(t, { queues: [queue] })
    .handler("deep", deep)
    .start();
  const jobs = await holdfast.enqueue([1, 2, 3].map(() => ({ kind: "deep", queue })));
  for (const { id } of jobs) {
    assert.equal((await ends(id, "SUCCEEDED")).result, id);
  }
  assert.equal(currentJob(), undefined);
});

test("a rotated key is taken without a restart, also by heartbeats of a worker that claims nothing", async (t) => {
  const made = (): Promise<{ id: string; key: string }> =>
    call("POST", "/v1/keys", { name: "rotated", role: "worker" });
  const [before, after] = [await made(), await made()];
  let key = before.key;
  const proxy = await FaultyProxy.start(t);
  const logger = new Messages();
  const queue = newQueue();
  let leave = (): void => undefined;
  let began = false;
  const apiKey = (): Promise<string> => Promise.resolve(key);
  const busy = new Worker({ url: proxy.url, apiKey, queues: [queue], concurrency: 1, leaseMs: 6_000, logger });
  t.after(() => busy.close(0));
  busy.handler("long", () => {
    began = true;
    return new Promise<void>((resolve) => (leave = resolve));
  });
  await busy.start();
  const { id } = await holdfast.enqueue({ kind: "long", queue });
  await until("it runs", () => began);
  key = after.key;
  await call("DELETE", `/v1/keys/${before.id}`);
  const sent = (): number => proxy.seen.filter((path) => path === "/v1/leases/heartbeat").length;
  const seen = sent();
  await until("some heartbeats", () => sent() > seen + 6);
  assert.ok(!logger.all.some((line) => line.includes("HEARTBEAT_DEGRADED")), logger.all.join("\n"));
  leave();
  assert.equal((await ends(id, "SUCCEEDED")).attempt, 1);
});
