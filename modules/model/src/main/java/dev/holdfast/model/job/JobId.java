package dev.holdfast.model.job;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import dev.holdfast.model.value.Uuid7;
import java.time.Clock;
import java.util.UUID;

/**
 * The id of a job. Chosen by the client that enqueues it, so that an enqueue can be repeated
 * safely; so nothing is concluded from it, neither a time nor an order ({@link JobCursor}).
 */
public record JobId(UUID value) implements Comparable<JobId> {
  private static final Uuid7 NEXT = new Uuid7(Clock.systemUTC());

  /** A new one, larger than those made before. */
  public static JobId next() {
    return new JobId(NEXT.next());
  }

  /**
   * The id of a job that another one starts: the same whenever it is asked for.
   *
   * @param startedAs the id under which the parent starts it
   * @param time how often the parent has started jobs under that id, this time included
   * @param place of the job among those that are started with it, from 0
   */
  public static JobId ofChild(JobId parent, String startedAs, int time, int place) {
    return new JobId(Uuid7.derived(parent.value, startedAs + "/" + time + "/" + place));
  }

  /** The id of the job that continues another one. No id of a child has this form. */
  public static JobId ofSuccessor(JobId job) {
    return new JobId(Uuid7.derived(job.value, "continueAs"));
  }

  /**
   * The id of a fork of a job. No id of a child has this form.
   *
   * @param key the same for forks that are made once, however often they are asked for
   * @param place of the job among the forks of that key, from 0
   */
  public static JobId ofFork(JobId job, String key, int place) {
    return new JobId(Uuid7.derived(job.value, "fork/" + place + "/" + key.length() + "/" + key));
  }

  /** The least id that is larger. */
  public JobId following() {
    long low = value.getLeastSignificantBits() + 1;
    return new JobId(new UUID(value.getMostSignificantBits() + (low == 0 ? 1 : 0), low));
  }

  /** The greatest one that is less. */
  public JobId preceding() {
    long low = value.getLeastSignificantBits();
    return new JobId(new UUID(value.getMostSignificantBits() - (low == 0 ? 1 : 0), low - 1));
  }

  /** Reads the one text form an id has everywhere, in either case, and refuses every other. */
  public static JobId parse(String text) {
    try {
      UUID read = UUID.fromString(text);
      // It also takes "1-1-1-1-1" and signs, which would be an id that prints differently.
      if (read.toString().equalsIgnoreCase(text)) {
        return new JobId(read);
      }
    } catch (IllegalArgumentException malformed) {
      // said below
    }
    throw new RefusedException(
        Refusal.BAD_ID,
        "'"
            + Text.excerpt(text, 60)
            + "' is not a job id: one looks like 01a1dd46-efa0-7231-88cf-925231baa463");
  }

  @Override
  public int compareTo(JobId other) {
    // The order PostgreSQL gives uuids: as unsigned bytes. UUID.compareTo compares signed longs.
    int high =
        Long.compareUnsigned(value.getMostSignificantBits(), other.value.getMostSignificantBits());
    return high != 0
        ? high
        : Long.compareUnsigned(
            value.getLeastSignificantBits(), other.value.getLeastSignificantBits());
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
