package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.SimpleFileServer;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.steps.Budgets;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Workspaces that cannot be made for now. */
@OnlyWithAll
class PreparationTest extends WorkspaceFixture {
  private static InetSocketAddress freePort() throws Exception {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), free.getLocalPort());
    }
  }

  @Test
  void an_origin_that_is_away_costs_no_attempt_no_reset_and_no_slot() throws Exception {
    budgets = new Budgets(1, LONG, LONG, 2, 0);
    sh("git clone -q --bare repo a.git; git -C a.git update-server-info");
    InetSocketAddress address = freePort();
    runtimes.put("edit", "echo more >> a.txt");
    JobId id = enqueue(awayFrom(address).maxAttempts(1));
    working();
    until(() -> timeline(id).contains("workspace:unprepared") && job(id).attempt() == 1);
    await(id, JobState.PENDING);
    assertThat(data(id, "workspace:unprepared")).contains("git clone failed", "\"seconds\": 5");
    assertThat(steps(id)).isEmpty();
    // Again and again, at no cost.
    dueNow(id);
    until(() -> job(id).attempt() == 2 && job(id).state() == JobState.PENDING);
    HttpServer server =
        SimpleFileServer.createFileServer(address, folder, SimpleFileServer.OutputLevel.NONE);
    server.start();
    try {
      dueNow(id);
      await(id, JobState.SUCCEEDED);
    } finally {
      server.stop(0);
    }
    assertThat(steps(id)).containsExactly("started", "finished");
    assertThat(holdfast.queries().step(id, "edit").orElseThrow().attempt()).isEqualTo(1);
    assertThat(holdfast.queries().step(id, "edit").orElseThrow().resets()).isZero();
    assertThat(job(id).failures()).isZero();
  }

  /** Its origin is at this address. */
  private static Job awayFrom(InetSocketAddress address) {
    return Job.of(
        "workspace",
        new WorkspaceJob(
            "x",
            new WorkspaceJob.Source(
                "http://127.0.0.1:%d/a.git".formatted(address.getPort()), "main"),
            List.of(new WorkspaceJob.Task("edit", null, null, "edit")),
            null,
            null));
  }

  private void dueNow(JobId id) {
    db.sql("UPDATE holdfast.job SET run_at = now() WHERE id = ?", id.value());
  }

  @Test
  void an_origin_that_is_not_there_fails_the_job_at_once() throws Exception {
    runtimes.put("edit", "echo more >> a.txt");
    sh("mv repo gone");
    JobId id = enqueued("edit");
    working();
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo("DETERMINISTIC_REPO");
    assertThat(failure(id).message()).contains("does not exist");
    assertThat(timeline(id)).doesNotContain("workspace:unprepared");
  }

  @Test
  void attempts_that_ended_for_other_reasons_are_no_waits() throws Exception {
    runtimes.put("edit", "echo more >> a.txt");
    JobId id = enqueue(awayFrom(freePort()));
    // As if it had been released by that many workers that were stopped.
    db.sql("UPDATE holdfast.job SET attempt = 150 WHERE id = ?", id.value());
    working();
    until(() -> timeline(id).contains("workspace:unprepared"));
    await(id, JobState.PENDING);
    assertThat(data(id, "workspace:unprepared")).contains("\"seconds\": 5");
  }
}
