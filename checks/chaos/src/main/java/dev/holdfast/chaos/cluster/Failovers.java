package dev.holdfast.chaos.cluster;

import dev.holdfast.chaos.check.Finding;
import dev.holdfast.chaos.fault.Disruption;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.fleet.Fleet;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Takes the primary away, again and again, each time in another way. */
public final class Failovers implements Disruption {
  /** Longer than the time to live of the leader's key, so that the other node takes over. */
  private static final Duration AWAY = Duration.ofSeconds(14);

  private static final int CALM_MS = 3_000;

  /** How the primary is lost. */
  private enum Loss {
    /** {@code kill -9} of the postmaster; Patroni notices. */
    KILL_PRIMARY {
      @Override
      void strike(PatroniNode primary) throws IOException {
        primary.killPostgres();
      }
    },
    /** {@code kill -9} of Patroni alone: its PostgreSQL goes on until Patroni is back. */
    KILL_PATRONI {
      @Override
      void strike(PatroniNode primary) {
        primary.killPatroni();
      }
    },
    /** The node reaches nobody and is reached by nobody. */
    PARTITION {
      @Override
      void strike(PatroniNode primary) {
        primary.cutOff();
      }
    },
    /** As a partition, but no connection is reset: both ends wait for answers. */
    SILENT_PARTITION {
      @Override
      void strike(PatroniNode primary) {
        primary.vanish();
      }
    },
    /** Patroni and PostgreSQL at once, as when the machine is gone. */
    KILL_NODE {
      @Override
      void strike(PatroniNode primary) throws IOException {
        primary.killPatroni();
        primary.killPostgres();
      }
    };

    abstract void strike(PatroniNode primary) throws IOException;

    String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  private final PatroniCluster cluster;
  private final Database database;
  private final Fleet fleet;
  private final Probe probe;
  private final int count;
  private final Consumer<String> progress;
  private final List<Failover> done = new CopyOnWriteArrayList<>();

  public Failovers(
      PatroniCluster cluster,
      Database database,
      Fleet fleet,
      Probe probe,
      int count,
      Consumer<String> progress) {
    this.cluster = cluster;
    this.database = database;
    this.fleet = fleet;
    this.probe = probe;
    this.count = count;
    this.progress = progress;
  }

  @Override
  public void run() throws Exception {
    probe.start();
    try {
      int failed = 0;
      while (done.size() < count) {
        TimeUnit.MILLISECONDS.sleep(CALM_MS);
        // A standby that is not synchronous any more is not promoted, and rightly.
        cluster.awaitHealthy();
        Loss loss = Loss.values()[done.size() % Loss.values().length];
        Optional<Failover> failover = one(loss);
        if (failover.isPresent()) {
          done.add(failover.get());
          progress.accept("failover %d of %d, %s".formatted(done.size(), count, failover.get()));
        } else if (++failed > count) {
          throw new IllegalStateException("the cluster does not fail over");
        } else {
          progress.accept(loss.text() + ": no failover, the lost node is the primary again");
        }
      }
    } catch (IllegalStateException stuck) {
      cluster.printOutput();
      throw stuck;
    } finally {
      probe.close();
    }
  }

  public List<Failover> failovers() {
    return List.copyOf(done);
  }

  @Override
  public List<Finding> findings() {
    return List.of(
        new Finding("no process had to be started again", done.size(), fleet.restarted()));
  }

  /** Empty when the old primary is the new one, because the other could not take over. */
  private Optional<Failover> one(Loss loss) throws Exception {
    PatroniNode lost = cluster.primary().orElseThrow();
    PatroniNode next = cluster.other(lost);
    Acknowledgements acknowledgements = probe.acknowledgements();
    acknowledgements.begin();
    long start = System.nanoTime();
    long back = start + AWAY.toNanos();
    loss.strike(lost);
    while (!next.is("primary") && System.nanoTime() < back) {
      if (loss == Loss.KILL_PRIMARY) {
        strikeAgain(lost);
      }
      Thread.sleep(50);
    }
    long promoted = System.nanoTime() - start;
    TimeUnit.NANOSECONDS.sleep(Math.max(0, back - System.nanoTime()));
    lost.mend();
    if (!lost.isStarted()) {
      lost.start();
    }
    cluster.awaitHealthy();
    acknowledgements.await();
    if (lost.is("primary")) {
      return Optional.empty();
    }
    Acknowledgements.Outage outage = acknowledgements.outage();
    return Optional.of(
        new Failover(
            loss.text(),
            next.name(),
            Duration.ofNanos(promoted).toMillis(),
            outage.length().toMillis(),
            firstStart(outage)));
  }

  /** A server that Patroni has started again before the other was ready crashes again. */
  private static void strikeAgain(PatroniNode lost) {
    try {
      lost.killPostgres();
    } catch (IOException starting) {
      // Its file is being written; the next look finds it.
    }
  }

  /** By the database's clock, as handlers' records are; it is this machine's. */
  private long firstStart(Acknowledgements.Outage outage)
      throws SQLException, InterruptedException {
    String first =
        "SELECT coalesce(extract(epoch FROM min(at)) * 1000, 0)::bigint FROM chaos.ran WHERE at >= to_timestamp(?)";
    double until = outage.until().toEpochMilli() / 1000.0;
    PatroniCluster.await("job that starts", () -> count(first, until) > 0);
    return count(first, until) - outage.until().toEpochMilli();
  }

  private long count(String sql, double argument) {
    try {
      return database.count(sql, argument);
    } catch (SQLException away) {
      return 0;
    }
  }

  @Override
  public Map<String, Integer> happened() {
    Map<String, Integer> happened = new TreeMap<>();
    for (Loss loss : Loss.values()) {
      happened.put(loss.text(), 0);
    }
    done.forEach(failover -> happened.merge(failover.fault(), 1, Integer::sum));
    return happened;
  }
}
