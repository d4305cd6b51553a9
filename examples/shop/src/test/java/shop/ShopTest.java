package shop;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.schedule.Schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneId;
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

  @Test
  void jobs_wait_for_other_jobs_and_are_scheduled() {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(System.getenv("DATABASE_URL"));
    LocalDate day = LocalDate.of(2030, 1, 31);
    try (Holdfast holdfast = Holdfast.on(dataSource).check()) {
      // region more
      Job extract = Job.of("extract", day);
      Job load = Job.of("load", day).dependsOn(extract.id()); // once extract has succeeded
      holdfast.enqueue(List.of(extract, load));
      Job report = Job.of("report");
      ZoneId zone = ZoneId.of("Europe/Berlin");
      holdfast.admin().schedule(Schedule.of("nightly", "0 3 * * *", zone, report));
      holdfast.admin().rate("mail", 100, Duration.ofMinutes(1)); // over all workers
      // endregion

      assertThat(holdfast.find(load.id()).orElseThrow().state()).isEqualTo(JobState.WAITING);
      holdfast.cancel(load.id(), "tested");
      holdfast.cancel(extract.id(), "tested");
      assertThat(holdfast.admin().removeSchedule("nightly")).isTrue();
      holdfast.admin().liftRate("mail");
    }
  }
}
