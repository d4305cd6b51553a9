package dev.holdfast.spring;

import dev.holdfast.worker.handler.Threads;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the jobs of a kind: on a method of a bean, or on a bean that is a {@link
 * dev.holdfast.worker.handler.Handler}.
 *
 * <pre>{@code
 * @JobHandler("send-mail")
 * Receipt send(Mail mail, JobContext context) { … }
 * }</pre>
 *
 * <p>A method takes the payload, the {@link dev.holdfast.worker.handler.JobContext}, both or
 * neither, in any order. What it returns is the job's result; what it throws fails the attempt.
 */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface JobHandler {
  /** The kind. */
  String value();

  /**
   * The version of the handler, from 1; none unless given. A job that has begun steps or waits with
   * a version is run by handlers of that version alone, so keep the old one, on another method,
   * until its jobs have ended.
   */
  int version() default UNSET;

  /**
   * Stop the handler when its lease may have run out, so that two executions of a job never
   * overlap.
   */
  boolean strict() default false;

  /** What it publishes: a retry that finds all of them complete does not run again. */
  String[] artifacts() default {};

  /** On which threads it runs. */
  Threads threads() default Threads.AUTO;

  /**
   * The queue of jobs that this application enqueues without naming one; a worker must serve it.
   * This and the following apply to {@code Holdfast.enqueue} in this application, where a job does
   * not say otherwise. Texts may have placeholders, {@code ${mail.queue}}.
   */
  String queue() default "";

  /** Their priority, from 0, first, to 9, last. */
  int priority() default UNSET;

  /** How many of their attempts may fail, the first included. */
  int maxAttempts() default UNSET;

  /** How often they are requeued after a crash of their worker. */
  int maxCrashes() default UNSET;

  /** How long one attempt may take, such as {@code 30s}. */
  String timeout() default "";

  /** Leaves a number to the settings, and to the defaults of a job. */
  int UNSET = -1;
}
