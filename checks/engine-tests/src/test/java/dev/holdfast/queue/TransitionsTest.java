package dev.holdfast.queue;

import static dev.holdfast.model.job.JobState.CANCELLED;
import static dev.holdfast.model.job.JobState.FAILED;
import static dev.holdfast.model.job.JobState.PENDING;
import static dev.holdfast.model.job.JobState.RETRYING;
import static dev.holdfast.model.job.JobState.RUNNING;
import static dev.holdfast.model.job.JobState.SUCCEEDED;
import static dev.holdfast.model.job.JobState.WAITING;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every verb in every state: it does what the table below says, and that is allowed. */
@ExtendWith(DatabaseExtension.class)
class TransitionsTest {
  // A verb that stands here changes the state as it says; in every other state, and when it does
  // not stand here at all, it leaves the state alone.
  private static final Map<Verb, Map<JobState, JobState>> MOVES =
      Map.ofEntries(
          entry(Verb.CLAIM, Map.of(PENDING, RUNNING)),
          entry(Verb.CLAIM_REMOTELY, Map.of(PENDING, RUNNING)),
          entry(Verb.COMPLETE, Map.of(RUNNING, SUCCEEDED)),
          entry(Verb.SUCCEED, Map.of(RUNNING, SUCCEEDED)),
          entry(Verb.SUCCEED_IN_TRANSACTION, Map.of(RUNNING, SUCCEEDED)),
          entry(Verb.FAIL_RETRYABLE, Map.of(RUNNING, RETRYING)),
          entry(Verb.FAIL_FOR_GOOD, Map.of(RUNNING, FAILED)),
          entry(Verb.FAIL_AT_THE_END_OF_THE_BUDGET, Map.of(RUNNING, FAILED)),
          entry(Verb.FAIL_WHILE_CANCELLING, Map.of(RUNNING, CANCELLED)),
          entry(Verb.CANCEL, Map.of(WAITING, CANCELLED, PENDING, CANCELLED, RETRYING, CANCELLED)),
          entry(Verb.CANCELLED_BY_THE_WORKER, Map.of(RUNNING, CANCELLED)),
          entry(Verb.RELEASE, Map.of(RUNNING, PENDING)),
          entry(Verb.RELEASE_WHILE_CANCELLING, Map.of(RUNNING, CANCELLED)),
          entry(Verb.CONTINUE, Map.of(RUNNING, SUCCEEDED)),
          entry(Verb.SNOOZE, Map.of(RUNNING, PENDING)),
          entry(Verb.GIVE_BACK_UNDELIVERED, Map.of(RUNNING, PENDING)),
          entry(Verb.GIVE_BACK_UNDELIVERED_WHILE_CANCELLING, Map.of(RUNNING, CANCELLED)),
          entry(Verb.REFUSE_UNDELIVERED, Map.of(RUNNING, FAILED)),
          entry(Verb.RETRY, Map.of(FAILED, PENDING, CANCELLED, PENDING)),
          entry(
              Verb.SEND_BACK_TO_A_STEP,
              Map.of(SUCCEEDED, PENDING, FAILED, PENDING, CANCELLED, PENDING)),
          entry(Verb.REAP, Map.of(RUNNING, PENDING)),
          entry(Verb.REAP_TOXIC, Map.of(RUNNING, FAILED)),
          entry(Verb.REAP_WHILE_CANCELLING, Map.of(RUNNING, CANCELLED)),
          entry(Verb.EXPIRE_CANCELLATION, Map.of(RUNNING, FAILED)),
          entry(Verb.EXPIRE_ATTEMPT, Map.of(RUNNING, RETRYING)),
          entry(Verb.EXPIRE_LAST_ATTEMPT, Map.of(RUNNING, FAILED)),
          entry(
              Verb.EXPIRE_JOB,
              Map.of(WAITING, FAILED, PENDING, FAILED, RUNNING, FAILED, RETRYING, FAILED)),
          entry(Verb.SUSPEND, Map.of(RUNNING, WAITING)),
          entry(Verb.SUSPEND_WHILE_CANCELLING, Map.of(RUNNING, CANCELLED)),
          entry(Verb.SIGNAL_THAT_IS_AWAITED, Map.of(WAITING, PENDING)),
          entry(Verb.DECIDE_WHAT_IS_ASKED, Map.of(WAITING, PENDING)),
          entry(Verb.WAKE, Map.of(WAITING, PENDING)),
          entry(Verb.WAKE_A_PARENT, Map.of(WAITING, PENDING)),
          entry(Verb.PROMOTE, Map.of(RETRYING, PENDING)),
          entry(Verb.UNBLOCK, Map.of(WAITING, PENDING)),
          entry(Verb.UNBLOCK_TO_RUN_ANYWAY, Map.of(WAITING, PENDING)),
          entry(Verb.UNBLOCK_TO_CANCEL, Map.of(WAITING, CANCELLED)),
          entry(Verb.UNBLOCK_TO_FAIL, Map.of(WAITING, FAILED)));

