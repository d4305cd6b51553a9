package dev.holdfast.queue;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Everything that can be done to a job, each with what makes it possible. */
enum Verb {
  CLAIM("claim") {
    @Override
    void on(Subject job) {
      job.store()
          .jobs()
          .claim(new ClaimRequest(job.job().queue(), 1, "another", QueueFixture.LEASE));
    }
  },
  CLAIM_REMOTELY("claim") {
    @Override
    void on(Subject job) {
      job.store()
          .jobs()
          .claim(new ClaimRequest(job.job().queue(), 1, "another", QueueFixture.LEASE).remote());
    }
  },
  HEARTBEAT("heartbeat") {
    @Override
    void on(Subject job) {
      job.store().jobs().heartbeat(List.of(job.lease()), QueueFixture.LEASE);
    }
  },
  REPORT_A_VERSION("report") {
    @Override
    void on(Subject job) {
      job.store().jobs().report(List.of(new Report.Version(job.lease(), 1)));
    }
  },
  REPORT("report") {
    @Override
    void on(Subject job) {
      job.store().jobs().report(List.of(new Report.Progress(job.lease(), 50, "half")));
    }
  },
  LOG("log") {
    @Override
    void on(Subject job) {
      job.store()
          .jobs()
          .log(new LogLines(job.lease(), 1L, List.of("half"), (before, added) -> added));
    }
  },
  PUBLISH("publish") {
    @Override
    void on(Subject job) {
      List<Artifact> files = List.of(new Artifact("a", 1, "0".repeat(64)));
      job.store().jobs().publish(new Publication(job.lease(), "store", files, null));
    }
  },
  COMPLETE("complete") {
    @Override
    void on(Subject job) {
      job.store()
          .jobs()
          .complete(
              new Completion(
                  QueueFixture.succeed(job.lease()),
                  "SUCCEEDED",
                  "d",
                  "w",
                  null,
                  null,
                  null,
                  null));
    }
  },
  SUCCEED("settle") {
    @Override
    void on(Subject job) {
      job.store().jobs().settle(QueueFixture.succeed(job.lease()));
    }
  },
  SUCCEED_IN_TRANSACTION("succeed") {
    @Override
    void on(Subject job) throws SQLException {
      try (Connection connection = job.db().connection()) {
        connection.setAutoCommit(false);
        job.store().jobs().succeed(connection, QueueFixture.succeed(job.lease()));
        connection.commit();
      }
    }
  },
  FAIL_RETRYABLE("settle") {
    @Override
    void on(Subject job) {
      job.store()
          .jobs()
          .settle(new Settlement.Fail(job.lease(), QueueFixture.FLAKY, Duration.ofMinutes(1)));
    }
  },
  FAIL_FOR_GOOD("settle") {
    @Override
    void on(Subject job) {
      job.store().jobs().settle(QueueFixture.fail(job.lease(), QueueFixture.HOPELESS));
    }
  },
  FAIL_AT_THE_END_OF_THE_BUDGET("settle") {
    @Override
    void on(Subject job) {
      job.set("failures = max_attempts - 1");
      job.store().jobs().settle(QueueFixture.fail(job.lease(), QueueFixture.FLAKY));
    }
  },
  FAIL_WHILE_CANCELLING("settle") {
    @Override
    void on(Subject job) {
      job.askToCancel();
      job.store().jobs().settle(QueueFixture.fail(job.lease(), QueueFixture.FLAKY));
    }
  },
  CANCEL("cancel") {
    @Override
    void on(Subject job) {
      job.store().jobs().cancel(List.of(job.id()), true, "not needed", Tenant.ANY);
    }
  },
  CANCELLED_BY_THE_WORKER("settle") {
    @Override
    void on(Subject job) {
      job.askToCancel();
      job.store().jobs().settle(new Settlement.Cancel(job.lease(), null));
    }
  },
  RELEASE("settle") {
    @Override
    void on(Subject job) {
      job.store().jobs().settle(new Settlement.Release(job.lease(), true));
    }
  },
  RELEASE_WHILE_CANCELLING("settle") {
    @Override
    void on(Subject job) {
      job.askToCancel();
      job.store().jobs().settle(new Settlement.Release(job.lease(), false));
    }
  },
  CONTINUE("settle") {
    @Override
    void on(Subject job) {
      job.store().jobs().settle(new Settlement.Continue(job.lease(), new Json("2")));
    }
  },
  SNOOZE("settle") {
    @Override
    void on(Subject job) {
      job.store().jobs().settle(new Settlement.Snooze(job.lease(), Duration.ofMinutes(1)));
    }
  },
  GIVE_BACK_UNDELIVERED("undelivered") {
    @Override
    void on(Subject job) {
      job.store().jobs().undelivered(job.lease(), QueueFixture.FLAKY, Duration.ofMinutes(1));
    }
  },
  GIVE_BACK_UNDELIVERED_WHILE_CANCELLING("undelivered") {
    @Override
    void on(Subject job) {
      job.askToCancel();
      job.store().jobs().undelivered(job.lease(), QueueFixture.FLAKY, Duration.ofMinutes(1));
    }
  },
  REFUSE_UNDELIVERED("undelivered") {
    @Override
    void on(Subject job) {
      job.store().jobs().undelivered(job.lease(), QueueFixture.HOPELESS, Duration.ZERO);
    }
  },
  GIVE_BACK_DELIVERED("undelivered") {
    @Override
    void on(Subject job) {
      job.store().jobs().heartbeat(List.of(job.lease()), QueueFixture.LEASE);
      job.store().jobs().undelivered(job.lease(), QueueFixture.HOPELESS, Duration.ZERO);
    }
  },
  RETRY("retry") {
    @Override
    void on(Subject job) {
      job.store().jobs().retry(List.of(job.id()), Tenant.ANY);
    }
  },
  SEND_BACK_TO_A_STEP("command") {
    @Override
    void on(Subject job) {
      job.hasStep("s1");
      job.store()
          .jobs()
          .command(
              job.id(),
              new JobCommand(CommandAction.RESUME_FROM_STEP, "s1", "ada", "once more"),
              Tenant.ANY);
    }
  },
  REAP {
    @Override
    void on(Subject job) {
      job.loseLease();
      job.store().maintenance().reap(Duration.ZERO);
    }
  },
  REAP_TOXIC {
    @Override
    void on(Subject job) {
      job.loseLease();
      job.set("crashes = max_crashes");
      job.store().maintenance().reap(Duration.ZERO);
    }
  },
  REAP_WHILE_CANCELLING {
    @Override
    void on(Subject job) {
      job.loseLease();
      job.askToCancel();
      job.store().maintenance().reap(Duration.ZERO);
    }
  },
  EXPIRE_CANCELLATION {
    @Override
    void on(Subject job) {
      job.askToCancel();
      job.setIfRunning("cancel_deadline = now() - interval '1 s'");
      job.store().maintenance().expire();
    }
  },
  EXPIRE_ATTEMPT {
    @Override
    void on(Subject job) {
      job.set("timeout_ms = 1");
      job.setIfRunning("started_at = now() - interval '1 hour'");
      job.store().maintenance().expire();
    }
  },
  EXPIRE_LAST_ATTEMPT {
    @Override
    void on(Subject job) {
      job.set("timeout_ms = 1, failures = max_attempts - 1");
      job.setIfRunning("started_at = now() - interval '1 hour'");
      job.store().maintenance().expire();
    }
  },
  EXPIRE_JOB {
    @Override
    void on(Subject job) {
      job.set("deadline = now() - interval '1 hour'");
      job.store().maintenance().expire();
    }
  },
  PROMOTE {
    @Override
    void on(Subject job) {
      job.set("run_at = now() - interval '1 s'");
      job.store().maintenance().promote();
    }
  },
  UNBLOCK {
    @Override
    void on(Subject job) {
      job.endTheOneBefore(true);
      job.promote();
    }
  },
  UNBLOCK_TO_RUN_ANYWAY {
    @Override
    void on(Subject job) {
      job.set("when_dependency_fails = 'RUN'");
      job.endTheOneBefore(false);
      job.promote();
    }
  },
  UNBLOCK_TO_CANCEL {
    @Override
    void on(Subject job) {
      job.set("when_dependency_fails = 'CANCEL'");
      job.endTheOneBefore(false);
      job.promote();
    }
  },
  UNBLOCK_TO_FAIL {
    @Override
    void on(Subject job) {
      job.set("when_dependency_fails = 'FAIL'");
      job.endTheOneBefore(false);
      job.promote();
    }
  },
  SUSPEND("suspend") {
    @Override
    void on(Subject job) {
      job.store()
          .jobs()
          .suspend(new Suspension(job.lease(), 1, new Wait.ForSignal("w", "go", null)));
    }
  },
  SUSPEND_WHILE_CANCELLING("suspend") {
    @Override
    void on(Subject job) {
      job.askToCancel();
      job.store()
          .jobs()
          .suspend(new Suspension(job.lease(), 1, new Wait.ForSignal("w", "go", null)));
    }
  },
  START_CHILDREN("startChildren") {
    @Override
    void on(Subject job) {
      job.store()
          .jobs()
          .startChildren(new Children(job.lease(), "c", 1, List.of(Job.of("test")), 1));
    }
  },
  SIGNAL("signal") {
    @Override
    void on(Subject job) {
      job.store().jobs().signal(job.id(), GO, Tenant.ANY);
    }
  },
  SIGNAL_THAT_IS_AWAITED("signal") {
    @Override
    void on(Subject job) {
      job.waitsFor("SIGNAL", "\"name\": \"go\"");
      job.store().jobs().signal(job.id(), GO, Tenant.ANY);
    }
  },
  DECIDE("decide") {
    @Override
    void on(Subject job) {
      job.store().jobs().decide(job.id(), "w", YES, Role.ADMIN, Tenant.ANY);
    }
  },
  DECIDE_WHAT_IS_ASKED("decide") {
    @Override
    void on(Subject job) {
      job.waitsFor("APPROVAL", "\"question\": {\"role\": \"OPERATOR\"}");
      job.store().jobs().decide(job.id(), "w", YES, Role.OPERATOR, Tenant.ANY);
    }
  },
  WAKE {
    @Override
    void on(Subject job) {
      job.waitsFor("SLEEP", "\"name\": \"\"");
      job.store().maintenance().promote();
    }
  },
  WAKE_A_PARENT {
    @Override
    void on(Subject job) {
      job.waitsFor("CHILDREN", "\"started\": [\"c\"], \"any\": false, \"failFast\": true");
      job.store().maintenance().promote();
    }
  },
  FORK("fork") {
    @Override
    void on(Subject job) {
      job.hasStep("s1");
      job.store().jobs().fork(job.id(), new JobFork("s1", 1, null, null), "ada", Tenant.ANY);
    }
  },
  EDIT("edit") {
    @Override
    void on(Subject job) {
      job.store().jobs().edit(job.id(), JobEdit.NOTHING.priority(1), Tenant.ANY);
    }
  },
  DELETE("delete") {
    @Override
    void on(Subject job) {
      job.store().jobs().delete(job.id(), Tenant.ANY);
    }
  },
  RETAIN {
    @Override
    void on(Subject job) {
      job.set("finished_at = finished_at - interval '1 day'");
      for (JobState state : JobState.TERMINAL) {
        job.store().maintenance().retain(state, Duration.ofHours(1));
      }
    }
  },
  PAUSE_AND_RESUME {
    @Override
    void on(Subject job) {
      job.store().admin().pause(job.job().queue());
      job.store().admin().resume(job.job().queue());
    }
  },
  ENQUEUE_AGAIN("enqueue") {
    @Override
    void on(Subject job) {
      job.store().jobs().enqueue(job.job());
    }
  },
  ENQUEUE_ONCE_MORE("enqueueOnce") {
    @Override
    void on(Subject job) {
      job.store().jobs().enqueueOnce("scope", job.id().toString(), "d", List.of(job.job()));
    }
  };

  private static final SignalToJob GO = new SignalToJob("go", new Json("1"), null, "");
  private static final Decision YES = new Decision(true, "ada", "");

  private final @Nullable String method;

  Verb() {
    this(null);
  }

  /**
   * @param method that of {@link JobQueue} that it calls; null if it is a verb of another class
   */
  Verb(@Nullable String method) {
    this.method = method;
  }

  @Nullable String method() {
    return method;
  }

  abstract void on(Subject job) throws SQLException;
}
