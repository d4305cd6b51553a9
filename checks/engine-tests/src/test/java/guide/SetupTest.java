package guide;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.KindProvider;
import dev.holdfast.ReconnectingDataSource;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.FaultProxy;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Testing, the schema, the codec and providers of handlers. */
@Durable
class SetupTest extends Guide {
  record Appointment(String with, Instant at) {}

  private WorkerBuilder worker() {
    return holdfast
        .worker("mail")
        .handle("send-mail", Mail.class, (mail, context) -> Map.of("to", mail.to()));
  }

  @Test
  void a_test_drains_the_queue() {
    // region testing
    Job job = Job.of("send-mail", new Mail("ada@example.org", "Hello")).queue("mail");
    holdfast.enqueue(job);
    worker().drain();
    assertThat(holdfast.find(job.id()).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    // endregion
  }

  @Test
  void the_schema_is_created_by_one_call() {
    DataSource dataSource = db.empty().dataSource();
    try (Holdfast library = Holdfast.on(dataSource)) {
      assertThatThrownBy(library::check)
          .isInstanceOf(DatabaseException.class)
          .hasMessageContaining("migrate");
      // region schema
      Migrations.apply(dataSource, false);
      // endregion
      library.check();
      assertThat(Migrations.apply(dataSource, false).applied()).isZero();
    }
  }

  @Test
  void a_pool_tries_to_connect_at_short_intervals_however_long_an_outage_lasts() throws Exception {
    try (FaultProxy proxy = FaultProxy.before(db)) {
      PGSimpleDataSource driver = new PGSimpleDataSource();
      driver.setURL(proxy.url(db));
      driver.setUser(db.user());
      driver.setPassword(db.password());
      // region reconnecting
      HikariConfig config = new HikariConfig();
      config.setDataSource(ReconnectingDataSource.of(driver)); // driver: a PGSimpleDataSource
      config.setMaximumPoolSize(10);
      // endregion
      config.setConnectionTimeout(SOON.toMillis());
      try (HikariDataSource pool = new HikariDataSource(config);
          Holdfast library = Holdfast.on(pool)) {
        library.check();
        proxy.turnAway();
        pool.getHikariPoolMXBean().softEvictConnections();
        // HikariCP alone, whose pauses become five seconds long, needs four minutes for so many.
        Eventually.until(() -> proxy.turnedAway() >= 40);
        proxy.mend();
        library.check();
      }
    }
  }

  @Test
  void a_custom_mapper_is_used_unchanged() {
    DataSource pool = dataSource;
    Json grown = new Json("{\"to\": \"ada@example.org\", \"subject\": \"Hello\", \"cc\": \"bob\"}");
    // region codec
    Holdfast holdfast =
        Holdfast.on(
            pool,
            new JacksonCodec(JsonMapper.builder().findAndAddModules().build()),
            JobStore.Options.DEFAULT);
    // endregion
    try (holdfast) {
      Appointment appointment = new Appointment("ada", Instant.parse("2030-01-01T03:00:00Z"));
      JobId byDefault = enqueue(Job.of("meet", appointment).queue("nobody"));
      assertThat(status(byDefault).payload().text()).contains("\"2030-01-01T03:00:00Z\"");
      JobId own = holdfast.enqueue(Job.of("meet", appointment).queue("nobody")).id();
      assertThat(status(own).payload().text()).contains("1893466800");

      JobId passedOver = enqueue(Job.of("send-mail", grown).queue("mail"));
      worker().drain();
      assertThat(state(passedOver)).isEqualTo(JobState.SUCCEEDED);
      JobId refused = enqueue(Job.of("send-mail", grown).queue("own"));
      holdfast.worker("own").handle("send-mail", Mail.class, (mail, context) -> null).drain();
      assertThat(failure(refused).code()).isEqualTo("VALIDATION");
    }
  }

  @Test
  void a_handler_provider_is_found_by_the_service_loader() {
    List<KindProvider> providers =
        ServiceLoader.load(KindProvider.class).stream().map(ServiceLoader.Provider::get).toList();
    assertThat(providers).singleElement().isInstanceOf(MailKinds.class);
    JobId id = enqueue(Job.of("send-mail", new Mail("ada@example.org", "Hello")).queue("kinds"));
    holdfast.worker("kinds").handle(providers.getFirst().kinds(holdfast)).drain();
    assertThat(String.valueOf(status(id).result())).isEqualTo("{\"to\": \"ada@example.org\"}");
    assertThat(providers.getFirst().kinds()).isEmpty();
  }

  @Test
  void a_job_over_a_limit_is_refused_and_nothing_is_written() {
    Job job = Job.of("big", Map.of("text", "x".repeat(1 << 20))).queue("big");
    assertThatThrownBy(() -> holdfast.enqueue(List.of(Job.of("small"), job)))
        .isInstanceOf(RefusedException.class);
    assertThat(claimed("default")).isEmpty();
  }
}
