package dev.holdfast.bench;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.lease.LeaseRequest;
import dev.holdfast.contract.task.TaskEnvelope;
import dev.holdfast.model.job.Job;
import dev.holdfast.server.HoldfastServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** What the server is asked over HTTP, on loopback. */
final class HttpTrials {
  private static final int CONNECTIONS = 64;
  private static final int EACH = 4_000;
  private static final int WAITING = 2_000;
  private static final int WOKEN = 100;

  private final HoldfastContender holdfast;
  private final Meter meter;

  HttpTrials(HoldfastContender holdfast, Meter meter) {
    this.holdfast = holdfast;
    this.meter = meter;
  }

  Map<String, Callable<List<Sample>>> all() {
    Map<String, Callable<List<Sample>>> all = new LinkedHashMap<>();
    all.put("http-heartbeat", this::heartbeats);
    all.put("http-waiting", this::waiting);
    return all;
  }

  private static Sample of(String trial, String unit, double value) {
    return Sample.of(trial, "holdfast", unit, value);
  }

  /** Each of these extends a lease durably; beside it, the same server without the database. */
  private List<Sample> heartbeats() throws Exception {
    holdfast.clear();
    holdfast.enqueue(0, CONNECTIONS);
    List<Sample> samples = new ArrayList<>();
    try (HoldfastServer server = holdfast.server()) {
      List<TaskEnvelope> tasks = leased(server);
      List<RawHttp> connections = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS; i++) {
        connections.add(new RawHttp(server.url()));
      }
      List<byte[]> beats = new ArrayList<>();
      List<byte[]> health = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS; i++) {
        TaskEnvelope task = tasks.get(i);
        beats.add(
            connections
                .get(i)
                .request(
                    "POST",
                    "/v1/tasks/" + task.taskId() + "/heartbeat",
                    task.taskToken(),
                    "{\"attempt\":1,\"workerId\":\"bench\"}"));
        health.add(connections.get(i).get("/health"));
      }
      load("warm-up", connections, beats);
      samples.addAll(load("http heartbeat", connections, beats));
      load("warm-up", connections, health);
      samples.addAll(load("http, no database", connections, health));
      for (RawHttp connection : connections) {
        connection.close();
      }
      holdfast
          .target()
          .expect(
              CONNECTIONS,
              "SELECT count(*) FROM holdfast.job WHERE state = 'RUNNING'"
                  + " AND lease_expires_at > started_at + interval '91 seconds'");
    }
    return samples;
  }

  private static List<TaskEnvelope> leased(HoldfastServer server) throws IOException {
    try (RawHttp http = new RawHttp(server.url())) {
      http.send(
          http.request(
              "POST",
              "/v1/queues/" + Job.DEFAULT_QUEUE + "/lease",
              "",
              "{\"workerId\":\"bench\",\"max\":" + CONNECTIONS + "}"));
      String body = http.answer().body();
      return Wire.read(body.getBytes(StandardCharsets.UTF_8), LeaseRequest.Answer.class).tasks();
    }
  }

  private List<Sample> load(String name, List<RawHttp> connections, List<byte[]> requests)
      throws Exception {
    long[][] nanos = new long[CONNECTIONS][EACH];
    List<Thread> threads = new ArrayList<>();
    AtomicInteger refused = new AtomicInteger();
    Meter.Reading start = meter.read(holdfast);
    for (int i = 0; i < CONNECTIONS; i++) {
      int number = i;
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    for (int n = 0; n < EACH; n++) {
                      long sent = System.nanoTime();
                      try {
                        if (connections.get(number).ask(requests.get(number)) != 200) {
                          refused.incrementAndGet();
                        }
                      } catch (IOException e) {
                        refused.incrementAndGet();
                      }
                      nanos[number][n] = System.nanoTime() - sent;
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    Meter.Reading used = meter.read(holdfast).since(start);
    if (refused.get() > 0) {
      throw new IllegalStateException(name + ": " + refused.get() + " were not answered with 200");
    }
    long[] sorted = Arrays.stream(nanos).flatMapToLong(Arrays::stream).sorted().toArray();
    return List.of(
        of(name, "requests/s", sorted.length / used.seconds()),
        of(name + " p50", "ms", sorted[sorted.length / 2] / 1e6),
        of(name + " p99", "ms", sorted[sorted.length * 99 / 100] / 1e6));
  }

  /** Workers that wait for a task: what they cost while there is none, and who wakes up. */
  private List<Sample> waiting() throws Exception {
    holdfast.clear();
    try (HoldfastServer server = holdfast.server()) {
      AtomicInteger answered = new AtomicInteger();
      ConcurrentLinkedQueue<Long> woken = new ConcurrentLinkedQueue<>();
      List<RawHttp> connections = new ArrayList<>();
      for (int i = 0; i < WAITING; i++) {
        RawHttp http = new RawHttp(server.url());
        connections.add(http);
        http.send(
            http.request(
                "POST",
                "/v1/queues/" + Job.DEFAULT_QUEUE + "/lease",
                "",
                "{\"workerId\":\"w" + i + "\",\"waitMs\":60000}"));
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    if (http.answer().body().contains("taskId")) {
                      woken.add(System.nanoTime());
                    }
                    answered.incrementAndGet();
                  } catch (IOException closing) {
                    // at the end of the trial
                  }
                });
      }
      Trials.sleep(2_000);
      Meter.Reading start = meter.read(holdfast);
      Trials.sleep(10_000);
      Meter.Reading idle = meter.read(holdfast).since(start);
      long enqueued = System.nanoTime();
      holdfast.enqueue(0, WOKEN);
      while (woken.size() < WOKEN) {
        Trials.sleep(1);
      }
      double took = woken.stream().mapToLong(at -> at - enqueued).max().orElse(0) / 1e6;
      Trials.sleep(500);
      int awake = answered.get();
      for (RawHttp connection : connections) {
        connection.close();
      }
      return List.of(
          of("2,000 waiting, of a core", "%", 100 * (idle.client() + idle.server()) / 10),
          of("woken by 100 jobs", "workers", awake),
          of("until the last of them", "ms", took));
    }
  }
}
