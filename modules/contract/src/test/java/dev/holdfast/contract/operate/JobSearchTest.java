package dev.holdfast.contract.operate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.contract.request.BulkRequest;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class JobSearchTest {
  private static final Instant AT = Instant.parse("2026-11-15T10:05:00Z");
  private static final JobCursor JOB = new JobCursor(AT, JobId.next());

  @Test
  void an_end_that_is_a_time_is_said() {
    JobCursor moment = JobCursor.at(AT);
    assertThat(JobSearch.of(JobFilter.ALL.from(moment).before(moment)))
        .returns(AT.toString(), JobSearch::createdAfter)
        .returns(AT.toString(), JobSearch::createdBefore);
  }

  @Test
  void an_end_that_is_a_job_is_refused_and_does_not_widen_what_is_changed() {
    for (JobFilter filter : List.of(JobFilter.ALL.before(JOB), JobFilter.ALL.from(JOB))) {
      assertThatThrownBy(() -> BulkRequest.of(new Selection.Matching(filter, null), "why", null))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(JOB.id().toString());
    }
  }
}
