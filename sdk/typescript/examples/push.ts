import { Worker } from "holdfast";

const worker = new Worker({ concurrency: 20 });
worker.handler("resize", (payload: { url: string }) => ({ resized: payload.url }));
const push = worker.push({ secret: process.env["DISPATCH_SECRET"] ?? "" });
export default { port: 8080, fetch: (request: Request) => push(request) };
