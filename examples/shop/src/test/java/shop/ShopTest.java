package shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.Enqueued;
import dev.holdfast.model.JobState;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class ShopTest {
  // region drain
  @Test
  void an_order_posts_its_invoice() throws Exception {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(System.getenv("DATABASE_URL"));
    try (Holdfast holdfast = Holdfast.on(dataSource).check()) {
      Shop shop = new Shop(dataSource, holdfast);
      shop.createTables();
      List<Enqueued> jobs = shop.order(new Shop.Order(UUID.randomUUID(), "ada@example.org", 4_200));

      shop.worker().drain();

      assertThat(jobs)
          .extracting(job -> holdfast.find(job.id()).orElseThrow().state())
          .containsOnly(JobState.SUCCEEDED);
    }
  }
  // endregion
}
