import { Holdfast } from "holdfast";

const holdfast = new Holdfast();
const payload = { url: "data:text/plain,hello" };
const { id } = await holdfast.enqueue({ kind: "resize", queue: "images", payload });
await holdfast.enqueue([1, 2, 3].map((page) => ({ kind: "print", payload: { page } })));
const job = await holdfast.wait<{ bytes: number }>(id, { timeoutMs: 60_000 });
console.log(job.state, job.result?.bytes, job.failure?.message ?? "no failure");
