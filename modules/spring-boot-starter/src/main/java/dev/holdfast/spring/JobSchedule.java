package dev.holdfast.spring;

import dev.holdfast.model.schedule.MissedFires;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Enqueues a job of a handler's kind again and again. Stands beside a {@link JobHandler}:
 *
 * <pre>{@code
 * @JobHandler("nightly-report")
 * @JobSchedule(cron = "0 3 * * *", zone = "Europe/Berlin")
 * void report() { … }
 * }</pre>
 *
 * <p>The schedule is stored in the database when the application starts. Whichever worker runs then
 * fires it, once each time, however many instances of the application there are. One that is no
 * longer declared stays until it is removed.
 */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface JobSchedule {
  /** The value of {@link #cron} that switches it off: nothing is stored. */
  String OFF = "-";

  /**
   * When it fires, as {@link dev.holdfast.model.schedule.Cron} describes it; or {@value #OFF}. May
   * have placeholders, {@code ${report.cron}}.
   */
  String cron() default "";

  /** Instead of a cron, the time from one job to the next, such as {@code 30s}. */
  String every() default "";

  /** In which time zone the cron is read. */
  String zone() default "UTC";

  /** Its name; that of the kind unless given. */
  String name() default "";

  /** The payload of its jobs, as JSON. */
  String payload() default "{}";

  /** What to do about times at which no worker ran. */
  MissedFires missedFires() default MissedFires.ONCE;

  /** Whether a job is enqueued while the last one has not ended. */
  boolean overlap() default true;
}
