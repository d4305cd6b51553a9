package dev.holdfast.server.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A job that live events told of is followed until it has ended. */
class FollowedJobsTest extends ServerTest {
  FollowedJobsTest(TestDatabase db) {
    super(db);
  }

  @Test
  void a_job_that_is_deleted_is_dropped() {
    JobId job = enqueued();
    try (LiveStream live = LiveStream.open(server.url(), "?topics=queue:jobs", null)) {
      live.next("queue:jobs", data -> data.at("/jobs/0/id").asText().equals(job.toString()));
      assertThat(holdfast.delete(job)).isPresent();
      live.next("queue:jobs", data -> data.at("/dropped/0").asText().equals(job.toString()));
    }
  }

  @Test
  void of_many_jobs_that_end_at_once_each_end_is_published() {
    Set<String> unfinished = new HashSet<>();
    List<JobId> ids = new ArrayList<>();
    try (LiveStream live = LiveStream.open(server.url(), "?topics=queue:jobs", null)) {
      for (int i = 0; i < 3; i++) {
        holdfast
            .enqueue(IntStream.range(0, 400).mapToObj(n -> Job.of("echo").queue(QUEUE)).toList())
            .forEach(enqueued -> ids.add(enqueued.id()));
        live.next("queue:jobs", data -> heard(data, unfinished) == ids.size());
      }
      holdfast.store().jobs().cancel(ids, false, "enough", Tenant.ANY);
      live.next("queue:jobs", data -> heard(data, unfinished) == 0);
    }
  }

  /** How many of those that were heard of have not ended. */
  private static int heard(JsonNode data, Set<String> unfinished) {
    for (JsonNode job : data.path("jobs")) {
      if (JobState.valueOf(job.get("state").asText()).isTerminal()) {
        unfinished.remove(job.get("id").asText());
      } else {
        unfinished.add(job.get("id").asText());
      }
    }
    return unfinished.size();
  }
}
