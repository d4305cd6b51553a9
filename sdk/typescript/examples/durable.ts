import { type JobContext, Worker } from "holdfast";
async function onboard(user: { name: string; pages: string[]; trialMs: number }, ctx: JobContext) {
  await ctx.sleep("trial", user.trialMs); // days, perhaps: no place, no lease, no memory
  const contract = await ctx.awaitSignal<{ number: string }>("contract", { withinMs: 7 * 86_400_000 });
  const limit = await ctx.approve("limit", `Raise the limit of ${user.name}?`);
  const words = await ctx.map("count", user.pages, (page) => ({ kind: "count-words", payload: page }));
  return { contract: contract?.number ?? "not signed", limit: limit.approved, words };
}
const worker = new Worker({ queues: ["onboarding"] }).handler("onboard", onboard);
await worker.handler("count-words", (page: string) => page.split(" ").length).run();
