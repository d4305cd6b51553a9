package dev.holdfast.opentelemetry;

import dev.holdfast.EnqueueMiddleware;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Middleware;
import dev.holdfast.worker.handler.SnoozeException;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A span for every enqueue, and one for every attempt of a job, in the trace of the client that
 * enqueued it. The span of the enqueue travels in the job, as a {@code traceparent} of W3C Trace
 * Context; jobs that come by HTTP with that header belong to the trace of the request.
 *
 * <pre>{@code
 * HoldfastTracing tracing = new HoldfastTracing(openTelemetry);
 * holdfast.aroundEnqueue(tracing);
 * Worker worker = holdfast.worker("mail").handle(…).around(tracing).start();
 * }</pre>
 */
public final class HoldfastTracing implements EnqueueMiddleware, Middleware {
  private static final String TRACEPARENT = "traceparent";

  private static final TextMapGetter<Map<String, String>> GETTER =
      new TextMapGetter<>() {
        @Override
        @SuppressWarnings("deprecation") // Older versions, such as that of Spring Boot 3, call it.
        public Iterable<String> keys(Map<String, String> carrier) {
          return carrier.keySet();
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> carrier, String key) {
          return carrier == null ? null : carrier.get(key);
        }
      };

  private final Tracer tracer;

  /** Makes spans with this one. */
  public HoldfastTracing(OpenTelemetry openTelemetry) {
    this.tracer = openTelemetry.getTracer("dev.holdfast");
  }

  @Override
  @SuppressWarnings("try") // A scope is opened to be closed.
  public List<Enqueued> enqueue(List<Job> jobs, EnqueueMiddleware.Next next) throws SQLException {
    Span span = enqueueSpan(jobs);
    try (Scope scope = span.makeCurrent()) {
      return next.run(jobs.stream().map(HoldfastTracing::carrying).toList());
    } catch (Throwable thrown) {
      failed(span, thrown);
      throw thrown;
    } finally {
      span.end();
    }
  }

  private Span enqueueSpan(List<Job> jobs) {
    if (jobs.size() != 1) {
      return builder("enqueue", SpanKind.PRODUCER)
          .setAttribute("messaging.batch.message_count", (long) jobs.size())
          .startSpan();
    }
    Job job = jobs.getFirst();
    return builder("enqueue " + job.kind(), SpanKind.PRODUCER)
        .setAttribute("messaging.destination.name", job.queue())
        .setAttribute("messaging.message.id", job.id().toString())
        .setAttribute("holdfast.kind", job.kind())
        .startSpan();
  }

  private SpanBuilder builder(String name, SpanKind kind) {
    return tracer
        .spanBuilder(name)
        .setSpanKind(kind)
        .setAttribute("messaging.system", "holdfast")
        .setAttribute(
            "messaging.operation.name", kind == SpanKind.PRODUCER ? "enqueue" : "process");
  }

  /** The job with the current span, unless it brings a trace of its own. */
  private static Job carrying(Job job) {
    if (job.traceparent() != null) {
      return job;
    }
    Map<String, String> carrier = new HashMap<>();
    W3CTraceContextPropagator.getInstance()
        .inject(
            Context.current(),
            carrier,
            (into, key, value) -> {
              if (into != null) {
                into.put(key, value);
              }
            });
    String traceparent = carrier.get(TRACEPARENT);
    return traceparent == null ? job : job.traceparent(traceparent);
  }

  @Override
  @SuppressWarnings("try") // As above.
  public @Nullable Object around(JobContext context, Middleware.Next next) throws Exception {
    Span span = attemptSpan(context.job());
    try (Scope scope = span.makeCurrent()) {
      return next.run();
    } catch (SnoozeException later) {
      span.setAttribute("holdfast.outcome", "snoozed");
      throw later;
    } catch (CancelledException stopped) {
      span.setAttribute("holdfast.outcome", "stopped");
      throw stopped;
    } catch (Throwable thrown) {
      failed(span, thrown);
      throw thrown;
    } finally {
      span.end();
    }
  }

  /** A child of the enqueue, so that they are one trace, and linked to it, as is usual. */
  private Span attemptSpan(LeasedJob job) {
    Context enqueued = enqueued(job);
    return builder("process " + job.kind(), SpanKind.CONSUMER)
        .setParent(enqueued)
        .addLink(Span.fromContext(enqueued).getSpanContext())
        .setAttribute("messaging.destination.name", job.queue())
        .setAttribute("messaging.message.id", job.id().toString())
        .setAttribute("holdfast.kind", job.kind())
        .setAttribute("holdfast.attempt", (long) job.lease().attempt())
        .startSpan();
  }

  private static Context enqueued(LeasedJob job) {
    String traceparent = job.attributes().traceparent();
    return traceparent == null
        ? Context.root()
        : W3CTraceContextPropagator.getInstance()
            .extract(Context.root(), Map.of(TRACEPARENT, traceparent), GETTER);
  }

  private static void failed(Span span, Throwable thrown) {
    // The message may hold what only the job may show; its type does not.
    span.setStatus(StatusCode.ERROR, thrown.getClass().getName())
        .setAttribute("error.type", thrown.getClass().getName());
  }
}
