package dev.holdfast.server.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class JobChangeTrackerTest {
  private static final int MOST = JobChangeTracker.MOST_FOLLOWED;

  private final JobChangeTracker tracker = new JobChangeTracker();

  private static JobBrief job(JobId id, JobState state) {
    return new JobBrief(
        id,
        "plain",
        "default",
        state,
        1,
        null,
        null,
        null,
        Instant.EPOCH,
        Instant.EPOCH,
        null,
        null,
        null);
  }

  private static List<JobId> ids(int many) {
    return IntStream.range(0, many).mapToObj(each -> JobId.next()).toList();
  }

  private static List<JobBrief> jobs(List<JobId> ids, JobState state) {
    return ids.stream().map(id -> job(id, state)).toList();
  }

  @Test
  void every_job_that_was_told_is_followed_until_it_has_ended() {
    List<JobId> ids = ids(MOST);
    for (int from = 0; from < MOST; from += 500) {
      tracker.changes(
          Stream.concat(tracker.followed().stream(), ids.subList(from, from + 500).stream())
              .map(id -> job(id, JobState.PENDING))
              .toList());
    }
    assertThat(tracker.followed()).isEqualTo(ids);
    JobChangeTracker.Changes changes = tracker.changes(jobs(ids, JobState.SUCCEEDED));
    assertThat(changes.changed()).hasSize(MOST);
    assertThat(changes.dropped()).isEmpty();
    assertThat(tracker.followed()).isEmpty();
    assertThat(tracker.changes(jobs(ids, JobState.SUCCEEDED)).changed()).isEmpty();
  }

  @Test
  void jobs_that_have_ended_do_not_take_the_place_of_those_that_are_followed() {
    List<JobId> ids = ids(700);
    for (int i = 0; i < 10; i++) {
      JobChangeTracker.Changes changes =
          tracker.changes(
              Stream.concat(
                      jobs(ids, JobState.PENDING).stream(),
                      jobs(ids(500), JobState.SUCCEEDED).stream())
                  .toList());
      assertThat(changes.dropped()).isEmpty();
      assertThat(tracker.followed()).isEqualTo(ids);
    }
  }

  @Test
  void a_job_that_is_there_no_longer_is_dropped() {
    List<JobId> ids = ids(2);
    tracker.changes(jobs(ids, JobState.PENDING));
    JobChangeTracker.Changes changes = tracker.changes(jobs(ids.subList(1, 2), JobState.PENDING));
    assertThat(changes.changed()).isEmpty();
    assertThat(changes.dropped()).containsExactly(ids.getFirst());
    assertThat(tracker.followed()).containsExactly(ids.getLast());
  }

  @Test
  void of_too_many_the_oldest_that_wait_are_dropped_and_those_that_run_are_not() {
    List<JobId> ids = ids(MOST + 3);
    List<JobBrief> all =
        Stream.concat(
                Stream.of(job(ids.getFirst(), JobState.RUNNING)),
                jobs(ids.subList(1, ids.size()), JobState.PENDING).stream())
            .toList();
    JobChangeTracker.Changes changes = tracker.changes(all);
    assertThat(changes.dropped()).containsExactlyInAnyOrderElementsOf(ids.subList(1, 4));
    assertThat(changes.changed()).hasSize(MOST);
    assertThat(tracker.followed()).hasSize(MOST).contains(ids.getFirst(), ids.getLast());
  }
}
