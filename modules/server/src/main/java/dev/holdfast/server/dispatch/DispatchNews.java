package dev.holdfast.server.dispatch;

import dev.holdfast.model.ops.DispatchTrouble;
import dev.holdfast.queue.QueueAdmin;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes how pushing goes into the database, for whoever looks there. What has not changed is
 * written again now and then only: another server may have seen it otherwise meanwhile.
 */
final class DispatchNews {
  private static final Logger log = LoggerFactory.getLogger(DispatchNews.class);
  private static final Duration AGAIN = Duration.ofSeconds(10);

  /** Null is no trouble. */
  private record Told(DispatchTrouble.@Nullable Kind kind, boolean paused, long at) {}

  private final QueueAdmin admin;
  private final LongSupplier nanos;
  private final Map<String, Told> told = new ConcurrentHashMap<>();

  DispatchNews(QueueAdmin admin, LongSupplier nanos) {
    this.admin = admin;
    this.nanos = nanos;
  }

  void works(String name) {
    if (isNews(name, null, false)) {
      tell(() -> admin.dispatchWorks(name));
    }
  }

  void trouble(String name, DispatchTrouble.Kind kind, String cause, boolean paused) {
    if (isNews(name, kind, paused)) {
      tell(() -> admin.dispatchTrouble(name, kind, cause, paused));
    }
  }

  private boolean isNews(String name, DispatchTrouble.@Nullable Kind kind, boolean paused) {
    long now = nanos.getAsLong();
    Told before = told.get(name);
    boolean news =
        before == null
            || before.kind() != kind
            || before.paused() != paused
            || now - before.at() > AGAIN.toNanos();
    if (news) {
      told.put(name, new Told(kind, paused, now));
    }
    return news;
  }

  /** The task itself is what matters: nothing of it depends on this. */
  private static void tell(Runnable news) {
    try {
      news.run();
    } catch (DatabaseException away) {
      log.debug("how pushing goes could not be written: {}", away.getMessage());
    }
  }
}
