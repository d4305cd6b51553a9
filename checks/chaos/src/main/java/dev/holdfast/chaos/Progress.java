package dev.holdfast.chaos;

import dev.holdfast.chaos.check.Refused;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.load.Ledger;
import java.sql.SQLException;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A line now and then about how far the run is. */
final class Progress {
  private static final long EVERY_MS = 10_000;

  private final Database database;
  private final Ledger ledger;
  private final Supplier<Map<String, Integer>> happened;
  private final Consumer<String> lines;
  private final Thread thread = Thread.ofVirtual().name("progress").unstarted(this::run);

  Progress(
      Database database,
      Ledger ledger,
      Supplier<Map<String, Integer>> happened,
      Consumer<String> lines) {
    this.database = database;
    this.ledger = ledger;
    this.happened = happened;
    this.lines = lines;
  }

  Progress start() {
    thread.start();
    return this;
  }

  private void run() {
    long start = System.nanoTime();
    while (!Thread.interrupted()) {
      try {
        Thread.sleep(EVERY_MS);
        lines.accept(
            "%4d s: %,d jobs acknowledged, %,d ended, %d faults, %,d stale writes refused"
                .formatted(
                    (System.nanoTime() - start) / 1_000_000_000,
                    ledger.size(),
                    database.count(
                        "SELECT count(*) FROM holdfast.job WHERE finished_at IS NOT NULL"),
                    happened.get().values().stream().mapToInt(Integer::intValue).sum(),
                    Refused.writes(database)));
      } catch (SQLException away) {
        lines.accept("the database is down");
      } catch (InterruptedException end) {
        return;
      }
    }
  }

  void stop() {
    thread.interrupt();
  }
}
