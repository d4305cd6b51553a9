package dev.holdfast.spring;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.util.ReflectionTestUtils;

/** A whole application, configured by Spring Boot, with a worker that runs. */
@OnlyWithAll
@ExtendWith(DatabaseExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ServiceTest {
  private TestDatabase database;
  private ConfigurableApplicationContext context;
  private Holdfast holdfast;
  private Service.Orders orders;

  @BeforeAll
  void start(TestDatabase fresh) {
    database = fresh;
    database.sql("CREATE TABLE orders (id int PRIMARY KEY)");
    context =
        new SpringApplicationBuilder(Service.class)
            .properties(
                Map.of(
                    "refresh.interval",
                    "2h",
                    "spring.main.banner-mode",
                    "off",
                    "spring.data.jpa.repositories.enabled",
                    false))
            .properties(
                Map.of(
                    "spring.datasource.url",
                    database.url(),
                    "spring.datasource.username",
                    database.user(),
                    "spring.datasource.password",
                    database.password(),
                    // JPA has a test of its own; the second is its name in Spring Boot 4.
                    "spring.autoconfigure.exclude",
                    "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration,"
                        + "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
                    "management.endpoints.web.exposure.include",
                    "holdfast",
                    "holdfast.allow-unsafe",
                    true,
                    "holdfast.workers.main.queues",
                    "default,orders",
                    "holdfast.workers.idle.enabled",
                    false,
                    "holdfast.worker.concurrency",
                    4))
            .run();
    holdfast = context.getBean(Holdfast.class);
    orders = context.getBean(Service.Orders.class);
  }

  @AfterAll
  void stop() {
    context.close();
  }

  private JobStatus ended(JobId id) {
    return Awaitility.await()
        .atMost(SOON)
        .until(() -> holdfast.find(id).orElseThrow(), job -> job.state().isTerminal());
  }

  private String result(Job job) {
    holdfast.enqueue(job);
    JobStatus status = ended(job.id());
    assertThat(status.state()).as("%s", status.failure()).isEqualTo(JobState.SUCCEEDED);
    return String.valueOf(status.result());
  }

  @Test
  void the_tests_run_on_the_configured_spring_boot_version() {
    assertThat(SpringBootVersion.getVersion())
        .isEqualTo(System.getProperty("holdfast.test.spring-boot"));
  }

  @Test
  void a_method_takes_payload_and_context() {
    Job job = Job.of("greet", new Service.Greeting("Ada"));
    assertThat(result(job)).isEqualTo("\"Hello Ada, attempt 1 of " + job.id() + "\"");
  }

  @Test
  void a_method_may_take_a_generic_payload_or_none_and_return_nothing() {
    assertThat(result(Job.of("sum", List.of(1L, 2L, 39L)))).isEqualTo("42");
    assertThat(result(Job.of("tick"))).isEqualTo("null");
    assertThat(result(Job.of("inherited", new Service.Greeting("Bob")))).isEqualTo("\"Bob\"");
  }

  @Test
  void a_bean_may_be_a_handler_or_a_kind() {
    assertThat(result(Job.of("by-class", new Service.Greeting("Ada")))).isEqualTo("\"class Ada\"");
    assertThat(result(Job.of("by-lambda", List.of(new Service.Greeting("Ada")))))
        .isEqualTo("\"lambda Ada\"");
    assertThat(result(Job.of("by-kind", new Service.Greeting("Ada")))).isEqualTo("\"kind Ada\"");
  }

  @Test
  void schedules_beside_handlers_and_of_beans_are_stored_at_the_start() {
    assertThat(holdfast.admin().schedules())
        .extracting(ScheduleStatus::name, ScheduleStatus::cron, ScheduleStatus::kind)
        .containsExactly(
            tuple("nightly-report", "0 3 * * *", "nightly-report"),
            tuple("refresh", "@every 2h", "refresh"),
            tuple("weekly", "@weekly", "nightly-report"));
    assertThat(holdfast.admin().schedules().getFirst())
        .returns("Europe/Berlin", ScheduleStatus::zone)
        .returns(false, ScheduleStatus::allowOverlap)
        .returns("reports", ScheduleStatus::queue)
        .returns(5, ScheduleStatus::maxAttempts);
    JobId now = holdfast.admin().runSchedule("refresh").orElseThrow().id();
    assertThat(ended(now).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_handler_declares_the_defaults_of_its_jobs() {
    JobStatus job = holdfast.find(holdfast.enqueue(Job.of("nightly-report")).id()).orElseThrow();
    assertThat(job).returns("reports", JobStatus::queue).returns(5, JobStatus::maxAttempts);
    assertThat(database.count("SELECT timeout_ms FROM holdfast.job WHERE id = ?", job.id().value()))
        .isEqualTo(600_000);
    holdfast.delete(job.id());
    JobId own = holdfast.enqueue(Job.of("nightly-report").queue("orders")).id();
    assertThat(ended(own).queue()).isEqualTo("orders");
  }

  @Test
  void an_exception_of_a_method_fails_the_attempt_unwrapped() {
    Job job = Job.of("fail").maxAttempts(1);
    holdfast.enqueue(job);
    assertThat(ended(job.id()).failure())
        .satisfies(failure -> assertThat(failure.message()).contains("no such luck"));
  }

  @Test
  void a_job_commits_with_the_transaction_of_its_enqueue() {
    JobId id = orders.place(1, false);
    assertThat(ended(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(database.count("SELECT count(*) FROM orders WHERE id = 1")).isEqualTo(1);
  }

  @Test
  void a_rollback_undoes_the_enqueue() {
    assertThatThrownBy(() -> orders.place(2, true)).isInstanceOf(Service.RefusedOrder.class);
    assertThat(database.count("SELECT count(*) FROM orders WHERE id = 2")).isZero();
    assertThat(holdfast.find(orders.last())).isEmpty();
  }

  @Test
  void a_handler_settles_in_its_own_transaction() {
    assertThat(result(Job.of("post", 3))).isEqualTo("{\"posted\": 3}");
    assertThat(database.count("SELECT count(*) FROM orders WHERE id = 3")).isEqualTo(1);
  }

  @Test
  void a_handler_that_fails_after_it_settled_is_rolled_back() {
    Job job = Job.of("post", -4).maxAttempts(1);
    holdfast.enqueue(job);
    assertThat(ended(job.id()).state()).isEqualTo(JobState.FAILED);
    assertThat(database.count("SELECT count(*) FROM orders WHERE id = -4")).isZero();
  }

  @Test
  void middleware_and_listeners_are_beans() {
    Service.Heard heard = context.getBean(Service.Heard.class);
    Job job = Job.of("tick");
    holdfast.enqueue(job);
    ended(job.id());
    Awaitility.await().atMost(SOON).until(() -> heard.all().contains("settled " + job.id()));
    assertThat(heard.all()).contains("around " + job.id());
  }

  @Test
  void workers_are_configured_by_name_and_may_be_switched_off() {
    HoldfastWorkers workers = context.getBean(HoldfastWorkers.class);
    assertThat(workers.running()).hasSize(1);
    assertThat(context.getBean(Service.Heard.class).all())
        .contains("customized main")
        .doesNotContain("customized idle");
  }

  @Test
  void the_health_of_the_application_covers_its_database_and_workers() {
    // Its type is another in Spring Boot 4.
    Object indicator = context.getBean("holdfastHealthIndicator");
    Object health = ReflectionTestUtils.invokeMethod(indicator, "health");
    assertThat(String.valueOf(health)).contains("UP", "postgresql", "schema", "worker:default:0@");
  }

  @Test
  void the_endpoint_shows_queues_and_counts_and_pauses_a_queue() {
    HoldfastEndpoint endpoint = context.getBean(HoldfastEndpoint.class);
    holdfast.enqueue(Job.of("tick").queue("elsewhere"));
    assertThat(endpoint.queue("elsewhere").due()).isEqualTo(1);
    assertThat(endpoint.pause("elsewhere", true).pausedAt()).isNotNull();
    HoldfastEndpoint.Overview overview = endpoint.overview();
    assertThat(overview.queues())
        .extracting(HoldfastEndpoint.QueueOverview::name)
        .contains("elsewhere");
    assertThat(overview.jobs()).containsEntry(JobState.PENDING, 1L);
    assertThat(overview.workers()).hasSize(1);
    assertThat(endpoint.pause("elsewhere", false).pausedAt()).isNull();
  }

  @Test
  void jobs_are_measured_by_kind_and_queue() {
    result(Job.of("tick").queue("orders"));
    MeterRegistry registry = context.getBean(MeterRegistry.class);
    assertThat(
            registry
                .get("holdfast.worker.run")
                .tags("kind", "tick", "queue", "orders")
                .timer()
                .count())
        .isPositive();
    assertThat(registry.get("holdfast.database.verb").tag("verb", "enqueue").timer().count())
        .isPositive();
    assertThat(registry.get("holdfast.queue.count").gauge().value()).isNotNaN();
  }
}
