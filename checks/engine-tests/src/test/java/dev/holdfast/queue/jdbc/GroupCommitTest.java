package dev.holdfast.queue.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GroupCommitTest {
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<List<Job>> batches = Collections.synchronizedList(new ArrayList<>());

  @AfterEach
  void close() {
    threads.shutdownNow();
  }

  private List<Enqueued> written(List<Job> jobs) {
    batches.add(jobs);
    return jobs.stream().map(job -> new Enqueued(job.id(), false)).toList();
  }

  @Test
  void a_lone_caller_writes_at_once_and_alone() {
    GroupCommit<Job, Enqueued> together = new GroupCommit<>(3, this::written);
    Job job = Job.of("alone");
    assertThat(together.ask(job).id()).isEqualTo(job.id());
    assertThat(batches).containsExactly(List.of(job));
  }

  @Test
  void calls_that_arrive_during_a_write_share_the_next_one() throws Exception {
    Semaphore begun = new Semaphore(0);
    CountDownLatch goOn = new CountDownLatch(1);
    GroupCommit<Job, Enqueued> together =
        new GroupCommit<>(
            3,
            jobs -> {
              begun.release();
              try {
                goOn.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              return written(jobs);
            });
    List<CompletableFuture<Enqueued>> all = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      all.add(CompletableFuture.supplyAsync(() -> together.ask(Job.of("x")), threads));
      if (i < 3) {
        begun.acquire(); // Whoever comes at the same moment would be taken along.
      }
    }
    // The other seven may still be arriving; none may be lost.
    goOn.countDown();
    for (CompletableFuture<Enqueued> each : all) {
      each.get();
    }
    assertThat(batches.stream().mapToInt(List::size).sum()).isEqualTo(10);
  }

  @Test
  void each_of_many_threads_gets_the_result_of_its_own_job() throws Exception {
    Set<JobId> durable = ConcurrentHashMap.newKeySet();
    GroupCommit<Job, Enqueued> together =
        new GroupCommit<>(
            3,
            jobs -> {
              if (ThreadLocalRandom.current().nextInt(50) == 0) {
                throw new DatabaseException(
                    DatabaseException.Reason.UNAVAILABLE, "away for a moment", null);
              }
              jobs.forEach(job -> durable.add(job.id()));
              return written(jobs);
            });
    List<CompletableFuture<Integer>> all = new ArrayList<>();
    for (int thread = 0; thread < 16; thread++) {
      all.add(
          CompletableFuture.supplyAsync(
              () -> {
                int refused = 0;
                for (int i = 0; i < 2_000; i++) {
                  Job job = Job.of("x");
                  try {
                    assertThat(together.ask(job).id()).isEqualTo(job.id());
                    assertThat(durable.contains(job.id())).isTrue();
                  } catch (DatabaseException unavailable) {
                    refused++;
                  }
                }
                return refused;
              },
              threads));
    }
    int refused = 0;
    for (CompletableFuture<Integer> each : all) {
      refused += each.get();
    }
    assertThat(durable).hasSizeGreaterThanOrEqualTo(32_000 - refused);
  }

  @Test
  void an_item_that_cannot_be_written_fails_no_other() throws Exception {
    Semaphore begun = new Semaphore(0);
    CountDownLatch goOn = new CountDownLatch(1);
    Job bad = Job.of("bad");
    GroupCommit<Job, Enqueued> together =
        new GroupCommit<>(
            3,
            jobs -> {
              begun.release();
              try {
                goOn.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              if (jobs.contains(bad)) {
                throw new RefusedException(Refusal.PAYLOAD_NOT_JSON, "no JSON");
              }
              return written(jobs);
            });
    List<CompletableFuture<Enqueued>> good = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      good.add(CompletableFuture.supplyAsync(() -> together.ask(Job.of("first")), threads));
      begun.acquire();
    }
    CompletableFuture<Enqueued> wrong =
        CompletableFuture.supplyAsync(() -> together.ask(bad), threads);
    for (int i = 0; i < 5; i++) {
      good.add(CompletableFuture.supplyAsync(() -> together.ask(Job.of("good")), threads));
    }
    goOn.countDown();
    Set<JobId> ids = new HashSet<>();
    for (CompletableFuture<Enqueued> each : good) {
      ids.add(each.get().id());
    }
    assertThat(ids).hasSize(8);
    assertThatThrownBy(wrong::get).hasCauseInstanceOf(RefusedException.class);
  }
}
