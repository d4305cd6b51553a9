/** A worker as a program; the tests send it signals. */
import { Worker } from "holdfast";

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);

const worker = new Worker({
  queues: [process.argv[2] as string],
  shutdownTimeoutMs: number("SHUTDOWN_TIMEOUT_MS", 30_000),
  leaseMs: number("LEASE_MS", 30_000),
  maxBlockedMs: number("MAX_BLOCKED_MS", 600_000),
});
worker.handler("sleep", (payload: { ms: number }, ctx) => {
  console.log("began");
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, payload.ms);
    ctx.onCancel((why) => {
      clearTimeout(timer);
      reject(why);
    });
  });
});
worker.handler("block", () => {
  for (;;);
});
await worker.run();
