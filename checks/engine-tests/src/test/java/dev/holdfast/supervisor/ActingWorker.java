package dev.holdfast.supervisor;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.health.WorkerRegistry;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A process that acts as a worker: it reports its health, claims one job, and behaves as its part
 * says. Parts: {@code good}, {@code exit=N}, {@code hang} (before it is healthy), {@code memory},
 * {@code deaf} (does not stop), {@code leaves} (stops unasked, as at SIGTERM), {@code overdue} (has
 * a handler that goes on).
 */
final class ActingWorker {
  static final String PART = "PART";
  static final String URL = "DATABASE";

  private ActingWorker() {}

  /** JSON only. */
  static final class NoCodec implements Codec {
    @Override
    public Json encode(Object value) {
      return (Json) value;
    }

    @Override
    public <T> T decode(Json json, Class<T> type) {
      return type.cast(json);
    }
  }

  public static void main(String[] arguments) throws Exception {
    List<String> given = Arrays.asList(arguments);
    String component = after(given, "--component");
    WorkerProcesses.Place place =
        new WorkerProcesses.Place(
            after(given, "--supervisor"),
            component,
            Integer.parseInt(after(given, "--incarnation")));
    String part = System.getenv(PART);
    System.out.println("plays " + part + (given.contains("--paused") ? ", paused" : ""));
    if (part.equals("hang")) {
      new CountDownLatch(1).await();
    }
    PGSimpleDataSource database = new PGSimpleDataSource();
    database.setUrl(System.getenv(URL));
    JobStore store = new JobStore(database, new NoCodec(), JobStore.Options.DEFAULT);
    WorkerRegistry health = store.workers();
    long pid = ProcessHandle.current().pid();
    store
        .jobs()
        .claim(
            new ClaimRequest(
                WorkerHealth.queueOf(component),
                1,
                WorkerHealth.namePrefix(component, Machine.name(), pid) + "x",
                Duration.ofMinutes(5)));
    health.processes().beat(place, HealthStatus.HEALTHY, pid, null, new Json("{}"));
    System.out.println("healthy");
    String problem = part.equals("overdue") ? "a handler still runs" : null;
    Thread.ofPlatform().daemon().start(() -> beat(health, place, pid, problem));
    if (part.startsWith("exit=")) {
      System.exit(Integer.parseInt(part.substring("exit=".length())));
    }
    if (part.equals("memory")) {
      List<byte[]> all = new ArrayList<>();
      while (true) {
        all.add(new byte[1 << 20]);
        System.out.println(all.size() + " MB");
      }
    }
    if (part.equals("leaves")) {
      health.processes().beat(place, HealthStatus.STOPPING, pid, null, new Json("{}"));
      System.exit(0);
    }
    if (part.equals("deaf")) {
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> System.out.println("ends by a signal")));
    }
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String order = orders.readLine(); order != null; order = orders.readLine()) {
      System.out.println("heard " + order);
      if (order.equals("stop") && !part.equals("deaf")) {
        health.processes().beat(place, HealthStatus.STOPPING, pid, null, new Json("{}"));
        System.exit(0);
      }
    }
  }

  private static void beat(
      WorkerRegistry health, WorkerProcesses.Place place, long pid, @Nullable String problem) {
    try {
      while (true) {
        Thread.sleep(200);
        health.processes().beat(place, HealthStatus.HEALTHY, pid, null, problem, new Json("{}"));
      }
    } catch (InterruptedException | RuntimeException over) {
      System.out.println("beats no more: " + over);
    }
  }

  private static String after(List<String> arguments, String option) {
    return arguments.get(arguments.indexOf(option) + 1);
  }
}
