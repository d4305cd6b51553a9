import { Worker } from "holdfast";

const worker = new Worker({ queues: ["images"], concurrency: 20 });
worker.handler("resize", async (payload: { url: string }, ctx) => {
  const answer = await fetch(payload.url, { signal: ctx.signal });
  ctx.progress(50, "fetched");
  return { bytes: (await answer.arrayBuffer()).byteLength };
});
await worker.run();
