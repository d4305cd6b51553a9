package guide;

import static dev.holdfast.test.HoldfastAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Question.Decider;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestTime;
import dev.holdfast.worker.handler.Approval;
import dev.holdfast.worker.handler.Child;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.JobContext.Join;
import dev.holdfast.worker.handler.Kind;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * docs/guides/durable-patterns.md. Each handler is cut off once after every step, wait and start of
 * jobs, and called again from its first line; what has an effect has it once.
 */
@ExtendWith(HoldfastExtension.class)
class PatternsTest {
  private static final Set<String> BOUNDARIES =
      Set.of("step", "sleep", "await", "approve", "spawn", "join", "map", "any");

  private final List<String> done = new CopyOnWriteArrayList<>();
  private final Set<String> cutOff = ConcurrentHashMap.newKeySet();
  private Holdfast holdfast;

  @BeforeEach
  void open(Holdfast holdfast) {
    this.holdfast = holdfast;
  }

  /** Throws once after each call that a later attempt must not repeat. */
  private JobContext cutting(JobContext context) {
    return (JobContext)
        Proxy.newProxyInstance(
            JobContext.class.getClassLoader(),
            new Class<?>[] {JobContext.class},
            (proxy, method, arguments) -> {
              Object answer;
              try {
                answer = method.invoke(context, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
              if (BOUNDARIES.contains(method.getName())
                  && cutOff.add(context.id() + " " + arguments[0])) {
                throw new IllegalStateException("cut off after '" + arguments[0] + "'");
              }
              return answer;
            });
  }

  private <T> Handler<T> cutOffAfterEach(Handler<T> handler) {
    return (payload, context) -> handler.handle(payload, cutting(context));
  }

  private <T> WorkerBuilder worker(String kind, Class<T> payload, Handler<T> handler) {
    return holdfast
        .worker("default")
        .handle(kind, payload, RetryPolicy.NONE, cutOffAfterEach(handler));
  }

  private JobId enqueue(String kind, Object payload) {
    return holdfast.enqueue(Job.of(kind, payload).maxAttempts(100)).id();
  }

  private JobStatus status(JobId job) {
    return holdfast.find(job).orElseThrow();
  }

  private void assertResult(JobId job, Object expected) {
    JobStatus status = status(job);
    assertThat(status.state()).as("%s", status).isEqualTo(JobState.SUCCEEDED);
    assertThat(holdfast.result(job, expected.getClass()).orElseThrow()).isEqualTo(expected);
  }

  // ---- saga

  private record Trip(String id, long cents) {}

  private final class Partners {
    String book(String what, Trip trip) {
      done.add("book " + what);
      return what + "-of-" + trip.id();
    }

    void cancel(String booking) {
      done.add("cancel " + booking);
    }

    boolean charge(Trip trip) {
      done.add("charge");
      return trip.cents() < 1_000;
    }
  }

  private final Partners partners = new Partners();

  // region saga
  Object book(Trip trip, JobContext context) {
    String flight = context.step("flight", String.class, () -> partners.book("flight", trip));
    String hotel = context.step("hotel", String.class, () -> partners.book("hotel", trip));
    boolean paid = context.step("pay", Boolean.class, () -> partners.charge(trip));
    if (paid) {
      return "booked";
    }
    context.step("cancel-hotel", () -> partners.cancel(hotel));
    context.step("cancel-flight", () -> partners.cancel(flight));
    return "declined";
  }

  // endregion

  @Test
  void what_was_done_is_undone_in_the_opposite_order_and_once() {
    JobId job = enqueue("book", new Trip("T1", 5_000));
    worker("book", Trip.class, this::book).drain();
    assertResult(job, "declined");
    assertThat(done)
        .containsExactly(
            "book flight", "book hotel", "charge", "cancel hotel-of-T1", "cancel flight-of-T1");
    assertThat(cutOff).hasSize(5);
  }

  // region saga-whatever
  Object trip(Trip trip, JobContext context) {
    Child booking = context.spawn("book", Job.of("book-all", trip));
    ChildEnd end = context.join("booked", List.of(booking), Join.COLLECT).getFirst();
    if (end.state() == JobState.SUCCEEDED) {
      return "booked";
    }
    context.step("cancel-hotel", () -> partners.cancel("hotel-of-" + trip.id()));
    context.step("cancel-flight", () -> partners.cancel("flight-of-" + trip.id()));
    return "undone: " + end.state();
  }

  // endregion

  @Test
  void whatever_ends_the_way_forward_its_effects_are_undone() {
    JobId job = enqueue("trip", new Trip("T2", 1));
    worker("trip", Trip.class, this::trip)
        .handle(
            "book-all",
            Trip.class,
            (trip, context) -> {
              context.step("flight", () -> partners.book("flight", trip));
              throw FailedException.of(FailureCategory.DATA_QUALITY, "NO_HOTEL", "no room");
            })
        .drain();
    assertResult(job, "undone: FAILED");
    assertThat(done).containsExactly("book flight", "cancel hotel-of-T2", "cancel flight-of-T2");
  }

  // ---- poll until

  private final class Exports {
    boolean isReady(String id) {
      done.add("look at " + id);
      return done.size() == 3;
    }
  }

  private final Exports exports = new Exports();

  // region poll
  Object awaitExport(String export, JobContext context) {
    for (int look = 1; look <= 100; look++) {
      if (context.step("look-" + look, Boolean.class, () -> exports.isReady(export))) {
        return "ready after " + look;
      }
      context.sleep("pause-" + look, Duration.ofMinutes(10));
    }
    return "gave up";
  }

  // endregion

  @Test
  void a_handler_looks_again_until_something_is_there(TestTime time) {
    JobId job = enqueue("await-export", "E1");
    WorkerBuilder worker = worker("await-export", String.class, this::awaitExport);
    time.advance(Duration.ofMinutes(15), worker);
    assertThat(done).hasSize(2);
    time.advance(Duration.ofMinutes(15), worker);
    assertResult(job, "ready after 3");
    assertThat(done).hasSize(3);
  }

  // ---- people

  private record Refund(String order, long cents) {}

  // region human
  Object refund(Refund refund, JobContext context) {
    Question question =
        Question.of("Refund " + refund.cents() + " cents of order " + refund.order() + "?");
    Approval said = context.approve("operator", question.within(Duration.ofDays(1)));
    if (said.by() == null) { // nobody has decided within a day
      said = context.approve("admin", question.role(Decider.ADMIN).within(Duration.ofDays(2)));
    }
    if (!said.approved()) {
      return "not refunded";
    }
    context.step("refund", () -> done.add("refund " + refund.order()));
    return "refunded by " + said.by();
  }

  // endregion

  private Decision.Answer decide(JobId job, String asked, boolean approved, Role role) {
    return holdfast
        .jobs()
        .decide(job, asked, new Decision(approved, "grace", ""), role, Tenant.ANY);
  }

  @Test
  void who_is_not_answered_asks_somebody_else(TestTime time) {
    WorkerBuilder worker = worker("refund", Refund.class, this::refund);
    JobId job = enqueue("refund", new Refund("O1", 4_200));
    JobId nobody = enqueue("refund", new Refund("O2", 4_200));
    time.advance(Duration.ofHours(25), worker);
    assertThat(decide(job, "admin", true, Role.OPERATOR)).isEqualTo(Decision.Answer.NOT_ALLOWED);
    assertThat(decide(job, "admin", true, Role.ADMIN)).isEqualTo(Decision.Answer.ACCEPTED);
    assertThat(decide(job, "admin", false, Role.ADMIN)).isEqualTo(Decision.Answer.NOT_ASKED);
    time.advance(Duration.ofDays(2), worker);
    assertResult(job, "refunded by grace");
    assertResult(nobody, "not refunded");
    assertThat(done).containsExactly("refund O1");
  }

  // ---- fan-out, fan-in

  // region fan
  Object thumbnails(List<String> pictures, JobContext context) {
    List<Child> children =
        context.spawn(
            "thumbnails",
            pictures.stream().map(each -> Job.of("thumbnail", each).maxAttempts(2)).toList());
    List<ChildEnd> ends = context.join("all", children, Join.COLLECT);
    List<JobId> failed =
        ends.stream().filter(end -> end.state() != JobState.SUCCEEDED).map(ChildEnd::job).toList();
    context.step("report", () -> done.add(failed.size() + " of " + ends.size() + " failed"));
    return failed.size();
  }

  // endregion

  @Test
  void many_jobs_run_and_one_goes_on_with_what_became_of_all() {
    JobId job = enqueue("thumbnails", List.of("a.png", "b.txt", "c.png"));
    holdfast
        .worker("default")
        .handle(
            Kind.of(
                    "thumbnails",
                    new PayloadType<List<String>>() {},
                    cutOffAfterEach(this::thumbnails))
                .retry(RetryPolicy.NONE))
        .handle(
            "thumbnail",
            String.class,
            RetryPolicy.NONE,
            (picture, context) -> {
              if (!picture.endsWith(".png")) {
                throw new IllegalArgumentException("no picture: " + picture);
              }
              return null;
            })
        .drain();
    assertResult(job, 1);
    assertThat(done).containsExactly("1 of 3 failed");
    assertThat(holdfast).enqueued("thumbnail").times(3);
  }

  // ---- timeouts

  private record Invoice(String number) {}

  private record Payment(long cents) {}

  // region remind
  Object collect(Invoice invoice, JobContext context) {
    context.step("send", () -> done.add("invoice " + invoice.number()));
    Optional<Payment> paid = context.await("payment", Payment.class, Duration.ofDays(14));
    for (int reminder = 1; paid.isEmpty() && reminder <= 2; reminder++) {
      String id = "reminder-" + reminder;
      context.step(id, () -> done.add(id));
      paid = context.await("after-" + id, "payment", PAYMENT, Duration.ofDays(7));
    }
    return paid.isPresent() ? "paid" : "handed over";
  }

  // endregion

  private static final PayloadType<Payment> PAYMENT = PayloadType.of(Payment.class);

  @Test
  void a_wait_that_was_in_vain_is_followed_by_a_reminder(TestTime time) {
    WorkerBuilder worker = worker("collect", Invoice.class, this::collect);
    JobId late = enqueue("collect", new Invoice("I1"));
    time.advance(Duration.ofDays(15), worker);
    assertThat(done).containsExactly("invoice I1", "reminder-1");
    holdfast.signal(late, "payment", new Payment(4_200));
    time.advance(Duration.ZERO, worker);
    assertResult(late, "paid");
    done.clear();

    JobId never = enqueue("collect", new Invoice("I2"));
    time.advance(Duration.ofDays(28), worker);
    assertResult(never, "handed over");
    assertThat(done).containsExactly("invoice I2", "reminder-1", "reminder-2");
  }

  // region deadline
  Object quote(String part, JobContext context) {
    Job ask = Job.of("ask-supplier", part).deadline(Instant.now().plus(Duration.ofHours(1)));
    Child supplier = context.spawn("supplier", ask); // only the first call counts
    ChildEnd end = context.join("answer", List.of(supplier), Join.COLLECT).getFirst();
    return end.state() == JobState.SUCCEEDED ? "quoted" : "no answer in an hour";
  }

  // endregion

  @Test
  void a_job_that_takes_too_long_ends_by_its_deadline(TestTime time) {
    WorkerBuilder worker =
        worker("quote", String.class, this::quote)
            .handle(
                "ask-supplier",
                String.class,
                (part, context) -> context.await("answer", String.class));
    JobId job = enqueue("quote", "P1");
    JobId answered = enqueue("quote", "P2");
    time.advance(Duration.ofMinutes(59), worker);
    assertThat(status(job).state()).isEqualTo(JobState.WAITING);
    JobId asked = assertThat(holdfast).enqueued("ask-supplier").withPayload("P2").once().id();
    holdfast.signal(asked, "answer", "42 cents");
    time.advance(Duration.ofMinutes(2), worker);
    assertResult(job, "no answer in an hour");
    assertResult(answered, "quoted");
    assertThat(
            Optional.ofNullable(
                    assertThat(holdfast)
                        .enqueued("ask-supplier")
                        .withPayload("P1")
                        .once()
                        .failure())
                .map(Failure::code))
        .contains(Failure.DEADLINE_EXCEEDED);
  }

  // ---- a loop without end

  private record Subscription(String id, int year) {}

  // region loop
  Object bill(Subscription subscription, JobContext context) {
    for (int month = 1; month <= 12; month++) {
      String bill = subscription.id() + " " + subscription.year() + "-" + month;
      context.step("bill-" + month, () -> done.add(bill));
      context.sleep("month-" + month, Duration.ofDays(30));
    }
    return context.continueAs(new Subscription(subscription.id(), subscription.year() + 1));
  }

  // endregion

  @Test
  void a_loop_without_end_is_a_chain_of_jobs(TestTime time) {
    holdfast.enqueue(Job.of("bill", new Subscription("S1", 2030)).uniqueKey("S1").maxAttempts(100));
    time.advance(Duration.ofDays(12 * 30 + 1), worker("bill", Subscription.class, this::bill));
    assertThat(done).hasSize(13).doesNotHaveDuplicates().endsWith("S1 2030-12", "S1 2031-1");
    assertThat(holdfast).enqueued("bill").inState(JobState.WAITING).once();
    assertThat(holdfast).enqueued("bill").inState(JobState.SUCCEEDED).once();
  }
}
