package dev.holdfast.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(DatabaseExtension.class)
class HoldfastTracingTest {
  private static final String REMOTE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
  private final OpenTelemetry openTelemetry =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                  .build())
          .build();

  private HoldfastTracing tracing;
  private TestDatabase db;
  private Holdfast holdfast;

  @BeforeEach
  protected void open(TestDatabase database) {
    db = database;
    holdfast = Holdfast.on(database.dataSource());
    // region enqueue
    tracing = new HoldfastTracing(openTelemetry);
    holdfast.aroundEnqueue(tracing);
    // endregion
  }

  @AfterEach
  void close() {
    holdfast.close();
  }

  private WorkerBuilder worker() {
    return holdfast
        .worker("default")
        // region worker
        .around(tracing)
        // endregion
        .handle(
            "flaky",
            Json.class,
            RetryPolicy.NONE,
            (payload, context) -> {
              if (context.lease().attempt() == 1) {
                throw new IllegalStateException("the secret is xyzzy");
              }
              return null;
            })
        .handle("outer", Json.class, (payload, context) -> holdfast.enqueue(Job.of("inner")).id())
        .handle("inner", Json.class, (payload, context) -> null)
        .handle(
            "later",
            Json.class,
            (payload, context) -> {
              throw context.snooze(Duration.ofHours(1));
            });
  }

  private List<SpanData> spans(String name) {
    return exporter.getFinishedSpanItems().stream()
        .filter(span -> span.getName().equals(name))
        .toList();
  }

  private SpanData span(String name) {
    assertThat(spans(name)).hasSize(1);
    return spans(name).getFirst();
  }

  @Test
  @SuppressWarnings("try") // A scope is opened to be closed.
  void an_attempt_of_a_job_without_a_trace_is_not_part_of_a_foreign_span_of_its_thread() {
    Span foreign = openTelemetry.getTracer("test").spanBuilder("foreign").startSpan();
    try (Holdfast untraced = Holdfast.on(db.dataSource())) {
      JobId id = untraced.enqueue(Job.of("inner")).id();
      untraced
          .worker("default")
          .around(
              (context, next) -> {
                try (Scope scope = foreign.makeCurrent()) {
                  return next.run();
                }
              })
          .around(tracing)
          .handle("inner", Json.class, (payload, context) -> null)
          .drain();
      assertThat(untraced.queries().find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    }
    assertThat(span("process inner").getParentSpanContext().isValid()).isFalse();
    assertThat(span("process inner").getTraceId())
        .isNotEqualTo(foreign.getSpanContext().getTraceId());
    assertThat(span("process inner").getLinks()).noneMatch(link -> link.getSpanContext().isValid());
  }

  @Test
  @SuppressWarnings("try") // A scope is opened to be closed.
  void an_enqueue_and_every_attempt_have_a_span_in_the_trace_of_the_caller() {
    Span request = openTelemetry.getTracer("test").spanBuilder("request").startSpan();
    JobId id;
    try (Scope scope = request.makeCurrent()) {
      id = holdfast.enqueue(Job.of("flaky")).id();
    } finally {
      request.end();
    }

    worker().drain();

    SpanData enqueue = span("enqueue flaky");
    assertThat(enqueue.getKind()).isEqualTo(SpanKind.PRODUCER);
    assertThat(enqueue.getParentSpanId()).isEqualTo(request.getSpanContext().getSpanId());
    assertThat(enqueue.getAttributes().get(AttributeKey.stringKey("messaging.message.id")))
        .isEqualTo(id.toString());
    List<SpanData> attempts = spans("process flaky");
    assertThat(attempts)
        .hasSize(2)
        .allSatisfy(
            attempt -> {
              assertThat(attempt.getKind()).isEqualTo(SpanKind.CONSUMER);
              assertThat(attempt.getTraceId()).isEqualTo(request.getSpanContext().getTraceId());
              assertThat(attempt.getParentSpanId()).isEqualTo(enqueue.getSpanId());
              assertThat(attempt.getLinks())
                  .extracting(LinkData::getSpanContext)
                  .extracting(context -> context.getSpanId())
                  .containsExactly(enqueue.getSpanId());
            });
    assertThat(attempts)
        .extracting(each -> each.getAttributes().get(AttributeKey.longKey("holdfast.attempt")))
        .containsExactly(1L, 2L);
    assertThat(attempts)
        .extracting(each -> each.getStatus().getStatusCode())
        .containsExactly(StatusCode.ERROR, StatusCode.UNSET);
    assertThat(exporter.getFinishedSpanItems().toString()).doesNotContain("xyzzy");
  }

  @Test
  void a_job_with_a_traceparent_keeps_it() {
    holdfast.enqueue(Job.of("inner").traceparent(REMOTE));
    worker().drain();
    assertThat(span("process inner").getTraceId()).isEqualTo(REMOTE.split("-")[1]);
    assertThat(span("process inner").getParentSpanId()).isEqualTo(REMOTE.split("-")[2]);
  }

  @Test
  void jobs_enqueued_by_a_handler_belong_to_the_span_of_its_attempt() {
    holdfast.enqueue(Job.of("outer"));
    worker().drain();
    assertThat(span("enqueue inner").getParentSpanId())
        .isEqualTo(span("process outer").getSpanId());
    assertThat(span("process inner").getTraceId()).isEqualTo(span("enqueue outer").getTraceId());
  }

  @Test
  void batch_and_transactional_enqueues_are_traced() throws Exception {
    holdfast.enqueue(List.of(Job.of("inner"), Job.of("inner")));
    try (Connection connection = db.dataSource().getConnection()) {
      holdfast.enqueue(connection, Job.of("outer"));
    }
    worker().drain();
    SpanData both = span("enqueue");
    assertThat(spans("process inner"))
        .extracting(SpanData::getParentSpanId)
        .contains(both.getSpanId());
    assertThat(span("process outer").getParentSpanId())
        .isEqualTo(span("enqueue outer").getSpanId());
  }

  @Test
  void a_refused_enqueue_is_an_error_and_a_snooze_is_not() {
    assertThatThrownBy(() -> holdfast.enqueue(Job.of("inner").dependsOn(JobId.next())))
        .isInstanceOf(RefusedException.class);
    assertThat(span("enqueue inner").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    holdfast.enqueue(Job.of("later"));
    worker().drain();
    assertThat(span("process later").getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
  }

  @Test
  void without_an_exporter_jobs_have_no_traceparent() {
    holdfast.aroundEnqueue(new HoldfastTracing(OpenTelemetry.noop()));
    JobId id = holdfast.enqueue(Job.of("inner")).id();
    assertThat(holdfast.queries().find(id).orElseThrow().attributes().traceparent()).isNull();
  }
}
