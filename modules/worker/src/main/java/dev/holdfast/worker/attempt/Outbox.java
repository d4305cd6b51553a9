package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Loop;
import dev.holdfast.worker.source.SourceBusyException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Collects what running jobs want written and writes it in batches: all that came in while one
 * batch was under way is the next one. Each caller gets the answer for its own row, after the
 * commit.
 *
 * <p>What a job reports is written before it is settled. While the source is unavailable entries
 * wait here; there are no more of them than jobs in flight and their unanswered reports.
 */
public final class Outbox {
  private static final int BATCH = 500;
  private static final int BATCH_CHARS = 8 << 20;
  private static final Duration IDLE = Duration.ofMinutes(1);

  /** After a large batch the next one is gathered for so long, or until it is half as large. */
  private static final Duration GATHER = Duration.ofMillis(2);

  private static final int LARGE = 20;
  private static final int TRIES_APART = 5;
  private static final Duration FIRST_PAUSE_APART = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE_APART = Duration.ofSeconds(2);

  private record Entry(
      @Nullable Report report, @Nullable Settlement settlement, CompletableFuture<Ack> answer) {
    int chars() {
      if (report instanceof Report.Log log) {
        return log.text().length();
      }
      Json json =
          settlement instanceof Settlement.Succeed succeed
              ? succeed.result()
              : report instanceof Report.Event event ? event.data() : null;
      return json == null ? 0 : json.text().length();
    }
  }

  private final JobSource source;
  private final LongSupplier nanos;
  private final ConcurrentLinkedQueue<Entry> entries = new ConcurrentLinkedQueue<>();
  private final Set<Entry> apart = ConcurrentHashMap.newKeySet();
  private final Loop loop = new Loop("outbox", this::runOnce);
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicBoolean idle = new AtomicBoolean();
  private volatile int enough = 1;
  private volatile List<Entry> batch = List.of();
  private volatile boolean closed;
  private long sentAt;

  public Outbox(JobSource source) {
    this(source, System::nanoTime);
  }

  public Outbox(JobSource source, LongSupplier nanos) {
    this.source = source;
    this.nanos = nanos;
  }

  public void start() {
    loop.start();
  }

  CompletableFuture<Ack> report(Report report) {
    return add(new Entry(report, null, new CompletableFuture<>()));
  }

  CompletableFuture<Ack> settle(Settlement settlement) {
    return add(new Entry(null, settlement, new CompletableFuture<>()));
  }

  /** For a row that the handler's own transaction may hold locked: no other entry waits for it. */
  CompletableFuture<Ack> settleApart(Settlement settlement) {
    Entry entry = new Entry(null, settlement, new CompletableFuture<>());
    sendApart(entry);
    return entry.answer;
  }

  private CompletableFuture<Ack> add(Entry entry) {
    entries.add(entry);
    if (waiting.incrementAndGet() >= enough || idle.getAndSet(false)) {
      loop.wake();
    }
    failIfClosed(List.of(entry));
    return entry.answer;
  }

  /** Called after an entry was added: either close() finds the entry, or this finds it closed. */
  private void failIfClosed(Iterable<Entry> unanswered) {
    if (closed) {
      unanswered.forEach(entry -> entry.answer.completeExceptionally(new StoppedException()));
    }
  }

  /** Writes what is there, as one batch; package-private for tests. */
  Duration runOnce() {
    // A batch that could not be sent is kept, and sent again before anything newer.
    batch = batch.stream().filter(this::isLeft).toList();
    if (batch.isEmpty()) {
      // Set before the look at the entries: a thread that adds one after it sees this and wakes the
      // loop.
      idle.set(true);
      int found = waiting.get();
      if (found == 0) {
        enough = 1;
        return IDLE;
      }
      idle.set(false);
      Duration gather = GATHER.minusNanos(nanos.getAsLong() - sentAt);
      if (found < enough && gather.isPositive()) {
        return gather;
      }
      batch = next();
      failIfClosed(batch);
    }
    send(batch, Entry::report, source::report);
    send(batch, Entry::settlement, source::settle);
    sentAt = nanos.getAsLong();
    enough = batch.size() < LARGE ? 1 : batch.size() / 2;
    return Duration.ZERO;
  }

