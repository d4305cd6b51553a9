package dev.holdfast.worker;

import dev.holdfast.model.Ack;
import dev.holdfast.model.Report;
import dev.holdfast.model.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Collects what running jobs want written and writes it in batches: all that came in while one
 * batch was under way is the next one. Each caller gets the answer for its own row, after the
 * commit.
 *
 * <p>What a job reports is written before it is settled. While the source is away entries wait
 * here; there are no more of them than jobs in flight and their unanswered reports.
 */
final class Outbox implements AutoCloseable {
  private static final int BATCH = 500;
  private static final Duration IDLE = Duration.ofMinutes(1);

  private record Entry(
      @Nullable Report report, @Nullable Settlement settlement, CompletableFuture<Ack> answer) {}

  private final JobSource source;
  private final ConcurrentLinkedQueue<Entry> entries = new ConcurrentLinkedQueue<>();
  private final Loop loop = new Loop("outbox", this::runOnce);
  private List<Entry> batch = List.of();
  private volatile boolean closed;

  Outbox(JobSource source) {
    this.source = source;
  }

  void start() {
    loop.start();
  }

  CompletableFuture<Ack> report(Report report) {
    return add(new Entry(report, null, new CompletableFuture<>()));
  }

  CompletableFuture<Ack> settle(Settlement settlement) {
    return add(new Entry(null, settlement, new CompletableFuture<>()));
  }

  private CompletableFuture<Ack> add(Entry entry) {
    if (closed) {
      entry.answer.completeExceptionally(new IllegalStateException("the worker has stopped"));
    } else {
      entries.add(entry);
      loop.wake();
    }
    return entry.answer;
  }

  private Duration runOnce() {
    // A batch that could not be sent is kept, and sent again before anything newer.
    batch = batch.stream().filter(e -> !e.answer.isDone()).toList();
    if (batch.isEmpty()) {
      batch = next();
    }
    if (batch.isEmpty()) {
      return IDLE;
    }
    send(batch, Entry::report, source::report);
    send(batch, Entry::settlement, source::settle);
    return Duration.ZERO;
  }

  private List<Entry> next() {
    List<Entry> taken = new ArrayList<>();
    Entry entry;
    while (taken.size() < BATCH && (entry = entries.poll()) != null) {
      taken.add(entry);
    }
    return taken;
  }

  private <I> void send(
      List<Entry> all, Function<Entry, @Nullable I> item, Function<List<I>, List<Ack>> verb) {
    List<Entry> mine = new ArrayList<>();
    List<I> items = new ArrayList<>();
    for (Entry entry : all) {
      I wanted = item.apply(entry);
      if (wanted != null && !entry.answer.isDone()) {
        mine.add(entry);
        items.add(wanted);
      }
    }
    if (!mine.isEmpty()) {
      send(mine, items, verb);
    }
  }

  private static <I> void send(List<Entry> mine, List<I> items, Function<List<I>, List<Ack>> verb) {
    try {
      List<Ack> acks = verb.apply(items);
      for (int i = 0; i < acks.size(); i++) {
        mine.get(i).answer.complete(acks.get(i));
      }
    } catch (SourceUnavailableException away) {
      throw away;
    } catch (RuntimeException refused) {
      if (mine.size() == 1) {
        mine.getFirst().answer.completeExceptionally(refused);
        return;
      }
      // One row that cannot be written must not take the others with it.
      for (int i = 0; i < mine.size(); i++) {
        send(List.of(mine.get(i)), List.of(items.get(i)), verb);
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    loop.close();
    IllegalStateException stopped = new IllegalStateException("the worker has stopped");
    batch.forEach(entry -> entry.answer.completeExceptionally(stopped));
    entries.forEach(entry -> entry.answer.completeExceptionally(stopped));
  }
}
