package dev.holdfast.workspace.git;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** Serves a bare repository as plain files, which git can clone; silent while the gate is shut. */
public final class StaticServer implements AutoCloseable {
  public final CountDownLatch asked = new CountDownLatch(1);
  public final CountDownLatch gate;
  private final Path folder;
  private final @Nullable String authorization;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  public StaticServer(Path folder, boolean silent, @Nullable String authorization)
      throws IOException {
    this.folder = folder;
    this.gate = new CountDownLatch(silent ? 1 : 0);
    this.authorization = authorization;
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  public String address() {
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  private void answer(HttpExchange exchange) throws IOException {
    asked.countDown();
    try (exchange) {
      gate.await();
      Path file = folder.resolve(exchange.getRequestURI().getPath().substring(1));
      String sent = exchange.getRequestHeaders().getFirst("Authorization");
      if (authorization != null && !authorization.equals(sent)) {
        exchange.getResponseHeaders().add("WWW-Authenticate", "Basic realm=\"here\"");
        exchange.sendResponseHeaders(401, -1);
      } else if (!Files.isRegularFile(file)) {
        exchange.sendResponseHeaders(404, -1);
      } else {
        byte[] bytes = Files.readAllBytes(file);
        exchange.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    gate.countDown();
    server.stop(0);
    threads.shutdownNow();
  }
}
