import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";

const root = dirname(createRequire(import.meta.url).resolve("holdfast/package.json"));

test("the package has no dependencies, its types, and nothing that is not for users", () => {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, unknown>;
  assert.equal(manifest["dependencies"], undefined);
  assert.equal(manifest["type"], "module");
  assert.deepEqual(readdirSync(root).sort(), ["README.md", "dist", "package.json"]);
  const files = readdirSync(join(root, "dist"));
  assert.ok(files.includes("index.js") && files.includes("index.d.ts") && files.includes("heartbeat-thread.js"));
  assert.ok(files.includes("handler-thread.js"));
});

test("an example has ten lines at most", () => {
  const folder = join(import.meta.dirname, "../../examples");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".ts"))) {
    const lines = readFileSync(join(folder, file), "utf8").trim().split("\n");
    assert.ok(lines.length <= 10, `${file} has ${lines.length}`);
  }
});

test("the code in the README is that of the examples", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const folder = join(import.meta.dirname, "../../examples");
  const blocks = [...readme.matchAll(/<!-- snippet: sdk\/typescript\/(\S+) -->\n```ts\n([^]*?)```/g)];
  assert.ok(blocks.length >= 4, `${blocks.length} blocks`);
  for (const [, file, code] of blocks) {
    assert.equal(code, readFileSync(join(folder, (file as string).replace("examples/", "")), "utf8"), file);
  }
});
