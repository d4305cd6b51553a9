package guide;

import static dev.holdfast.test.HoldfastAssertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.job.Job;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The module holdfast-test on a database that the tests bring. */
@ExtendWith(DatabaseExtension.class)
class TestingElsewhereTest {
  private static TestDatabase container;

  // region own
  @RegisterExtension
  static final HoldfastExtension database =
      HoldfastExtension.on(() -> container.dataSource()).emptied();

  // endregion

  @BeforeAll
  static void start(TestDatabase databases) {
    container = databases.empty();
  }

  @RepeatedTest(2)
  void the_database_has_the_schema_and_is_emptied_before_each_test(Holdfast holdfast) {
    assertThat(holdfast).enqueued("work").never();
    holdfast.enqueue(Job.of("work"));
    assertThat(holdfast).enqueued("work").once();
  }
}