  /** The verbs that write something of a job and leave its state alone, and in which states. */
  private static final Map<Verb, Set<JobState>> WRITES =
      Map.ofEntries(
          entry(Verb.REPORT, Set.of(RUNNING)),
          entry(Verb.REPORT_A_VERSION, Set.of(RUNNING)),
          entry(Verb.LOG, Set.of(RUNNING)),
          entry(Verb.PUBLISH, Set.of(RUNNING)),
          entry(Verb.START_CHILDREN, Set.of(RUNNING)),
          entry(Verb.SIGNAL, Set.of(WAITING, PENDING, RUNNING, RETRYING)),
          entry(Verb.SIGNAL_THAT_IS_AWAITED, Set.of(PENDING, RUNNING, RETRYING)),
          entry(Verb.CANCEL, Set.of(RUNNING)),
          entry(Verb.EDIT, Set.of(WAITING, PENDING, RETRYING)),
          entry(Verb.SEND_BACK_TO_A_STEP, Set.of(WAITING, PENDING, RUNNING, RETRYING)));

  private static TestDatabase db;
  private static JobStore store;

  @BeforeAll
  static void open(TestDatabase database) {
    db = database;
    db.sql(TransitionGuard.sql());
    db.sql(TransitionGuard.DISABLE_TRIGGERS);
    store = new JobStore(db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT);
  }

  @AfterAll
  static void close() {
    store.close();
  }

  @Test
  void every_method_of_the_queue_that_writes_is_a_verb_here() {
    Set<String> verbs =
        Arrays.stream(Verb.values())
            .map(Verb::method)
            .filter(Objects::nonNull)
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(verbs).isEqualTo(JobQueueMethods.writing());
  }

  static Stream<Arguments> everyVerbInEveryState() {
    return Arrays.stream(Verb.values())
        .flatMap(verb -> Arrays.stream(JobState.values()).map(state -> Arguments.of(verb, state)));
  }

  @ParameterizedTest(name = "{0} in {1}")
  @MethodSource("everyVerbInEveryState")
  void a_verb_makes_exactly_the_transition_of_the_table(Verb verb, JobState state)
      throws SQLException {
    Subject subject = Subject.in(state, store, db);
    assertThat(store.queries().find(subject.id()).orElseThrow().state()).isEqualTo(state);
    int attempt = store.queries().find(subject.id()).orElseThrow().attempt();
    if (verb == Verb.SEND_BACK_TO_A_STEP || verb == Verb.FORK) {
      subject.hasStep("s1");
    }
    Map<String, @Nullable String> before = JobRows.ofOtherTables(db, subject.id());
    db.sql("DELETE FROM public.seen");

    verb.on(subject);

    JobState next = next(verb, state);
    if ((verb == Verb.RETAIN && state.isTerminal()) || (verb == Verb.DELETE && state != RUNNING)) {
      assertThat(store.queries().find(subject.id())).isEmpty();
      return;
    }
    JobStatus after = store.queries().find(subject.id()).orElseThrow();
    assertThat(after.state()).isEqualTo(next);
    boolean isClaimed = state == PENDING && next == RUNNING;
    assertThat(after.attempt()).isEqualTo(isClaimed ? attempt + 1 : attempt);
    assertThat(seen(subject))
        .as("the state changed once, or not at all")
        .isEqualTo(next == state ? List.of() : List.of(state + ">" + next));
    if (next == state && !WRITES.getOrDefault(verb, Set.of()).contains(state)) {
      assertThat(JobRows.ofOtherTables(db, subject.id()))
          .as("a verb that does nothing writes nothing")
          .isEqualTo(before);
    }
    assertThat(store.queries().timeline(subject.id()))
        .as("the timeline has no gaps")
        .extracting(event -> event.number())
        .containsExactlyElementsOf(
            Stream.iterate(1, n -> n + 1)
                .limit(store.queries().timeline(subject.id()).size())
                .toList());
  }

  @Test
  void the_table_covers_exactly_the_allowed_transitions() {
    Set<String> inTheTable =
        MOVES.values().stream()
            .flatMap(moves -> moves.entrySet().stream())
            .map(move -> move.getKey() + ">" + move.getValue())
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> allowed =
        Arrays.stream(JobState.values())
            .flatMap(from -> from.next().stream().map(to -> from + ">" + to))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(inTheTable).isEqualTo(allowed);
  }

  private static JobState next(Verb verb, JobState state) {
    return MOVES.getOrDefault(verb, Map.of()).getOrDefault(state, state);
  }

  private static List<String> seen(Subject subject) {
    return db
        .query("SELECT transition FROM public.seen WHERE id = ?", subject.id().value())
        .stream()
        .map(row -> String.valueOf(row.get("transition")))
        .toList();
  }
}
