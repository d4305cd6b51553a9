package dev.holdfast.queue.notice;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.Notices;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What several servers do with notices at the same time, and how little a look reads. */
@ExtendWith(DatabaseExtension.class)
class NoticesTest {
  private final TestDatabase db;
  private final Holdfast holdfast;
  private final Notices notices;

  NoticesTest(TestDatabase db) {
    this.db = db;
    this.holdfast = Holdfast.on(db.dataSource());
    this.notices = holdfast.store().notices();
  }

  @AfterEach
  void close() {
    holdfast.close();
  }

  private void ask(int questions) {
    holdfast.enqueue(IntStream.range(0, questions).mapToObj(each -> Job.of("raise")).toList());
    Question question = Question.of("Raise the limit?");
    for (int asked = 0; asked < questions; ) {
      for (LeasedJob job :
          holdfast.jobs().claim(new ClaimRequest("default", 100, "w", SOON)).jobs()) {
        holdfast
            .jobs()
            .suspend(new Suspension(job.lease(), 1, new Wait.ForApproval("limit", question)));
        asked++;
      }
    }
  }

  @Test
  void a_look_for_new_questions_reads_none_that_was_told() {
    ask(300);
    assertThat(notices.writeNotices()).isEqualTo(300);
    db.sql("ANALYZE holdfast.job");
    String plan =
        db
            .query(
                "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT j.id FROM holdfast.job j"
                    + " WHERE j.wait_sort = 'APPROVAL' AND (j.wait -> 'noticed') IS NULL"
                    + " ORDER BY j.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED")
            .stream()
            .map(row -> row.values().toString())
            .collect(Collectors.joining("\n"));
    assertThat(plan).contains("job_unnoticed").doesNotContain("Seq Scan");
  }

  @Test
  void of_several_servers_one_writes_a_notice_and_one_tries_it() throws Exception {
    for (int round = 0; round < 10; round++) {
      ask(20);
      List<Notice.Try> tried = Collections.synchronizedList(new ArrayList<>());
      Callable<Boolean> server =
          () -> {
            for (int look = 0; look < 5; look++) {
              notices.writeNotices();
              tried.addAll(notices.claimNotices(3, SOON));
            }
            return true;
          };
      try (ExecutorService servers = Executors.newVirtualThreadPerTaskExecutor()) {
        servers.invokeAll(Collections.nCopies(4, server));
      }
      List<Notice> all = notices.notices(null, Tenant.ANY, Notice.MOST);
      assertThat(all).hasSize(20 * (round + 1));
      assertThat(tried.stream().map(Notice.Try::id).toList()).doesNotHaveDuplicates();
      assertThat(tried).allMatch(each -> each.attempt() == 1);
      tried.forEach(each -> assertThat(notices.noticeDelivered(each, 200)).isTrue());
      List<Notice.Try> rest = notices.claimNotices(Notice.MOST, SOON);
      rest.forEach(each -> assertThat(notices.noticeDelivered(each, 200)).isTrue());
    }
    assertThat(notices.notices(Notice.State.DELIVERED, Tenant.ANY, Notice.MOST)).hasSize(200);
  }

  @Test
  void only_the_last_try_says_what_became_of_a_notice() {
    ask(1);
    notices.writeNotices();
    Notice.Try first = notices.claimNotices(1, Duration.ZERO).getFirst();
    Notice.Try second = notices.claimNotices(1, SOON).getFirst();
    assertThat(second.attempt()).isEqualTo(first.attempt() + 1);
    assertThat(notices.noticeFailed(first, 500, "late", Duration.ZERO)).isFalse();
    assertThat(notices.noticeReleased(first)).isFalse();
    assertThat(notices.noticeDelivered(first, 200)).isFalse();
    assertThat(notices.noticeFailed(second, 500, "status 500", Duration.ofDays(2))).isTrue();
    Notice given = notices.notices(null, Tenant.ANY, 1).getFirst();
    assertThat(given.state()).isEqualTo(Notice.State.GIVEN_UP);
    assertThat(notices.noticeTrouble()).isEqualTo(new Notice.Trouble(0, null, 1));
    assertThat(notices.sendNoticeAgain(given.id(), Tenant.ANY)).isEqualTo(Notice.Again.ACCEPTED);
    assertThat(notices.claimNotices(1, SOON).getFirst().attempt()).isEqualTo(3);
    assertThat(notices.noticeDelivered(second, 200)).isFalse();
    assertThat(notices.sendNoticeAgain(UUID.randomUUID(), Tenant.ANY))
        .isEqualTo(Notice.Again.NO_SUCH_NOTICE);
  }

  @Test
  void a_notice_that_is_not_received_is_trouble_while_its_question_is_asked() {
    ask(1);
    notices.writeNotices();
    Notice.Try tried = notices.claimNotices(1, Duration.ZERO).getFirst();
    while (tried.attempt() < 3) {
      tried = notices.claimNotices(1, Duration.ZERO).getFirst();
    }
    assertThat(notices.noticeFailed(tried, 500, "status 500", SOON)).isTrue();
    assertThat(notices.noticeTrouble()).isEqualTo(new Notice.Trouble(1, "status 500", 0));
    holdfast.cancel(tried.asked().job(), "enough");
    assertThat(notices.noticeTrouble()).isEqualTo(new Notice.Trouble(0, null, 0));
  }

  @Test
  void a_notice_that_is_received_while_its_question_is_decided_was_received() {
    ask(1);
    notices.writeNotices();
    Notice.Try tried = notices.claimNotices(1, SOON).getFirst();
    holdfast.cancel(tried.asked().job(), "enough");
    assertThat(notices.supersedeNotices()).isOne();
    assertThat(notices.noticeDelivered(tried, 200)).isTrue();
    assertThat(notices.notices(null, Tenant.ANY, 1).getFirst().state())
        .isEqualTo(Notice.State.DELIVERED);
  }
}
