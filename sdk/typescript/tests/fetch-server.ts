import { createServer, type IncomingMessage, type Server } from "node:http";

/** A server that works with Request and Response, on the one of Node. */
export async function listen(handle: (request: Request) => Promise<Response>, port = 0): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const response = await handle(
        new Request(`http://localhost${incoming.url ?? "/"}`, {
          method: incoming.method ?? "GET",
          headers: incoming.headers as Record<string, string>,
          ...(incoming.method === "POST" ? { body: await text(incoming) } : {}),
        }),
      );
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(await response.text());
    })().catch((trouble: unknown) => outgoing.destroy(trouble as Error));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server;
}

async function text(incoming: IncomingMessage): Promise<string> {
  let all = "";
  for await (const chunk of incoming.setEncoding("utf8")) {
    all += chunk as string;
  }
  return all;
}
