package dev.holdfast.spring;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.handler.JobContext;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.test.util.ReflectionTestUtils;

/** Which beans are configured under which conditions, on data sources of the test. */
@OnlyWithAll
@ExtendWith(DatabaseExtension.class)
class ConfigurationTest {
  private final ApplicationContextRunner holdfastOnly =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  HoldfastMetricsAutoConfiguration.class,
                  HoldfastTracingAutoConfiguration.class,
                  HoldfastAutoConfiguration.class,
                  HoldfastActuatorAutoConfiguration.class));

  private TestDatabase database;
  private ApplicationContextRunner application;

  @BeforeEach
  void open(TestDatabase fresh) {
    database = fresh;
    application = on(database.dataSource()).withPropertyValues("holdfast.allow-unsafe=true");
  }

  private ApplicationContextRunner on(DataSource dataSource) {
    // Not closed with the application.
    return holdfastOnly.withBean(DataSource.class, () -> new DelegatingDataSource(dataSource));
  }

  @Configuration
  static class Waiting implements DisposableBean {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);
    private final CountDownLatch destroyed = new CountDownLatch(1);

    @JobHandler("wait")
    String await() throws InterruptedException {
      begun.countDown();
      goOn.await();
      // Long enough for an application that does not wait for this handler to end.
      return destroyed.await(1, TimeUnit.SECONDS) ? "without its beans" : "in good order";
    }

    @Override
    public void destroy() {
      destroyed.countDown();
    }

    @JobHandler("tick")
    void tick() {}
  }

  @Test
  void without_a_data_source_or_when_disabled_there_are_no_beans() {
    holdfastOnly.run(context -> assertThat(context).doesNotHaveBean(Holdfast.class));
    application
        .withPropertyValues("holdfast.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .doesNotHaveBean(Holdfast.class)
                    .doesNotHaveBean(HoldfastWorkers.class));
  }

  @Test
  void an_application_without_handlers_enqueues_only() {
    application.run(
        context -> {
          assertThat(context.getBean(HoldfastWorkers.class).running()).isEmpty();
          assertThat(context.getBean(Holdfast.class).enqueue(Job.of("any")).duplicate()).isFalse();
        });
  }

  @Test
  void a_running_job_may_finish_when_the_application_stops() throws Exception {
    JobId[] id = new JobId[1];
    application
        .withUserConfiguration(Waiting.class)
        .run(
            context -> {
              Waiting waiting = context.getBean(Waiting.class);
              id[0] = context.getBean(Holdfast.class).enqueue(Job.of("wait")).id();
              assertThat(waiting.begun.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
              Thread.ofVirtual()
                  .start(
                      () -> {
                        while (context.isRunning()
                            && context.getBean(HoldfastWorkers.class).isRunning()) {
                          Thread.onSpinWait();
                        }
                        waiting.goOn.countDown();
                      });
            });
    assertThat(
            database.queryOne(
                String.class,
                "SELECT result #>> '{}' FROM holdfast.job WHERE id = ?",
                id[0].value()))
        .isEqualTo("in good order");
  }

  @Test
  void workers_start_again_with_the_application() {
    application
        .withUserConfiguration(Waiting.class)
        .run(
            context -> {
              HoldfastWorkers workers = context.getBean(HoldfastWorkers.class);
              String first = workers.running().getFirst().name();
              workers.stop();
              assertThat(workers.isRunning()).isFalse();
              workers.start();
              assertThat(workers.running().getFirst().name()).isNotEqualTo(first);
            });
  }

  @Test
  void a_test_drains_the_queues_of_workers_that_do_not_run() {
    application
        .withUserConfiguration(Waiting.class)
        .withPropertyValues("holdfast.worker.enabled=false", "holdfast.worker.queues=a,b")
        .run(
            context -> {
              Holdfast holdfast = context.getBean(Holdfast.class);
              HoldfastWorkers workers = context.getBean(HoldfastWorkers.class);
              assertThat(workers.isRunning()).isFalse();
              JobId id = holdfast.enqueue(Job.of("tick").queue("b")).id();
              workers.drain();
              assertThat(holdfast.find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
            });
  }

  @Configuration
  static class TwoVersions {
    @JobHandler(value = "versioned", version = 1)
    String first(JobContext context) {
      return context.await("go", String.class) + " by version 1";
    }

    @JobHandler(value = "versioned", version = 2)
    String second(JobContext context) {
      return context.await("go", String.class) + " by version 2";
    }
  }

  @Test
  void handlers_may_have_versions() {
    application
        .withUserConfiguration(TwoVersions.class)
        .withPropertyValues("holdfast.worker.enabled=false")
        .run(
            context -> {
              Holdfast holdfast = context.getBean(Holdfast.class);
              HoldfastWorkers workers = context.getBean(HoldfastWorkers.class);
              JobId job = holdfast.enqueue(Job.of("versioned")).id();
              workers.drain();
              assertThat(holdfast.find(job).orElseThrow().version()).isEqualTo(2);
              database.sql("UPDATE holdfast.job SET version = 1");
              assertThat(holdfast.signal(job, "go", "told")).isNotNull();
              workers.drain();
              assertThat(holdfast.result(job, String.class)).contains("told by version 1");
            });
  }

  @Test
  void the_schema_is_created_at_start_if_configured() {
    DataSource empty = database.empty().dataSource();
    ApplicationContextRunner fresh = on(empty).withPropertyValues("holdfast.allow-unsafe=true");
    fresh.run(
        context -> {
          assertThat(context.getStartupFailure()).hasRootCauseInstanceOf(DatabaseException.class);
          FailureAnalysis analysis =
              new DatabaseFailureAnalyzer().analyze(context.getStartupFailure());
          assertThat(analysis.getDescription()).contains("schema");
          assertThat(analysis.getAction()).contains("holdfast.migrate=true");
        });
    fresh
        .withPropertyValues("holdfast.migrate=true")
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(Holdfast.class));
  }

  @Test
  void a_database_server_that_may_lose_jobs_is_rejected_unless_allowed() {
    on(database.dataSource())
        .run(
            context -> {
              FailureAnalysis analysis =
                  new DatabaseFailureAnalyzer().analyze(context.getStartupFailure());
              assertThat(analysis.getAction()).contains("holdfast.allow-unsafe=true");
            });
  }

  @Test
  void of_several_data_sources_the_marked_one_is_used() {
    holdfastOnly
        .withUserConfiguration(TwoDataSources.class)
        .withPropertyValues("holdfast.check=false")
        .run(
            context ->
                assertThat(context.getBean(Holdfast.class).dataSource())
                    .isSameAs(context.getBean("jobs")));
  }

  @Configuration
  static class TwoDataSources {
    @Bean
    DataSource orders() {
      return new SimpleDriverDataSource();
    }

    @Bean
    @HoldfastDataSource
    DataSource jobs() {
      return new SimpleDriverDataSource();
    }
  }

  @Test
  void statements_of_holdfast_bypass_a_proxy_that_joins_transactions() {
    DataSource target = database.dataSource();
    holdfastOnly
        .withBean(DataSource.class, () -> new TransactionAwareDataSourceProxy(target))
        .withPropertyValues("holdfast.allow-unsafe=true")
        .run(context -> assertThat(context.getBean(Holdfast.class).dataSource()).isSameAs(target));
  }

  @Test
  void neither_micrometer_nor_open_telemetry_nor_the_actuator_is_needed() {
    application
        .withUserConfiguration(Waiting.class)
        .withClassLoader(
            new FilteredClassLoader(
                "io.micrometer.core",
                "io.opentelemetry",
                "org.springframework.boot.actuate",
                "org.springframework.boot.health"))
        .run(context -> assertThat(context.getBean(HoldfastWorkers.class).running()).hasSize(1));
  }

  @Test
  void enqueue_and_attempt_are_one_trace_where_there_is_open_telemetry() {
    InMemorySpanExporter spans = InMemorySpanExporter.create();
    OpenTelemetry tracing =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(spans))
                    .build())
            .build();
    application
        .withUserConfiguration(Waiting.class)
        .withPropertyValues("holdfast.worker.enabled=false")
        .withBean(OpenTelemetry.class, () -> tracing)
        .run(
            context -> {
              context.getBean(Holdfast.class).enqueue(Job.of("tick"));
              context.getBean(HoldfastWorkers.class).drain();
              // Its exporter forgets them when it is closed with the application.
              List<SpanData> found = spans.getFinishedSpanItems();
              assertThat(found)
                  .extracting(SpanData::getName)
                  .containsExactly("enqueue tick", "process tick");
              assertThat(found)
                  .extracting(SpanData::getTraceId)
                  .containsOnly(found.getFirst().getTraceId());
            });
  }

  @Test
  void the_application_is_down_without_its_database() {
    DataSource own = database.dataSource(database.url(), 5);
    on(own)
        .withPropertyValues("holdfast.allow-unsafe=true")
        .run(
            context -> {
              ((AutoCloseable) own).close();
              Object health =
                  ReflectionTestUtils.invokeMethod(
                      context.getBean("holdfastHealthIndicator"), "health");
              assertThat(String.valueOf(health)).contains("DOWN");
            });
  }

  @Configuration
  static class TwoPayloads {
    @JobHandler("bad")
    void bad(String one, String two) {}
  }

  @Test
  void a_handler_that_cannot_be_called_stops_the_start() {
    application
        .withUserConfiguration(TwoPayloads.class)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("TwoPayloads.bad takes two payloads"));
  }

  @Test
  void every_property_is_applied() {
    application
        .withPropertyValues(
            "holdfast.retries.max-attempts=7",
            "holdfast.retries.max-delay=1h",
            "holdfast.retries.kinds.send-mail.delay=3s",
            "holdfast.retries.queues.mail.max-attempts=2",
            "holdfast.retention.succeeded=7d",
            "holdfast.worker.queues=a,b",
            "holdfast.worker.timings=production",
            "holdfast.workers.one.concurrency=3")
        .run(
            context -> {
              HoldfastProperties properties = context.getBean(HoldfastProperties.class);
              RetryDefaults retries = properties.retries().defaults();
              assertThat(retries.maxAttempts("send-mail", "any")).isEqualTo(7);
              assertThat(retries.maxAttempts("any", "mail")).isEqualTo(2);
              assertThat(retries.policy("send-mail", "any"))
                  .isEqualTo(new RetryPolicy(Duration.ofSeconds(3), 12.0, Duration.ofHours(1)));
              assertThat(retries.policy("any", "any").max()).isEqualTo(Duration.ofHours(1));
              assertThat(properties.retention().policy().ages())
                  .containsOnlyKeys(JobState.SUCCEEDED);
              HoldfastProperties.Worker one = properties.allWorkers().get("one");
              assertThat(one.served()).isEqualTo(List.of("a", "b"));
              assertThat(one.concurrency()).isEqualTo(3);
              assertThat(one.leases().lease()).isEqualTo(Duration.ofSeconds(300));
            });
  }

  @Test
  void several_workers_inherit_unset_properties() {
    YamlPropertiesFactoryBean guide = new YamlPropertiesFactoryBean();
    guide.setResources(new ClassPathResource("workers.yaml"));
    String[] properties =
        guide.getObject().entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue())
            .toArray(String[]::new);
    application
        .withPropertyValues(properties)
        .withUserConfiguration(Waiting.class)
        .run(
            context -> {
              Map<String, HoldfastProperties.Worker> workers =
                  context.getBean(HoldfastProperties.class).allWorkers();
              assertThat(workers).containsOnlyKeys("mail", "reports");
              assertThat(workers.values())
                  .extracting(HoldfastProperties.Worker::shutdownTimeout)
                  .containsOnly(Duration.ofSeconds(15));
              assertThat(workers.get("mail").concurrency()).isEqualTo(50);
              assertThat(workers.get("reports").served()).containsExactly("reports", "default");
              assertThat(context.getBean(HoldfastWorkers.class).running()).hasSize(2);
            });
  }

  @Test
  void the_configuration_metadata_lists_the_properties() throws Exception {
    try (InputStream metadata =
        HoldfastProperties.class.getResourceAsStream(
            "/META-INF/spring-configuration-metadata.json")) {
      assertThat(new String(metadata.readAllBytes(), StandardCharsets.UTF_8))
          .contains("\"holdfast.migrate\"", "\"holdfast.worker.queues\"", "created, or brought up");
    }
  }
}
