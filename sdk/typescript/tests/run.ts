/** Starts a server with a database of its own, runs the tests against it, and stops it. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram, stopProgram } from "./program.js";

const here = import.meta.dirname;
/** Those that start many processes or run many jobs. */
const SLOW = ["load", "processes"];
/** Files at once: most of the time they wait. */
const AT_ONCE = 4;
const named = process.argv.slice(2).filter((argument) => argument !== "--quick");
const quick = process.argv.includes("--quick");
const given = process.env["CONFORMANCE_SERVER"];
process.exit(await (given ? testOn(given, process.env["CONFORMANCE_ADMIN_KEY"]) : testOnOwnServer()));

async function testOnOwnServer(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-typescript-"));
  chmodSync(folder, 0o755); // PostgreSQL does not run as root
  const dev = startProgram(["dev", "--http-port", "0", "-q", "nobody", "-c", "1"], folder, {
    HEARTBEAT_INTERVAL_MS: "1000",
    HEARTBEAT_TIMEOUT_MS: "10000",
    CANCEL_GRACE_PERIOD_MS: "6000",
    HOLDFAST_DISPATCH_ALLOW: "127.0.0.1",
    HOLDFAST_SERVER_REQUESTS_PER_SECOND: "0",
  });
  try {
    const url = (await dev.line(/^ {2}api +(http\S+)\/v1$/m))[1] as string;
    await dev.line(/^ready/m);
    return await testOn(url);
  } catch (trouble) {
    console.error(trouble, dev.output());
    return 1;
  } finally {
    await stopProgram(dev);
    if (existsSync(folder)) {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

async function testOn(url: string, adminKey?: string): Promise<number> {
  const tests = readdirSync(here)
    .filter((file) => file.endsWith(".test.js"))
    .filter((file) => named.length === 0 || named.includes(file.replace(".test.js", "")))
    .filter((file) => !quick || !SLOW.includes(file.replace(".test.js", "")))
    .map((file) => join(here, file));
  const admin = adminKey ?? (await key(url, "admin"));
  const worker = await key(url, "worker", admin);
  const environment = { TEST_URL: url, TEST_ADMIN: admin, TEST_WORKER: worker };
  return run(tests, quick ? { ...environment, TEST_QUICK: "true" } : environment);
}

async function key(url: string, role: string, admin?: string): Promise<string> {
  const response = await fetch(`${url}/v1/keys`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(admin ? { authorization: `Bearer ${admin}` } : {}) },
    body: JSON.stringify({ name: role, role }),
  });
  const { key } = (await response.json()) as { key?: string };
  if (!key) {
    throw new Error(`no key of role ${role}: ${response.status}`);
  }
  return key;
}

function run(tests: string[], environment: Record<string, string>): Promise<number> {
  return new Promise((resolve) => {
    const options = ["--expose-gc", "--test", `--test-concurrency=${AT_ONCE}`, "--test-reporter=spec"];
    spawn(process.execPath, [...options, ...tests], {
      stdio: "inherit",
      env: { ...process.env, ...environment },
    }).on("exit", (exit) => resolve(exit ?? 1));
  });
}
