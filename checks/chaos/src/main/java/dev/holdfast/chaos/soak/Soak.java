package dev.holdfast.chaos.soak;

import dev.holdfast.chaos.check.Finding;
import dev.holdfast.chaos.fault.Disruption;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.fleet.Fleet;
import dev.holdfast.chaos.fleet.ProcessUse;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Breaks nothing, and watches what the processes need while jobs run. */
public final class Soak implements Disruption {
  private static final int SAMPLES = 120;
  private static final String CONNECTIONS =
      "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'";

  private static final String RESTARTED =
      "SELECT supervisor || '/' || component || ' was started again at ' || last_restart"
          + " FROM holdfast.health WHERE last_restart IS NOT NULL";

  private final Database database;
  private final Fleet fleet;
  private final Duration length;
  private final Consumer<String> progress;
  private final Growth memory = new Growth(10);
  private final Growth threads = new Growth(5);
  private final Growth files = new Growth(5);
  private final Growth connections = new Growth(3);
  private final List<String> restarted = new ArrayList<>();

  public Soak(Database database, Fleet fleet, Duration length, Consumer<String> progress) {
    this.database = database;
    this.fleet = fleet;
    this.length = length;
    this.progress = progress;
  }

  @Override
  public void run() throws Exception {
    List<String> atFirst = List.of();
    long pause = length.toMillis() / SAMPLES;
    for (int i = 0; i < SAMPLES; i++) {
      TimeUnit.MILLISECONDS.sleep(pause);
      sample();
      if (i == SAMPLES / 4) {
        // On a slow machine one may have come before what it needs.
        atFirst = restarts();
      }
    }
    restarted.addAll(restarts());
    restarted.removeAll(atFirst);
    print();
  }

  private List<String> restarts() throws SQLException {
    List<String> all = new ArrayList<>(fleet.restarted());
    all.addAll(database.texts(RESTARTED));
    return all;
  }

  private void sample() throws SQLException {
    fleet.processes().forEach(this::sample);
    connections.add("connections to PostgreSQL", database.count(CONNECTIONS));
  }

  private void sample(String name, long pid) {
    try {
      ProcessUse use = ProcessUse.of(pid);
      memory.add(name, use.residentMb());
      threads.add(name, use.threads());
      files.add(name, use.files());
    } catch (IOException ended) {
      // Found by the rule that none was started again.
    }
  }

  private void print() {
    progress.accept("");
    progress.accept("second and last quarter of the time:");
    for (String name : memory.names()) {
      progress.accept(
          "%-24s %,d and %,d MB resident, %d and %d threads, %d and %d open files"
              .formatted(
                  name,
                  memory.before(name),
                  memory.after(name),
                  threads.before(name),
                  threads.after(name),
                  files.before(name),
                  files.after(name)));
    }
    for (String name : connections.names()) {
      progress.accept(
          "%-24s %d and %d".formatted(name, connections.before(name), connections.after(name)));
    }
  }

  @Override
  public Map<String, Integer> happened() {
    return Map.of();
  }

  @Override
  public List<Finding> findings() {
    return List.of(
        new Finding("the memory of a process does not grow", memory.samples(), memory.grown()),
        new Finding("the threads of a process do not grow", threads.samples(), threads.grown()),
        new Finding("the open files of a process do not grow", files.samples(), files.grown()),
        new Finding(
            "connections to PostgreSQL do not grow", connections.samples(), connections.grown()),
        new Finding("no process was started again", memory.names().size(), restarted));
  }
}
