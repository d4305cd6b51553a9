package dev.holdfast.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/**
 * A queue in another language, as a process that is told what to do by a line of JSON and answers
 * with one. Whatever is measured happens in that process.
 */
final class Peer implements Contender {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  private final String name;
  private final List<String> command;
  private final Path folder;
  private final Target target;
  private final Process process;
  private final BufferedWriter requests;
  private final AtomicLong ids = new AtomicLong();
  private final Map<Long, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
  private final CountDownLatch ready = new CountDownLatch(1);
  private volatile IntConsumer listener = number -> {};

  /**
   * @param command to which the database's URL is added
   */
  Peer(String name, List<String> command, Path folder, Target target)
      throws IOException, InterruptedException {
    this.name = name;
    this.command = command;
    this.folder = folder;
    this.target = target;
    List<String> all = new ArrayList<>(command);
    all.add(url(target));
    this.process =
        new ProcessBuilder(all)
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    this.requests = process.outputWriter(StandardCharsets.UTF_8);
    Thread.ofPlatform().daemon().name(name).start(this::listen);
    if (!ready.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS) || !process.isAlive()) {
      close();
      throw new IOException(name + " did not start");
    }
  }

  /** As other languages write it. */
  private static String url(Target target) {
    URI jdbc = URI.create(target.url().substring("jdbc:".length()));
    return "postgres://%s:%s@%s:%d%s"
        .formatted(
            encoded(target.user()),
            encoded(target.password()),
            jdbc.getHost(),
            jdbc.getPort() < 0 ? 5432 : jdbc.getPort(),
            jdbc.getPath());
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private void listen() {
    try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode message = MAPPER.readTree(line);
        if (message.has("ran")) {
          message.get("ran").forEach(number -> listener.accept(number.intValue()));
        } else if (message.has("ready")) {
          ready.countDown();
        } else {
          var answer = answers.remove(message.get("id").longValue());
          if (answer != null) {
            answer.complete(message);
          }
        }
      }
    } catch (IOException closed) {
      System.err.println(name + ": " + closed);
    }
    ready.countDown();
    answers.values().forEach(each -> each.completeExceptionally(new IOException(name + " ended")));
  }

  /** The answer to a request, which the process gives once it is done. */
  JsonNode ask(String operation, Map<String, Object> parameters) {
    long id = ids.incrementAndGet();
    CompletableFuture<JsonNode> answer = new CompletableFuture<>();
    answers.put(id, answer);
    Map<String, Object> request = new HashMap<>(parameters);
    request.put("id", id);
    request.put("op", operation);
    try {
      String line = MAPPER.writeValueAsString(request) + "\n";
      synchronized (requests) {
        requests.write(line);
        requests.flush();
      }
      JsonNode said = answer.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
      if (said.has("error")) {
        throw new IllegalStateException(name + ": " + said.get("error").asText());
      }
      return said;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException(name + " does not answer", e);
    }
  }

  private void tell(String operation) {
    var unused = ask(operation, Map.of());
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void clear() {
    tell("clear");
  }

  @Override
  public void enqueue(int number) {
    enqueue(number, 1);
  }

  @Override
  public void enqueue(int first, int count) {
    var unused = ask("enqueue", Map.of("first", first, "count", count));
  }

  @Override
  public int enqueueSingly(int threads, Duration during) {
    return ask("single", Map.of("threads", threads, "millis", during.toMillis()))
        .get("count")
        .intValue();
  }

  @Override
  public AutoCloseable work(int concurrency, int millis, IntConsumer ran) {
    listener = ran;
    var unused = ask("work", Map.of("concurrency", concurrency, "millis", millis));
    return () -> tell("stop");
  }

  @Override
  public Optional<AutoCloseable> process(int concurrency) throws Exception {
    Peer process = new Peer(name, command, folder, target);
    AutoCloseable working = process.work(concurrency, 0, number -> {});
    return Optional.of(
        () -> {
          working.close();
          process.close();
        });
  }

  @Override
  public double[] pickUp(int count) {
    double[] millis = new double[count];
    JsonNode all = ask("pickup", Map.of("count", count)).get("millis");
    for (int i = 0; i < count; i++) {
      millis[i] = all.get(i).doubleValue();
    }
    return millis;
  }

  @Override
  public boolean isEmpty() {
    return ask("pending", Map.of()).get("count").intValue() == 0;
  }

  /** These delete what has run or keep no count of it: that each ran once is seen by its number. */
  @Override
  public void verify(int count) {
    if (!isEmpty()) {
      throw new IllegalStateException(name + " has jobs left");
    }
  }

  @Override
  public double clientSeconds() {
    return process.info().totalCpuDuration().map(Duration::toMillis).orElse(0L) / 1e3;
  }

  @Override
  public void close() {
    try {
      requests.close();
    } catch (IOException e) {
      // It has ended already.
    }
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      process.destroyForcibly();
    }
  }
}
