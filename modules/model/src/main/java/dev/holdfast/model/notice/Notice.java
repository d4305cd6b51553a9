package dev.holdfast.model.notice;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A message that servers send to others when a job asks people: a signed webhook, tried until it is
 * received.
 *
 * @param id the same in every try
 * @param waitId under which the job asks
 * @param attempts how often it was tried
 * @param nextTryAt null once it is not tried any more
 * @param lastStatus that the receiver answered last; null if there was no answer
 * @param lastError why the last try has failed; null if it has not
 * @param endedAt when it was received, given up or superseded
 */
public record Notice(
    UUID id,
    JobId jobId,
    String kind,
    String tenant,
    String waitId,
    Instant askedAt,
    State state,
    int attempts,
    Instant createdAt,
    @Nullable Instant nextTryAt,
    @Nullable Integer lastStatus,
    @Nullable String lastError,
    @Nullable Instant endedAt) {
  /** How many are listed at most. */
  public static final int MOST = 1_000;

  /** How long it is tried. */
  public static final Duration TRIED_FOR = Duration.ofDays(1);

  /** What has become of it. */
  public enum State {
    /** Not received yet. */
    PENDING,
    /** Received. */
    DELIVERED,
    /** The question was decided, or is not asked any longer, before it was received. */
    SUPERSEDED,
    /** Tried for a day, in vain. */
    GIVEN_UP;

    /** In small letters, as it is typed. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The state of this name, in small or large letters. */
    public static State of(String word) {
      return Stream.of(values())
          .filter(each -> each.word().equals(word.toLowerCase(Locale.ROOT)))
          .findFirst()
          .orElseThrow(
              () ->
                  new RefusedException(
                      Refusal.BAD_NAME,
                      "state '%s' is unknown: choose %s"
                          .formatted(
                              Text.excerpt(word, 40),
                              Stream.of(values())
                                  .map(State::word)
                                  .collect(Collectors.joining(", ")))));
    }
  }

  /** What became of the wish to send it again. */
  public enum Again {
    ACCEPTED,
    NO_SUCH_NOTICE,
    /** Its question is not asked any longer. */
    SUPERSEDED
  }

  /**
   * One try of it, which a server holds for a while.
   *
   * @param attempt the number of the try: the fence
   */
  public record Try(UUID id, int attempt, AskedQuestion asked) {}

  /**
   * What is wrong with notices.
   *
   * @param failing that were tried several times, and are tried again
   * @param reason why the last of them has failed; null if there are none
   * @param givenUp whose questions are still open
   */
  public record Trouble(long failing, @Nullable String reason, long givenUp) {
    public static final Trouble NONE = new Trouble(0, null, 0);
  }
}
