/** Serves what a module exports, as runtimes do that know `fetch`: node serve.js MODULE PORT */
import { listen } from "./fetch-server.js";

const [module, port] = process.argv.slice(2) as [string, string];
const { default: app } = (await import(module)) as { default: { fetch: (request: Request) => Promise<Response> } };
await listen(app.fetch, Number(port));
console.log("ready");
