package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.test.HoldfastDatabase;
import dev.holdfast.testkit.OnlyWithAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** An application under test, on the embedded PostgreSQL of holdfast-test. */
@OnlyWithAll
@SpringBootTest(
    classes = EmbeddedDatabaseTest.Shop.class,
    properties = {
      "spring.main.web-application-type=none",
      "spring.jpa.open-in-view=false",
      "holdfast.worker.enabled=false"
    })
class EmbeddedDatabaseTest {
  // region database
  @DynamicPropertySource
  static void database(DynamicPropertyRegistry properties) {
    HoldfastDatabase database = HoldfastDatabase.create();
    properties.add("spring.datasource.url", database::url);
    properties.add("spring.datasource.username", database::user);
    properties.add("spring.datasource.password", database::password);
    properties.add("holdfast.allow-unsafe", () -> true);
  }

  // endregion

  @Configuration
  @EnableAutoConfiguration
  static class Shop {
    @JobHandler("greet")
    String greet(String name) {
      return "Hello " + name;
    }
  }

  @Autowired Holdfast holdfast;
  @Autowired HoldfastWorkers workers;
  @Autowired JdbcTemplate jdbc;

  @Test
  void an_application_runs_its_jobs_on_the_embedded_database() {
    JobId id = holdfast.enqueue(Job.of("greet", "Ada")).id();
    workers.drain();
    assertThat(holdfast.result(id, String.class)).contains("Hello Ada");
  }

  @Test
  void tables_of_the_application_are_not_made_in_the_schema_of_holdfast() {
    jdbc.execute("CREATE TABLE orders (id int PRIMARY KEY)");
    assertThat(
            jdbc.queryForObject(
                "SELECT schemaname FROM pg_tables WHERE tablename = 'orders'", String.class))
        .isEqualTo("public");
  }

  @Test
  void each_database_is_another_one() {
    HoldfastDatabase one = HoldfastDatabase.create();
    assertThat(HoldfastDatabase.create().url()).isNotEqualTo(one.url());
    assertThat(one).hasToString(one.url());
  }
}
