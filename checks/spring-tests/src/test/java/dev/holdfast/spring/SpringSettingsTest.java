package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.Threads;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

/** Choices of the application that are not Holdfast's own settings. */
@OnlyWithAll
@ExtendWith(DatabaseExtension.class)
class SpringSettingsTest {
  private final ApplicationContextRunner holdfast =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class));

  @Configuration
  static class Handlers {
    @JobHandler("any")
    boolean any() {
      return Thread.currentThread().isVirtual();
    }

    @JobHandler(value = "computing", threads = Threads.PLATFORM)
    boolean computing() {
      return Thread.currentThread().isVirtual();
    }

    @Bean
    Kind<?> kind() {
      return Kind.of("kind", context -> Thread.currentThread().isVirtual());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void handlers_run_on_virtual_threads_where_the_application_wants_them(
      boolean wanted, TestDatabase database) {
    holdfast
        // Not closed with the application.
        .withBean(DataSource.class, () -> new DelegatingDataSource(database.dataSource()))
        .withUserConfiguration(Handlers.class)
        .withPropertyValues(
            "holdfast.allow-unsafe=true",
            "holdfast.worker.enabled=false",
            "spring.threads.virtual.enabled=" + wanted)
        .run(
            context -> {
              Holdfast library = context.getBean(Holdfast.class);
              List<JobId> ids =
                  List.of(
                      library.enqueue(Job.of("any")).id(),
                      library.enqueue(Job.of("kind")).id(),
                      library.enqueue(Job.of("computing")).id());
              context.getBean(HoldfastWorkers.class).drain();
              assertThat(ids)
                  .extracting(id -> library.result(id, Boolean.class).orElseThrow())
                  .containsExactly(wanted, wanted, false);
            });
  }

  @Configuration
  static class Unmarked {
    @Bean
    DataSource orders() {
      return new SimpleDriverDataSource();
    }

    @Bean
    DataSource jobs() {
      return new SimpleDriverDataSource();
    }
  }

  @Configuration
  static class BothMarked {
    @Bean
    @HoldfastDataSource
    DataSource orders() {
      return new SimpleDriverDataSource();
    }

    @Bean
    @HoldfastDataSource
    DataSource jobs() {
      return new SimpleDriverDataSource();
    }
  }

  @Configuration
  static class OnePrimary {
    @Bean
    @Primary
    DataSource orders() {
      return new SimpleDriverDataSource();
    }

    @Bean
    DataSource reports() {
      return new SimpleDriverDataSource();
    }
  }

  @Test
  void of_several_data_sources_without_a_mark_none_is_guessed() {
    holdfast
        .withUserConfiguration(Unmarked.class)
        .run(
            context -> {
              FailureAnalysis analysis =
                  new DataSourceFailureAnalyzer().analyze(context.getStartupFailure());
              assertThat(analysis.getDescription())
                  .contains("several data sources", "orders", "jobs", "@HoldfastDataSource");
              assertThat(analysis.getAction()).contains("@HoldfastDataSource");
            });
    holdfast
        .withUserConfiguration(BothMarked.class)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("several data sources are marked"));
  }

  @Test
  void of_several_data_sources_without_a_mark_the_primary_one_is_used() {
    holdfast
        .withUserConfiguration(OnePrimary.class)
        .withPropertyValues("holdfast.check=false")
        .run(
            context ->
                assertThat(context.getBean(Holdfast.class).dataSource())
                    .isSameAs(context.getBean("orders")));
  }
}
