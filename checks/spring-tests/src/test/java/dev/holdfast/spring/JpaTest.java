package dev.holdfast.spring;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.handler.JobContext;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;

/** Entities and jobs in one transaction, that of JPA's transaction manager with Hibernate. */
@OnlyWithAll
@ExtendWith(DatabaseExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class JpaTest {
  /** A service with one entity. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  @Import(Purchases.class)
  static class Shop {}

  /** An entity. */
  @Entity(name = "purchase")
  static class Purchase {
    @Id private UUID id = UUID.randomUUID();
    private boolean posted;

    UUID id() {
      return id;
    }

    Purchase id(UUID value) {
      id = value;
      return this;
    }

    void post() {
      posted = true;
    }
  }

  static class Purchases {
    private final EntityManager entities;
    private final Holdfast holdfast;
    private volatile JobId last = JobId.next();

    Purchases(EntityManager entities, Holdfast holdfast) {
      this.entities = entities;
      this.holdfast = holdfast;
    }

    // region place
    /** The entity is flushed by the commit, which is also that of the job. */
    @Transactional
    JobId place(Purchase purchase, boolean refused) {
      entities.persist(purchase);
      last = holdfast.enqueue(Job.of("post-purchase", purchase.id())).id();
      if (refused) {
        throw new IllegalStateException("refused");
      }
      return last;
    }

    // endregion

    JobId last() {
      return last;
    }

    @Transactional
    @JobHandler(value = "post-purchase", maxAttempts = 1)
    void post(UUID id, JobContext context) {
      entities.find(Purchase.class, id).post();
      holdfast.succeed(context, Map.of("posted", id));
    }
  }

  private TestDatabase database;
  private ConfigurableApplicationContext context;
  private Holdfast holdfast;
  private Purchases purchases;

  @BeforeAll
  void start(TestDatabase fresh) {
    database = fresh;
    context =
        new SpringApplicationBuilder(Shop.class)
            .properties(
                Map.of(
                    "spring.datasource.url",
                    database.url(),
                    "spring.datasource.username",
                    database.user(),
                    "spring.datasource.password",
                    database.password(),
                    "spring.main.banner-mode",
                    "off",
                    "spring.jpa.hibernate.ddl-auto",
                    "create",
                    "holdfast.allow-unsafe",
                    true))
            .run();
    holdfast = context.getBean(Holdfast.class);
    purchases = context.getBean(Purchases.class);
  }

  @AfterAll
  void stop() {
    context.close();
  }

  private long stored(Purchase purchase, boolean posted) {
    return database.count(
        "SELECT count(*) FROM purchase WHERE id = ? AND posted = ?", purchase.id(), posted);
  }

  @Test
  void an_entity_and_its_job_commit_together_and_a_handler_settles_with_its_entity()
      throws InterruptedException {
    assertThat(context.getBean(PlatformTransactionManager.class))
        .isInstanceOf(JpaTransactionManager.class);
    Purchase purchase = new Purchase();
    JobId job = purchases.place(purchase, false);
    assertThat(holdfast.await(job, SOON)).map(JobStatus::state).hasValue(JobState.SUCCEEDED);
    assertThat(stored(purchase, true)).isEqualTo(1);
  }

  @Test
  void a_rollback_undoes_the_entity_and_its_job() {
    Purchase purchase = new Purchase();
    assertThatThrownBy(() -> purchases.place(purchase, true)).hasMessage("refused");
    assertThat(stored(purchase, false)).isZero();
    assertThat(holdfast.find(purchases.last())).isEmpty();
  }

  @Test
  void an_entity_that_cannot_be_flushed_rolls_back_its_job() {
    Purchase purchase = new Purchase();
    JobId first = purchases.place(purchase, false);
    // The same key again, which is written at the commit, after the enqueue.
    assertThatThrownBy(() -> purchases.place(new Purchase().id(purchase.id()), false))
        .isInstanceOf(RuntimeException.class);
    assertThat(purchases.last()).isNotEqualTo(first);
    assertThat(holdfast.find(purchases.last())).isEmpty();
  }
}
