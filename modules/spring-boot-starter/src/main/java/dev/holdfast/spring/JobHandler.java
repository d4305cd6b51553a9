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
   * Stop the handler when its lease may have run out, so that two executions of a job never
   * overlap.
   */
  boolean strict() default false;

  /** What it publishes: a retry that finds all of them complete does not run again. */
  String[] artifacts() default {};

  /** On which threads it runs. */
  Threads threads() default Threads.AUTO;
}
