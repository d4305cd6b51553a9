package dev.holdfast.server.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.health.ServerFigures;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what this server counts to the database, where all servers read it: what a worker does
 * over HTTP is counted by whichever server answers it.
 */
public final class CountReporter implements AutoCloseable {
  public static final Duration INTERVAL = Duration.ofSeconds(5);

  private static final Logger log = LoggerFactory.getLogger(CountReporter.class);
  private static final Duration LAST_WITHIN = Duration.ofSeconds(1);

  private final ServerFigures figures;
  private final Supplier<Map<String, Double>> counts;
  private final String server =
      "%s.%d.%s"
          .formatted(
              Machine.name(),
              ProcessHandle.current().pid(),
              Long.toString(ThreadLocalRandom.current().nextLong(36L * 36 * 36 * 36), 36));

  public CountReporter(ServerFigures figures, Supplier<Map<String, Double>> counts) {
    this.figures = figures;
    this.counts = counts;
  }

  /** The name under which this server writes, another one with each start. */
  public String server() {
    return server;
  }

  public void report() {
    write(counts.get());
  }

  private void write(Map<String, Double> counted) {
    if (!counted.isEmpty()) {
      figures.write(server, new Json(new String(Wire.write(counted), UTF_8)));
    }
  }

  /** The counts since the last report; what is held is not held any more. */
  @Override
  public void close() {
    Map<String, Double> last = counts.get();
    last.keySet().removeIf(figure -> !ProcessMetrics.isCounter(figure));
    Thread writing =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    write(last);
                  } catch (DatabaseException unavailable) {
                    log.debug("the last counts of this server were not written", unavailable);
                  }
                });
    try {
      writing.join(LAST_WITHIN);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
