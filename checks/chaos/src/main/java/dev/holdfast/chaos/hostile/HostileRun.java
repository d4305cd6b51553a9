package dev.holdfast.chaos.hostile;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.fleet.ProcessUse;
import dev.holdfast.chaos.fleet.SingleServer;
import dev.holdfast.chaos.fleet.Watchdog;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Sends requests that no well-behaved client would send to a real server in a small process: none
 * may be answered with an error of the server, which must be healthy afterwards. How its memory
 * grows is reported.
 */
public final class HostileRun {
  private static final int CLIENTS = 8;
  private static final int SHOWN = 20;
  private static final Duration START = Duration.ofMinutes(2);

  /**
   * What came of it.
   *
   * @param statuses how often each status was answered; -1 closed without an answer, -2 left
   *     waiting
   * @param wrong requests that were answered with an error of the server
   * @param tenths resident memory of the server in MB after each tenth of the requests
   * @param filesBefore how many files and sockets the server had open before, after
   */
  public record Result(
      long requests,
      Map<Integer, Long> statuses,
      List<String> wrong,
      List<Long> tenths,
      long filesBefore,
      long filesAfter,
      boolean healthy) {
    /** Whether it withstood all of them. */
    public boolean succeeded() {
      return wrong.isEmpty() && healthy;
    }

    void print(Consumer<String> lines) {
      lines.accept("");
      lines.accept("%,d requests".formatted(requests));
      statuses.forEach((status, count) -> lines.accept("%,10d  %s".formatted(count, name(status))));
      lines.accept("resident MB after each tenth: " + tenths);
      lines.accept("open files: %d before, %d after".formatted(filesBefore, filesAfter));
      wrong.forEach(each -> lines.accept("WRONG  " + each));
      lines.accept(succeeded() ? "no error of the server" : "the server failed");
    }

    private static String name(int status) {
      return switch (status) {
        case RawConnection.CLOSED -> "closed without an answer";
        case RawConnection.WAITS -> "no answer within seconds: long polls and requests cut off";
        default -> Integer.toString(status);
      };
    }
  }

  private final int requests;
  private final long seed;
  private final Consumer<String> progress;
  private final Map<Integer, LongAdder> statuses = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
  private final AtomicInteger sent = new AtomicInteger();

  public HostileRun(int requests, long seed, Consumer<String> progress) {
    this.requests = requests;
    this.seed = seed;
    this.progress = progress;
  }

  public Result run() throws Exception {
    Path folder = Processes.freshFolder();
    try (Watchdog watchdog = Watchdog.start();
        SingleServer postgres = new SingleServer(folder);
        Database database = new Database(postgres);
        Processes processes = new Processes()) {
      watchdog.watch(folder);
      watchdog.watch(processes.folder());
      Migrations.apply(database.direct(), false);
      ChildProcess server =
          processes
              .launch("server", "--port", "0")
              .env("HOLDFAST_DATABASE_URL", database.directUrl())
              .env("HOLDFAST_DATABASE_USER", database.user())
              .env("HOLDFAST_DATABASE_PASSWORD", database.password())
              .begin();
      URI url = URI.create(server.awaitLine("(http://127\\.0\\.0\\.1:\\d+)", START).group(1));
      server.awaitLine("^ready", START);
      try (HttpClient client = HttpClient.newHttpClient()) {
        Result result = against(url, server.pid(), client);
        result.print(progress);
        if (!result.succeeded()) {
          processes.printOutput();
        }
        return result;
      }
    } finally {
      Processes.delete(folder);
    }
  }

  private Result against(URI url, long pid, HttpClient client) throws Exception {
    ObjectMapper json = new ObjectMapper();
    HttpRequest newKey =
        HttpRequest.newBuilder(url.resolve("/v1/keys"))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"name\": \"hostile\", \"role\": \"admin\"}"))
            .build();
    String key =
        json.readTree(client.send(newKey, BodyHandlers.ofString()).body()).path("key").asText();
    HttpRequest openapi = HttpRequest.newBuilder(url.resolve("/openapi.json")).build();
    JsonNode document = json.readTree(client.send(openapi, BodyHandlers.ofString()).body());
    long filesBefore = ProcessUse.of(pid).files();
    List<Long> tenths = new ArrayList<>();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      RequestWriter writer = new RequestWriter(document, seed * CLIENTS + i, key);
      clients.add(
          Thread.ofPlatform().name("hostile-" + i).start(() -> send(writer, url.getPort())));
    }
    while (clients.stream().anyMatch(Thread::isAlive)) {
      clients.forEach(HostileRun::joinBriefly);
      while (tenths.size() < 10 && sent.get() >= (tenths.size() + 1L) * requests / 10) {
        tenths.add(ProcessUse.of(pid).residentMb());
        progress.accept(
            "%,d requests, %d MB resident, %d errors of the server"
                .formatted(sent.get(), tenths.getLast(), wrong.size()));
      }
    }
    HttpRequest health = HttpRequest.newBuilder(url.resolve("/health")).build();
    boolean healthy = client.send(health, BodyHandlers.ofString()).statusCode() == 200;
    Map<Integer, Long> counts = new TreeMap<>();
    statuses.forEach((status, count) -> counts.put(status, count.sum()));
    return new Result(
        sent.get(),
        counts,
        List.copyOf(wrong),
        tenths,
        filesBefore,
        ProcessUse.of(pid).files(),
        healthy);
  }

  private void send(RequestWriter writer, int port) {
    try (RawConnection connection = new RawConnection(port)) {
      while (sent.incrementAndGet() <= requests) {
        RequestWriter.Request request = writer.next();
        int status = connection.send(request);
        statuses.computeIfAbsent(status, unused -> new LongAdder()).increment();
        if (isError(status) && wrong.size() < SHOWN) {
          wrong.add(status + " to " + request.summary());
        }
      }
    } catch (IOException | RuntimeException e) {
      wrong.add("no connection: " + e);
    } finally {
      sent.decrementAndGet();
    }
  }

  /**
   * 501 and 505 are true answers to methods and versions that nobody speaks, 503 to an overload.
   */
  private static boolean isError(int status) {
    return status == 500 || status == 502 || status == 504;
  }

  private static void joinBriefly(Thread thread) {
    try {
      thread.join(Duration.ofMillis(20));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
