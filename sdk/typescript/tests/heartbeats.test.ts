import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { Holdfast, type Logger, type Worker } from "holdfast";
import { listen } from "./fetch-server.js";
import { call, ends, FaultyProxy, holdfast, newQueue, newWorker, until, workerKey } from "./fixtures.js";

const SECRET = "a-secret-of-enough-characters";

class Lines implements Logger {
  readonly infos: string[] = [];
  readonly warnings: string[] = [];
  info = (message: string): void => void this.infos.push(message);
  warn = (message: string): void => void this.warnings.push(message);
  error = (message: string): void => void this.warnings.push(message);
}

/** A worker with one job that runs until `leave`, behind a proxy that fails heartbeats. */
class Behind {
  readonly lines = new Lines();
  status = 503;
  failed = 0;
  answered = 0;
  leave: () => void = () => undefined;
  private toFail = 0;

  static async start(t: TestContext): Promise<Behind> {
    const behind = new Behind();
    const proxy = await FaultyProxy.start(t);
    proxy.answers = (path) => (path === "/v1/leases/heartbeat" ? behind.answer() : undefined);
    const queue = newQueue();
    let began = false;
    const options = { queues: [queue], logger: behind.lines, leaseMs: 6_000 };
    const worker = new Holdfast({ url: proxy.url, apiKey: workerKey }).worker(options);
    t.after(() => worker.close(0));
    worker.handler("waits", () => {
      began = true;
      return new Promise<void>((resolve) => (behind.leave = resolve));
    });
    await worker.start();
    await holdfast.enqueue({ kind: "waits", queue });
    await until("it runs", () => began);
    return behind;
  }

  private answer(): number | undefined {
    if (this.failed < this.toFail) {
      this.failed++;
      return this.status;
    }
    this.answered++;
    return undefined;
  }

  /** So many in a row, and one that is answered. */
  async fail(times: number): Promise<void> {
    this.failed = 0;
    this.toFail = times;
    await until(`${times} heartbeats fail`, () => this.failed === times);
    const before = this.answered;
    await until("one is answered", () => this.answered > before);
  }

  failFromNowOn(): void {
    this.toFail = Infinity;
  }
}

test("three failed heartbeats in a row are tolerated", async (t) => {
  const behind = await Behind.start(t);
  await behind.fail(3);
  await behind.fail(3);
  behind.leave();
  assert.deepEqual(behind.lines.warnings, []);
  assert.ok(!behind.lines.infos.some((line) => line.includes("RECOVERED")));
});

test("the fourth failed heartbeat logs one warning and the recovery one notice", async (t) => {
  const behind = await Behind.start(t);
  await behind.fail(6);
  assert.equal(behind.lines.warnings.length, 1);
  assert.match(behind.lines.warnings[0] ?? "", /^HEARTBEAT_DEGRADED: \d+ heartbeats in a row failed for 1 job;/);
  // More of them on a busy machine, where one that takes long counts as several.
  const notice = /^HEARTBEAT_RECOVERED: heartbeats work again after \d+ failures$/;
  await until("the notice", () => behind.lines.infos.some((line) => notice.test(line)));
  behind.leave();
});

test("the recovery is logged also when no job is left", async (t) => {
  const behind = await Behind.start(t);
  behind.failFromNowOn();
  await until("the warning", () => behind.lines.warnings.length === 1);
  behind.leave();
  await until("the notice", () => behind.lines.infos.some((line) => line.startsWith("HEARTBEAT_RECOVERED")));
});

test("refused heartbeats are told once", async (t) => {
  const behind = await Behind.start(t);
  behind.status = 422;
  await behind.fail(6);
  behind.leave();
  const [refused, degraded, ...more] = behind.lines.warnings;
  assert.match(refused ?? "", /^a heartbeat failed: /);
  assert.match(degraded ?? "", /^HEARTBEAT_DEGRADED/);
  assert.deepEqual(more, []);
});

/** A queue that is pushed to a worker whose calls back go through a proxy. */
class Pushed {
  private readonly leaves = new Map<string, () => void>();

  private constructor(
    private readonly queue: string,
    readonly proxy: FaultyProxy,
    readonly worker: Worker,
    readonly lines: Lines,
  ) {}

  static async start(t: TestContext): Promise<Pushed> {
    const lines = new Lines();
    const pushed = new Pushed(newQueue(), await FaultyProxy.start(t), newWorker(t, { logger: lines }), lines);
    const push = pushed.worker
      .handler("waits", (_, ctx) => new Promise<void>((resolve) => pushed.leaves.set(ctx.id, resolve)))
      .push({ secret: SECRET });
    const server = await listen(async (request) => {
      const body = JSON.stringify({ ...((await request.json()) as object), callbackBaseUrl: pushed.proxy.url });
      return push(new Request(request.url, { method: "POST", headers: request.headers, body }));
    });
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tasks`;
    const path = `/v1/queues/${pushed.queue}/dispatch`;
    await call("PUT", path, { url, secret: SECRET, maxInFlight: 20 });
    t.after(() => call("DELETE", path).catch(() => undefined));
    return pushed;
  }

  async begin(): Promise<string> {
    const { id } = await holdfast.enqueue({ kind: "waits", queue: this.queue });
    await until("it runs", () => this.leaves.has(id));
    return id;
  }

  async end(id: string): Promise<void> {
    this.leaves.get(id)?.();
    await ends(id, "SUCCEEDED");
  }

  heartbeats(id: string): number {
    return this.proxy.seen.filter((path) => path === `/v1/tasks/${id}/heartbeat`).length;
  }
}

test("no heartbeat of a pushed task follows its end, also when one was under way", async (t) => {
  const pushed = await Pushed.start(t);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const underWay = await pushed.begin();
  pushed.proxy.holds = (path) => (path === `/v1/tasks/${underWay}/heartbeat` ? released : undefined);
  await until("a heartbeat", () => pushed.heartbeats(underWay) === 1);
  await pushed.end(underWay);
  const between = await pushed.begin();
  await until("a heartbeat", () => pushed.heartbeats(between) === 1);
  await pushed.end(between);
  release();
  const witness = await pushed.begin();
  await until("three heartbeats", () => pushed.heartbeats(witness) === 3);
  assert.deepEqual([pushed.heartbeats(underWay), pushed.heartbeats(between)], [1, 1]);
  await pushed.end(witness);
});

test("one failed heartbeat of each of many pushed tasks is not many in a row", async (t) => {
  const pushed = await Pushed.start(t);
  const failed = new Set<string>();
  pushed.proxy.answers = (path) => {
    const fails = path.endsWith("/heartbeat") && !failed.has(path);
    failed.add(path);
    return fails ? 503 : undefined;
  };
  const ids = await Promise.all(Array.from({ length: 8 }, () => pushed.begin()));
  await until("heartbeats after those", () => ids.every((id) => pushed.heartbeats(id) >= 2));
  assert.deepEqual(pushed.lines.warnings, []);
  await Promise.all(ids.map((id) => pushed.end(id)));
});

test("a worker that has closed sends nothing again, so that its process can end", async (t) => {
  const pushed = await Pushed.start(t);
  await pushed.begin();
  pushed.proxy.cuts = () => true;
  await pushed.worker.close(0);
  await until("it gives up", () => pushed.lines.warnings.some((line) => line.endsWith("its end could not be told")));
});
