import { FailedError, Worker } from "holdfast";

const worker = new Worker({ queues: ["payments"] });
worker.handler("charge", async (payload: { cents: number }, ctx) => {
  if (payload.cents <= 0) throw new FailedError("DATA_QUALITY", "BAD_AMOUNT", "nothing to charge");
  if (new Date().getUTCHours() < 6) throw ctx.snooze(3_600_000);
  const { status } = await fetch("https://bank.example", { method: "POST", signal: ctx.signal });
  if (status === 429) throw new FailedError("INFRASTRUCTURE", "BUSY", "the bank is busy", { retryAfterMs: 20_000 });
});
await worker.run();
