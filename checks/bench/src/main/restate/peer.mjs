// Restate with its own server, driven by the benchmark: one request a line on standard input, one answer a line on standard output.
// Handlers stay in memory while they wait: Restate calls a handler again only after it has waited for a minute.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import * as clients from '@restatedev/restate-sdk-clients';
import { RestatePromise, serve, service } from '@restatedev/restate-sdk';

const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');

const went = { taken: () => {}, asks: () => {} };

const waits = service({
  name: 'waits',
  handlers: {
    async signals(ctx, count) {
      for (let i = 0; i < count; i++) {
        const { id, promise } = ctx.awakeable();
        went.asks(id);
        await promise;
        went.taken(performance.now());
      }
      return count;
    },

    async parent(ctx, count) {
      const self = ctx.serviceClient({ name: 'waits' });
      const results = await RestatePromise.all(Array.from({ length: count }, (_, i) => self.child(i)));
      went.taken(performance.now());
      return results.length;
    },

    async chain(ctx, count) {
      const self = ctx.serviceClient({ name: 'waits' });
      for (let i = 0; i < count; i++) await self.child(i);
      went.taken(performance.now());
      return count;
    },

    child: async (ctx, number) => number,
  },
});

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-restate-'));
const [own, ingress, admin, node] = [await freePort(), await freePort(), await freePort(), await freePort()];
// Not by its script, which would be killed in its place.
const program = `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
const server = spawn(program, ['--no-logo', '--base-dir', folder, '--bind-ip', '127.0.0.1', '--bind-port', String(node), '--listen-mode', 'tcp'], {
  stdio: ['ignore', 'ignore', 'ignore'],
  env: {
    ...process.env,
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LOG_FILTER: 'error',
  },
});
const ended = () => {
  server.kill('SIGKILL');
  // The server may still write while its folder is emptied.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
};
process.on('exit', ended);

// Its own lines would be taken for answers.
await serve({ services: [waits], port: own, logger: () => {} });
for (let tries = 0; ; tries++) {
  try {
    const answer = await fetch(`http://127.0.0.1:${admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${own}` }),
    });
    if (answer.ok) break;
    if (tries > 60) throw new Error(await answer.text());
  } catch (trouble) {
    if (tries > 60) throw trouble;
  }
  await sleep(500);
}
const restate = clients.connect({ url: `http://127.0.0.1:${ingress}` });
const sender = restate.serviceSendClient(waits);

async function once(start) {
  await sleep(20);
  const taken = new Promise((done) => (went.taken = done));
  const began = performance.now();
  await start();
  return { millis: [(await taken) - began] };
}

const operations = {
  /** From the call that resolves what the handler awaits to the handler's next line. */
  async signals({ count }) {
    const ids = [];
    let asked = () => {};
    went.asks = (id) => {
      ids.push(id);
      asked();
    };
    await sender.signals(count);
    const millis = [];
    for (let i = 0; i < count; i++) {
      while (ids.length <= i) await new Promise((done) => (asked = done));
      // As long as the handler of Holdfast takes to wait again, and what it pauses then.
      await sleep(20 + (i % 7));
      const taken = new Promise((done) => (went.taken = done));
      const began = performance.now();
      await restate.resolveAwakeable(ids[i], i);
      millis.push((await taken) - began);
    }
    return { millis };
  },

  children: ({ count }) => once(() => sender.parent(count)),

  chain: ({ count }) => once(() => sender.chain(count)),
};

say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, op, ...parameters } = JSON.parse(line);
  operations[op](parameters).then(
    (answer) => say({ id, ...answer }),
    (trouble) => say({ id, error: String(trouble?.stack ?? trouble) }),
  );
}
process.exit(0);
