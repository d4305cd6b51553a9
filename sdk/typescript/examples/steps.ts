import { Worker } from "holdfast";

const worker = new Worker({ queues: ["texts"] });
worker.handler("ingest", async (book: { url: string }, ctx) => {
  const text = await ctx.step("fetch", async (signal) => (await fetch(book.url, { signal })).text());
  const words = await ctx.step("count", () => text.split(/\s+/).length);
  await ctx.step("store", () => ctx.log(`${book.url} has ${words} words`));
  return { words };
});
await worker.run();
