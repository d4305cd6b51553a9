package peers;

import static dev.holdfast.test.HoldfastAssertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.testkit.OnlyWithAll;
import javax.sql.DataSource;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;
import org.testcontainers.postgresql.PostgreSQLContainer;

/** The module holdfast-test with a database in a container, where there is a container engine. */
@OnlyWithAll
// region container
@Testcontainers(disabledWithoutDocker = true)
class WithTestcontainersTest {
  @Container
  static final PostgreSQLContainer postgres = new PostgreSQLContainer("postgres:18-alpine");

  @RegisterExtension
  static final HoldfastExtension database =
      HoldfastExtension.on(WithTestcontainersTest::dataSource).emptied();

  private static DataSource dataSource() {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(postgres.getJdbcUrl());
    source.setUser(postgres.getUsername());
    source.setPassword(postgres.getPassword());
    return source;
  }

  // endregion

  @RepeatedTest(2)
  void the_database_is_empty_before_each_test(Holdfast holdfast) {
    assertThat(holdfast).enqueued("work").never();
    holdfast.enqueue(Job.of("work"));
    assertThat(holdfast).enqueued("work").once();
  }
}
