package dev.holdfast.server.routing;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.http.Answer;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Answers GET requests that accept an older answer ({@code Cache-Control: max-age}) from a cache:
 * one read of the database serves all callers with the same role, tenant and path. An answer that
 * was read before the last live event of the tenant is not used, since the caller may know of that
 * event.
 */
public final class AnswerCache {
  private static final Pattern MAX_AGE = Pattern.compile("\\s*max-age=(\\d{1,9})\\s*");
  private static final Duration OLDEST = Duration.ofSeconds(10);
  private static final Duration DROPPED_AFTER = Duration.ofMinutes(1);
  private static final int MOST = 100;
  private static final int MOST_BYTES = 256 << 10;

  /** Callers with the same role and tenant may see the same. */
  private record Key(String role, Tenant tenant, String path) {}

  private static final class Entry {
    final ReentrantLock lock = new ReentrantLock();
    @Nullable Answer answer;
    @Nullable Exception failure;
    long began;
    long ended;
  }

  private final ToLongFunction<Tenant> lastEvent;
  private final Cache<Key, Entry> answers =
      Caffeine.newBuilder().maximumSize(MOST).expireAfterAccess(DROPPED_AFTER).build();

  /**
   * @param lastEvent the time of a tenant's last live event, by {@link System#nanoTime()}
   */
  public AnswerCache(ToLongFunction<Tenant> lastEvent) {
    this.lastEvent = lastEvent;
  }

  /** Called after a change, whose caller is likely to read next. */
  void clear() {
    answers.invalidateAll();
  }

  Answer answer(Call call, Route.Action action) throws Exception {
    Duration oldest = oldest(call.header("Cache-Control").orElse(""));
    if (oldest.isZero()) {
      return action.on(call);
    }
    long arrived = System.nanoTime();
    Caller caller = call.caller();
    Entry entry =
        answers.get(
            new Key(caller.role().word(), caller.tenant(), call.path()), unknown -> new Entry());
    // One read at a time for each key: a slow database must not get more of them.
    entry.lock.lockInterruptibly();
    try {
      Answer before = entry.answer;
      if (before != null
          && arrived - entry.began <= oldest.toNanos()
          && entry.began - lastEvent.applyAsLong(caller.tenant()) > 0) {
        return before;
      }
      if (entry.failure != null && entry.ended - arrived >= 0) {
        throw entry.failure;
      }
      return read(call, action, entry);
    } finally {
      entry.lock.unlock();
    }
  }

  private static Answer read(Call call, Route.Action action, Entry entry) throws Exception {
    entry.answer = null;
    entry.failure = null;
    entry.began = System.nanoTime();
    try {
      Answer answer = action.on(call);
      if (answer.stream() == null && answer.body().length <= MOST_BYTES) {
        entry.answer = answer;
      }
      return answer;
    } catch (Exception failed) {
      entry.failure = failed;
      throw failed;
    } finally {
      entry.ended = System.nanoTime();
    }
  }

  private static Duration oldest(String cacheControl) {
    Matcher matcher = MAX_AGE.matcher(cacheControl);
    return matcher.matches()
        ? Duration.ofSeconds(Math.min(Long.parseLong(matcher.group(1)), OLDEST.toSeconds()))
        : Duration.ZERO;
  }
}
