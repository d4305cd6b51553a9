package dev.holdfast.test;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Jobs of a kind, narrowed down by what they must have, and then counted. */
public final class JobsAssert {
  private static final JacksonCodec CODEC = new JacksonCodec();
  private static final int PAYLOAD_CHARS = 200;

  private final Holdfast holdfast;
  private final JobFilter filter;
  private final Predicate<JobStatus> wanted;
  private final String description;

  private JobsAssert(
      Holdfast holdfast, JobFilter filter, Predicate<JobStatus> wanted, String description) {
    this.holdfast = holdfast;
    this.filter = filter;
    this.wanted = wanted;
    this.description = description;
  }

  static JobsAssert of(Holdfast holdfast, String kind) {
    return new JobsAssert(
        holdfast,
        JobFilter.ALL.kind(kind).limit(JobFilter.MOST),
        job -> true,
        "of kind '" + kind + "'");
  }

  /** Of this queue only. */
  public JobsAssert inQueue(String queue) {
    return new JobsAssert(
        holdfast, filter.queue(queue), wanted, description + " in queue '" + queue + "'");
  }

  /** That are in this state now. */
  public JobsAssert inState(JobState state) {
    return new JobsAssert(
        holdfast, filter.states(Set.of(state)), wanted, description + " in state " + state);
  }

  /** With a payload that is the same JSON as this one. */
  public JobsAssert withPayload(Object expected) {
    JsonNode tree = CODEC.tree(CODEC.encode(expected));
    return and(job -> CODEC.tree(job.payload()).equals(tree), " with payload " + tree);
  }

  /** With a payload of this type for which the condition holds. */
  public <T> JobsAssert withPayload(Class<T> type, Predicate<? super T> condition) {
    return and(
        job -> condition.test(CODEC.decode(job.payload(), type)),
        " with a matching " + type.getSimpleName());
  }

  private JobsAssert and(Predicate<JobStatus> more, String said) {
    return new JobsAssert(holdfast, filter, wanted.and(more), description + said);
  }

  /** There is one; the answer is that job. */
  public JobStatus once() {
    return times(1).getFirst();
  }

  /** There is none. */
  public void never() {
    times(0);
  }

  /** The jobs, the newest first. */
  public List<JobStatus> times(int expected) {
    List<JobStatus> found = all().stream().filter(wanted).toList();
    if (found.size() != expected) {
      throw new AssertionError(
          "expected %d job(s) %s, but there are %d; of this kind there are:%n%s"
              .formatted(expected, description, found.size(), shown()));
    }
    return found;
  }

  /** One list has at most {@link JobFilter#MOST} of them. */
  private List<JobStatus> all() {
    List<JobStatus> all = new ArrayList<>();
    List<JobStatus> page = holdfast.queries().list(filter);
    all.addAll(page);
    while (page.size() == filter.limit()) {
      page = holdfast.queries().list(filter.before(JobCursor.of(page.getLast())));
      all.addAll(page);
    }
    return all;
  }

  private String shown() {
    List<JobStatus> all = holdfast.queries().list(filter.queue(null).states(Set.of()).limit(20));
    return all.isEmpty()
        ? "  (none)"
        : all.stream().map(job -> line(job) + failure(job)).collect(Collectors.joining("\n"));
  }

  private static String line(JobStatus job) {
    return "  %s %s in queue '%s' %s"
        .formatted(
            job.id(), job.state(), job.queue(), Text.excerpt(job.payload().text(), PAYLOAD_CHARS));
  }

  /** Why it failed, the last time; of a list the stack traces are left out. */
  private String failure(JobStatus job) {
    return job.failure() == null
        ? ""
        : holdfast
            .queries()
            .find(job.id())
            .map(JobStatus::failure)
            .map(failure -> "\n" + failure.detail().indent(6).stripTrailing())
            .orElse("");
  }
}
