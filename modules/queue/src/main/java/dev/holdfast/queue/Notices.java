package dev.holdfast.queue;

import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.notice.ClaimNotices;
import dev.holdfast.queue.notice.ForgetNotices;
import dev.holdfast.queue.notice.ReadNotices;
import dev.holdfast.queue.notice.SendAgain;
import dev.holdfast.queue.notice.SettleNotice;
import dev.holdfast.queue.notice.SupersedeNotices;
import dev.holdfast.queue.notice.WriteNotices;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What servers tell others of the questions that jobs ask. Any number of servers may work on them:
 * a try is fenced by its number.
 */
public final class Notices {
  private static final int BATCH = 1_000;

  private final Database database;

  Notices(Database database) {
    this.database = database;
  }

  /** Writes a notice for each question that has none; up to 1,000. */
  public int writeNotices() {
    return database.run("writeNotices", connection -> WriteNotices.of(connection, BATCH));
  }

  /**
   * Begins a try of notices that are due.
   *
   * @param hold how long no other server tries them
   */
  public List<Notice.Try> claimNotices(int most, Duration hold) {
    return database.run("claimNotices", connection -> ClaimNotices.of(connection, most, hold));
  }

  /** False when another try has begun since. */
  public boolean noticeDelivered(Notice.Try tried, int status) {
    return database.run(
        "noticeDelivered", connection -> SettleNotice.delivered(connection, tried, status));
  }

  /**
   * Tried again after a delay, or given up where that is too late.
   *
   * @param status that the receiver answered; null if it did not
   * @return false when another try has begun since
   */
  public boolean noticeFailed(
      Notice.Try tried, @Nullable Integer status, String error, Duration delay) {
    return database.run(
        "noticeFailed", connection -> SettleNotice.failed(connection, tried, status, error, delay));
  }

  /** Gives up a try, so that any server may begin another one at once. */
  public boolean noticeReleased(Notice.Try tried) {
    return database.run("noticeReleased", connection -> SettleNotice.released(connection, tried));
  }

  /** Ends notices whose questions are not asked any longer; up to 1,000. */
  public int supersedeNotices() {
    return database.run("supersedeNotices", connection -> SupersedeNotices.of(connection, BATCH));
  }

  /** Makes a notice due, whatever has become of it. */
  public Notice.Again sendNoticeAgain(UUID id, Tenant tenant) {
    return database.transact("sendNoticeAgain", connection -> SendAgain.of(connection, id, tenant));
  }

  /**
   * The newest first.
   *
   * @param state null for all
   */
  public List<Notice> notices(Notice.@Nullable State state, Tenant tenant, int most) {
    return database.run("notices", connection -> ReadNotices.list(connection, state, tenant, most));
  }

  /** What an operator should know. */
  public Notice.Trouble noticeTrouble() {
    return database.run("noticeTrouble", ReadNotices::trouble);
  }

  /** Deletes notices that have ended and are older than this; up to 1,000. */
  public int forgetNotices(Duration olderThan) {
    return database.run(
        "forgetNotices", connection -> ForgetNotices.of(connection, olderThan, BATCH));
  }
}
