package dev.holdfast.queue.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitSort;
import dev.holdfast.queue.QueueFixture;
import org.junit.jupiter.api.Test;

class OpenWaitsTest extends QueueFixture {
  /** Otherwise an inbox would be empty until somebody asks for its next page. */
  @Test
  void a_question_is_found_however_many_jobs_are_newer() {
    Lease asking = running();
    queue.suspend(new Suspension(asking, 1, new Wait.ForApproval("ok", Question.of("Well?"))));
    db.sql(
        """
        INSERT INTO holdfast.job (id, run_id, run_key, queue, kind, tenant, workspace, state, priority,
               created_at, run_at, max_attempts, max_crashes, payload)
        SELECT gen_random_uuid(), gen_random_uuid(), 'k', 'other', 'other', 'default', 'default',
               'PENDING', 5, now() + interval '1 minute', now(), 1, 1, '{}'
          FROM generate_series(1, %d)
        """
            .formatted(Search.MOST_WALKED + 1));
    JobPage inbox = queries.page(JobFilter.ALL.waits(WaitSort.APPROVAL));
    assertThat(inbox.jobs()).extracting(JobStatus::id).containsExactly(asking.job());
    assertThat(inbox.next()).isNull();
  }
}
