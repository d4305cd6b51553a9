package dev.holdfast.server.routing;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.http.Answer;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Looking is done once for all who ask for the same, may see the same, and are content with an
 * answer a little old: fifty open pages are no more work for the database than one. What was read
 * before something happened is not shown to one who was told of it since.
 */
public final class SharedAnswers {
  private static final Pattern MAX_AGE = Pattern.compile("\\s*max-age=(\\d{1,9})\\s*");
  private static final Duration OLDEST = Duration.ofSeconds(10);
  private static final Duration DROPPED_AFTER = Duration.ofMinutes(1);
  private static final int MOST = 100;
  private static final int MOST_BYTES = 256 << 10;

  /** What one looks for, and with whose eyes. */
  private record Question(String role, String tenant, String path) {}

  private static final class Shared {
    final ReentrantLock lock = new ReentrantLock();
    @Nullable Answer answer;
    @Nullable Exception failure;
    long began;
    long ended;
  }

  private final ToLongFunction<@Nullable String> lastNews;
  private final Cache<Question, Shared> answers =
      Caffeine.newBuilder().maximumSize(MOST).expireAfterAccess(DROPPED_AFTER).build();

  /**
   * @param lastNews when the listeners of a tenant were last told of something, by {@link
   *     System#nanoTime()}
   */
  public SharedAnswers(ToLongFunction<@Nullable String> lastNews) {
    this.lastNews = lastNews;
  }

  /** Somebody has changed something, and looks at it next. */
  void forget() {
    answers.invalidateAll();
  }

  Answer answer(Call call, Route.Action action) throws Exception {
    Duration oldest = oldest(call.header("Cache-Control").orElse(""));
    if (oldest.isZero()) {
      return action.on(call);
    }
    long arrived = System.nanoTime();
    Caller caller = call.caller();
    Shared shared =
        answers.get(
            new Question(caller.role().word(), caller.tenant(), call.path()),
            unknown -> new Shared());
    // One at a time: where looking is slow, those who wait must not make it slower.
    shared.lock.lockInterruptibly();
    try {
      Answer before = shared.answer;
      if (before != null
          && arrived - shared.began <= oldest.toNanos()
          && shared.began - lastNews.applyAsLong(caller.onlyTenant()) > 0) {
        return before;
      }
      if (shared.failure != null && shared.ended - arrived >= 0) {
        throw shared.failure;
      }
      return look(call, action, shared);
    } finally {
      shared.lock.unlock();
    }
  }

  private static Answer look(Call call, Route.Action action, Shared shared) throws Exception {
    shared.answer = null;
    shared.failure = null;
    shared.began = System.nanoTime();
    try {
      Answer answer = action.on(call);
      if (answer.stream() == null && answer.body().length <= MOST_BYTES) {
        shared.answer = answer;
      }
      return answer;
    } catch (Exception failed) {
      shared.failure = failed;
      throw failed;
    } finally {
      shared.ended = System.nanoTime();
    }
  }

  private static Duration oldest(String cacheControl) {
    Matcher matcher = MAX_AGE.matcher(cacheControl);
    return matcher.matches()
        ? Duration.ofSeconds(Math.min(Long.parseLong(matcher.group(1)), OLDEST.toSeconds()))
        : Duration.ZERO;
  }
}