  private boolean isLeft(Entry entry) {
    return !entry.answer.isDone() && (apart.isEmpty() || !apart.contains(entry));
  }

  private List<Entry> next() {
    List<Entry> taken = new ArrayList<>();
    long chars = 0;
    Entry entry;
    while (taken.size() < BATCH && chars < BATCH_CHARS && (entry = entries.poll()) != null) {
      taken.add(entry);
      chars += entry.chars();
    }
    waiting.addAndGet(-taken.size());
    return taken;
  }

  private <I> void send(
      List<Entry> all, Function<Entry, @Nullable I> item, Function<List<I>, List<Ack>> verb) {
    List<Entry> mine = new ArrayList<>();
    List<I> items = new ArrayList<>();
    for (Entry entry : all) {
      I wanted = item.apply(entry);
      if (wanted != null && isLeft(entry)) {
        mine.add(entry);
        items.add(wanted);
      }
    }
    if (!mine.isEmpty()) {
      send(mine, items, verb);
    }
  }

  private <I> void send(List<Entry> mine, List<I> items, Function<List<I>, List<Ack>> verb) {
    try {
      List<Ack> acks = verb.apply(items);
      for (int i = 0; i < mine.size(); i++) {
        mine.get(i).answer.complete(acks.get(i));
      }
    } catch (SourceBusyException locked) {
      // A row that another transaction holds locked must not hold up the others.
      mine.forEach(this::sendApart);
    } catch (SourceUnavailableException unavailable) {
      throw unavailable;
    } catch (RefusedException refused) {
      if (mine.size() == 1) {
        mine.getFirst().answer.completeExceptionally(refused);
        return;
      }
      // One row that cannot be written must not take the others with it.
      for (int i = 0; i < mine.size(); i++) {
        send(List.of(mine.get(i)), List.of(items.get(i)), verb);
      }
    } catch (RuntimeException e) {
      // Nor must one that fails for any other reason.
      mine.forEach(this::sendApart);
    }
  }

  private void sendApart(Entry entry) {
    apart.add(entry);
    Thread.ofVirtual().name("holdfast-outbox-apart").start(() -> tryApart(entry));
  }

  private void tryApart(Entry entry) {
    Duration pause = FIRST_PAUSE_APART;
    for (int failed = 0; !entry.answer.isDone(); ) {
      try {
        entry.answer.complete(ask(entry));
      } catch (SourceUnavailableException unavailable) {
        // goes on as long as the worker does
      } catch (RuntimeException e) {
        if (e instanceof RefusedException || ++failed == TRIES_APART) {
          entry.answer.completeExceptionally(e);
        }
      }
      failIfClosed(List.of(entry));
      if (!entry.answer.isDone()) {
        LockSupport.parkNanos(Loop.jittered(pause).toNanos());
        Duration longer = pause.multipliedBy(2);
        pause = longer.compareTo(LONGEST_PAUSE_APART) < 0 ? longer : LONGEST_PAUSE_APART;
      }
    }
    apart.remove(entry);
  }

  private Ack ask(Entry entry) {
    List<Ack> acks =
        entry.settlement != null
            ? source.settle(List.of(entry.settlement))
            : entry.report != null ? source.report(List.of(entry.report)) : List.of();
    return acks.getFirst();
  }

  /** Writes no further batch. */
  public void end() {
    loop.end();
  }

  public boolean awaitEnd(Duration atMost) throws InterruptedException {
    return loop.awaitEnd(atMost);
  }

  /** Writes nothing any more, and fails the answers of all entries that are left. */
  public void close() {
    closed = true;
    loop.end();
    failIfClosed(batch);
    failIfClosed(entries);
    failIfClosed(apart);
  }

  /** The answer to what was not written before the worker stopped. */
  static final class StoppedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    StoppedException() {
      super("the worker has stopped");
    }
  }
}
