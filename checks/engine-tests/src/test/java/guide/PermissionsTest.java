package guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** The role that works, of docs/operations.md. */
class PermissionsTest extends Guide {
  @BeforeAll
  void makeRole() {
    db.sql("CREATE ROLE shop LOGIN PASSWORD 'shop-password'");
  }

  @AfterAll
  void removeRole() {
    db.sql("DROP OWNED BY shop");
    db.sql("DROP ROLE shop");
  }

  @Test
  void the_role_needs_these_permissions_and_no_others() throws Exception {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(db.url());
    dataSource.setUser("shop");
    dataSource.setPassword("shop-password");
    try (Holdfast shop = Holdfast.on(dataSource)) {
      assertThatThrownBy(() -> shop.enqueue(Job.of("any"))).hasMessageContaining("permission");
      try (InputStream grants = getClass().getResourceAsStream("permissions.sql")) {
        db.sql(new String(grants.readAllBytes(), StandardCharsets.UTF_8));
      }
      shop.store().check(true);
      JobId id = shop.enqueue(Job.of("any")).id();
      shop.worker("default").handle("any", Json.class, (payload, context) -> "done").drain();
      assertThat(state(id)).isEqualTo(JobState.SUCCEEDED);
      shop.admin().pause("default");
      shop.store().maintenance().reap(Duration.ZERO);
      assertThat(shop.store().maintenance().retain(JobState.SUCCEEDED, Duration.ZERO)).isEqualTo(1);

      db.sql("CREATE TABLE holdfast.of_a_later_version (id int)");
      assertThat(
              db.queryOne(
                  Boolean.class,
                  "SELECT has_table_privilege('shop', 'holdfast.of_a_later_version', 'INSERT')"))
          .isTrue();
    }
  }
}
