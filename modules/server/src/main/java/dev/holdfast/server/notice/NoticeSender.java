package dev.holdfast.server.notice;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.value.Jitter;
import dev.holdfast.model.value.Text;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.queue.Notices;
import dev.holdfast.server.background.PeriodicTasks;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.dispatch.DispatchClient;
import dev.holdfast.server.dispatch.DispatchReply;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the receiver that the settings name of each question that a job asks. Any number of servers
 * do it together: whoever takes a notice holds it for a while, and another one tries it when that
 * is over. So a notice is received at least once, with the same id each time.
 */
public final class NoticeSender implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(NoticeSender.class);

  /** How soon a new question is seen. */
  public static final Duration LOOK = Duration.ofSeconds(1);

  /** How soon the notice of a decided question is seen to have nothing to tell. */
  public static final Duration TIDY = Duration.ofSeconds(10);

  /** Notices of jobs that are kept for longer are forgotten then. */
  public static final Duration KEPT = Duration.ofDays(30);

  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(10);

  /** Longer than a try takes, even on a machine that stalls. */
  private static final Duration HOLD = Duration.ofSeconds(30);

  private static final Duration FIRST_DELAY = Duration.ofSeconds(5);
  private static final Duration LONGEST_DELAY = Duration.ofMinutes(15);
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(2);

  /** A receiver that hangs holds no more. */
  private static final int MOST_AT_ONCE = 8;

  private static final int ERROR_CHARS = 300;

  private final Notices notices;
  private final ServerOptions.Receiver receiver;
  private final ApprovalLinks links;
  private final Supplier<URI> server;
  private final InstantSource clock;
  private final Consumer<Boolean> tried;
  private final DispatchClient client = new DispatchClient(ANSWER_WITHIN);
  private final Set<Thread> sending = ConcurrentHashMap.newKeySet();

  /** Held during a statement: a monitor would hold the carriers of virtual threads as well. */
  private final ReentrantLock lock = new ReentrantLock();

  private int room = MOST_AT_ONCE;
  private volatile boolean closed;

  /**
   * @param server where people reach this server
   * @param tried is told whether a try was received
   */
  public NoticeSender(
      Notices notices,
      ServerOptions.Receiver receiver,
      ApprovalLinks links,
      Supplier<URI> server,
      InstantSource clock,
      Consumer<Boolean> tried) {
    this.notices = notices;
    this.receiver = receiver;
    this.links = links;
    this.server = server;
    this.clock = clock;
    this.tried = tried;
    if (receiver.url().getScheme().equals("http") && !isLoopback(receiver.url().getHost())) {
      log.warn(
          "notices are sent to {} without encryption: whoever sees their links can decide",
          receiver.shown());
    }
  }

  private static boolean isLoopback(String host) {
    return host.equals("localhost") || host.startsWith("127.") || host.equals("[::1]");
  }

  /** Writes notices of new questions, and sends what is due. */
  public void look() {
    notices.writeNotices();
    sendDue();
  }

  private void sendDue() {
    lock.lock();
    try {
      if (room == 0 || closed) {
        return;
      }
      List<Notice.Try> due = notices.claimNotices(room, HOLD);
      room -= due.size();
      for (Notice.Try each : due) {
        Thread thread = Thread.ofVirtual().name("holdfast-notice").unstarted(() -> run(each));
        sending.add(thread);
        thread.start();
      }
    } finally {
      lock.unlock();
    }
  }

  private void ended() {
    lock.lock();
    try {
      room++;
      sending.remove(Thread.currentThread());
    } finally {
      lock.unlock();
    }
  }

  private void run(Notice.Try due) {
    try {
      send(due);
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException failed) {
      // Most likely the database cannot be reached. The notice is tried again once it is not held.
      if (!closed) {
        PeriodicTasks.logFailure(log, "the notice " + due.id(), failed);
      }
    } finally {
      ended();
    }
    // A backlog is not sent at the pace of the looks.
    try {
      sendDue();
    } catch (RuntimeException failed) {
      log.debug("due notices are looked for again: {}", failed.getMessage());
    }
  }

  private void send(Notice.Try due) throws InterruptedException {
    DispatchReply reply = posted(due);
    if (reply instanceof DispatchReply.Answered answer && answer.isTaken()) {
      tried.accept(true);
      notices.noticeDelivered(due, answer.status());
      return;
    }
    if (closed) {
      // It says nothing about the receiver.
      notices.noticeReleased(due);
      return;
    }
    tried.accept(false);
    Integer status = reply instanceof DispatchReply.Answered answer ? answer.status() : null;
    // Without the answer, which may repeat the notice and its link.
    String cause =
        status == null ? Text.excerpt(Text.inert(reply.shown()), ERROR_CHARS) : "status " + status;
    boolean said = notices.noticeFailed(due, status, cause, delay(due.attempt()));
    // A receiver that is down would fill the log; later tries are for health and the list.
    if (said && due.attempt() == 1) {
      log.warn(
          "notice {} of job {} was not received by {}, and is tried again: {}",
          due.id(),
          due.asked().job(),
          receiver.shown(),
          cause);
    }
  }

  private DispatchReply posted(Notice.Try due) throws InterruptedException {
    ApprovalLinks.Link link = links.to(due.asked().job(), open(due));
    byte[] body = Wire.write(ApprovalRequested.of(due.asked(), link, server.get()));
    String id = due.id().toString();
    Instant now = clock.instant();
    DispatchClient.Exchange exchange =
        client.post(
            receiver.url(),
            body,
            Map.of(
                "webhook-id", id,
                "webhook-timestamp", Long.toString(now.getEpochSecond()),
                "webhook-signature", receiver.secret().signature(id, now, body)),
            List.of());
    DispatchReply reply = exchange.await(ANSWER_WITHIN);
    exchange.abandon();
    return reply;
  }

  private static OpenWait open(Notice.Try due) {
    OpenWait open = due.asked().open();
    if (open == null) {
      throw new IllegalArgumentException("notice " + due.id() + " has no question");
    }
    return open;
  }

  /** Doubles with each try, up to a quarter of an hour. */
  static Duration delay(int attempt) {
    Duration delay = FIRST_DELAY.multipliedBy(1L << Math.min(attempt - 1, 10));
    return Jitter.aroundQuarter(delay.compareTo(LONGEST_DELAY) < 0 ? delay : LONGEST_DELAY);
  }

  @Override
  public void close() {
    closed = true;
    client.close();
    long until = System.nanoTime() + CLOSE_WITHIN.toNanos();
    for (Thread each : sending) {
      join(each, Duration.ofNanos(Math.max(1, until - System.nanoTime())));
    }
  }

  private static void join(Thread thread, Duration within) {
    try {
      var unused = thread.join(within);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
