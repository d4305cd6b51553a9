package dev.holdfast.queue.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.search.SearchSyntax;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.QueueFixture;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TagsTest extends QueueFixture {
  private List<JobId> found(JobFilter filter) {
    return queries.page(filter).jobs().stream().map(JobStatus::id).toList();
  }

  @Test
  void a_job_is_found_by_each_of_its_tags_and_returns_them() {
    JobId both = add(job().tags("vip", "customer:42", "vip"));
    JobId one = add(job().tags("customer:42"));
    add(job());
    assertThat(queries.find(both).orElseThrow().attributes().tags())
        .containsExactly("customer:42", "vip");
    assertThat(found(JobFilter.ALL.tag("customer:42"))).containsExactly(one, both);
    assertThat(found(JobFilter.ALL.tag("vip"))).containsExactly(both);
    assertThat(found(JobFilter.ALL.tag("customer"))).isEmpty();
    assertThat(queries.count(JobFilter.ALL.tag("customer:42"), 10).count()).isEqualTo(2);
    JobFilter typed = SearchSyntax.parse("tag:customer:42 state:pending", Instant.now());
    assertThat(found(typed)).containsExactly(one, both);
    assertThat(found(SearchSyntax.parse("tag:vip test", Instant.now()))).containsExactly(both);
  }

  @Test
  void a_worker_sees_the_tags_of_its_job() {
    add(job().tags("vip"));
    assertThat(claim(1).getFirst().attributes().tags()).containsExactly("vip");
  }

  @Test
  void a_tag_is_found_by_its_index_in_any_state_and_page_by_page() {
    queue.enqueue(jobs(3_000));
    List<Job> tagged = IntStream.range(0, 5).mapToObj(i -> job().tags("needle\\ü'")).toList();
    queue.enqueue(tagged);
    db.sql("ANALYZE holdfast.job");
    assertThat(
            db.query(
                    """
                    EXPLAIN SELECT id FROM holdfast.job
                     WHERE attributes -> 'tags' @> '["x"]'::jsonb ORDER BY created_at DESC, id DESC LIMIT 50
                    """)
                .toString())
        .contains("job_tags");
    JobFilter filter = JobFilter.ALL.tag("needle\\ü'").limit(3);
    JobPage first = queries.page(filter);
    JobPage second = queries.page(filter.resumed(first.next()));
    assertThat(first.searchComplete()).isNull();
    assertThat(List.of(first, second))
        .flatExtracting(JobPage::jobs)
        .extracting(JobStatus::id)
        .containsExactlyElementsOf(tagged.stream().map(Job::id).toList().reversed());
    assertThat(found(filter.states(Set.of(JobState.SUCCEEDED)))).isEmpty();
  }

  @Test
  void a_job_with_the_same_id_and_other_tags_is_a_different_job() {
    Job job = job().tags("a");
    add(job);
    assertThat(queue.enqueue(job).id()).isEqualTo(job.id());
    assertRefused(Refusal.ID_TAKEN, () -> queue.enqueue(job.tags("b")));
  }

  @Test
  void number_and_form_of_tags_are_limited() {
    assertRefused(Refusal.BAD_TAG, () -> job().tags(""));
    assertRefused(Refusal.BAD_TAG, () -> job().tags("two words"));
    assertRefused(Refusal.BAD_TAG, () -> job().tags("a\"b"));
    assertRefused(Refusal.BAD_TAG, () -> job().tags("x".repeat(101)));
    assertRefused(
        Refusal.BAD_TAG, () -> job().tags(IntStream.range(0, 21).mapToObj(i -> "t" + i).toList()));
    assertThat(job().tags(Collections.nCopies(21, "same")).tags()).containsExactly("same");
    assertRefused(Refusal.BAD_TAG, () -> JobFilter.ALL.tag("two words"));
  }
}
