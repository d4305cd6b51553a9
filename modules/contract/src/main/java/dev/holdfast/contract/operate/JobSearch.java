package dev.holdfast.contract.operate;

import dev.holdfast.contract.json.WireException;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.search.SearchSyntax;
import dev.holdfast.model.value.Limits;
import java.lang.reflect.RecordComponent;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs, in the words of requests and of the command line. What is given beside a search
 * replaces the same thing in it.
 *
 * @param state one or more, with commas between them
 * @param waits what its handler waits for: sleep, signal, approval or children
 * @param q text that the job must contain
 * @param createdAfter a time with its offset, as is the next
 */
public record JobSearch(
    @Nullable String state,
    @Nullable String queue,
    @Nullable String kind,
    @Nullable JobId runId,
    @Nullable JobId parentId,
    @Nullable String tag,
    @Nullable String waits,
    @Nullable String tenant,
    @Nullable String search,
    @Nullable String q,
    @Nullable String createdAfter,
    @Nullable String createdBefore) {
  /** Of its fields, and of the parameters of a request. */
  public static final List<String> NAMES =
      Stream.of(JobSearch.class.getRecordComponents()).map(RecordComponent::getName).toList();

  private static final int LONGEST_TEXT = 200;
  private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");
  private static final JobSearch ANY = of((String name) -> Optional.empty());

  public JobSearch {
    if (queue != null) {
      Limits.queue(queue);
    }
    if (kind != null) {
      Limits.kind(kind);
    }
    if (tag != null) {
      Limits.tag(tag);
    }
    if (tenant != null) {
      Limits.word("tenant", tenant);
    }
    q = q == null ? null : text(q);
  }

  /** Of the parameters of a request. */
  public static JobSearch of(Function<String, Optional<String>> parameters) {
    Function<String, @Nullable String> text = name -> parameters.apply(name).orElse(null);
    Function<String, @Nullable JobId> id =
        name -> parameters.apply(name).map(JobId::parse).orElse(null);
    return new JobSearch(
        text.apply("state"),
        text.apply("queue"),
        text.apply("kind"),
        id.apply("runId"),
        id.apply("parentId"),
        text.apply("tag"),
        text.apply("waits"),
        text.apply("tenant"),
        text.apply("search"),
        text.apply("q"),
        text.apply("createdAfter"),
        text.apply("createdBefore"));
  }

  /** A filter in words, which have no end that is a job: without it there would be more jobs. */
  public static JobSearch of(JobFilter filter) {
    String search = SearchSyntax.text(filter.content().text(null));
    return new JobSearch(
        filter.states().isEmpty()
            ? null
            : filter.states().stream()
                .sorted()
                .map(JobState::name)
                .collect(Collectors.joining(",")),
        filter.queue(),
        filter.kind(),
        filter.run(),
        filter.parent(),
        filter.tag(),
        filter.waits() == null ? null : filter.waits().name().toLowerCase(Locale.ROOT),
        filter.tenant(),
        search.isEmpty() ? null : search,
        filter.content().text(),
        moment(filter.from()),
        moment(filter.before()));
  }

  private static @Nullable String moment(@Nullable JobCursor end) {
    if (end != null && !end.isMoment()) {
      throw new IllegalArgumentException("the filter ends at job " + end.id());
    }
    return end == null ? null : end.createdAt().toString();
  }

  /** As parameters of a request, without those that are not given. */
  public Map<String, String> parameters() {
    Map<String, String> given = new LinkedHashMap<>();
    put(given, "state", state);
    put(given, "queue", queue);
    put(given, "kind", kind);
    put(given, "runId", runId);
    put(given, "parentId", parentId);
    put(given, "tag", tag);
    put(given, "waits", waits);
    put(given, "tenant", tenant);
    put(given, "search", search);
    put(given, "q", q);
    put(given, "createdAfter", createdAfter);
    put(given, "createdBefore", createdBefore);
    return given;
  }

  private static void put(Map<String, String> given, String name, @Nullable Object value) {
    if (value != null) {
      given.put(name, value.toString());
    }
  }

  /** Whether nothing is given. */
  public boolean hasNothing() {
    return equals(ANY);
  }

  /**
   * @param now what ages in the search are counted from
   */
  public JobFilter filter(Instant now) {
    JobFilter found = search == null ? JobFilter.ALL : SearchSyntax.parse(search, now);
    return found
        .states(state == null ? found.states() : states(state))
        .queue(queue == null ? found.queue() : queue)
        .kind(kind == null ? found.kind() : kind)
        .run(runId == null ? found.run() : runId)
        .parent(parentId == null ? found.parent() : parentId)
        .tag(tag == null ? found.tag() : tag)
        .waits(waits == null ? found.waits() : SearchSyntax.parse("waits:" + waits, now).waits())
        .tenant(tenant == null ? found.tenant() : tenant)
        .text(q == null ? found.content().text() : q)
        .from(createdAfter == null ? found.from() : moment(createdAfter))
        .before(createdBefore == null ? found.before() : moment(createdBefore));
  }

  private static Set<JobState> states(String list) {
    EnumSet<JobState> states = EnumSet.noneOf(JobState.class);
    for (String word : list.split(",", -1)) {
      try {
        states.add(JobState.valueOf(word.strip().toUpperCase(Locale.ROOT)));
      } catch (IllegalArgumentException unknown) {
        throw wrong(
            "a state is one of "
                + Stream.of(JobState.values())
                    .map(JobState::name)
                    .collect(Collectors.joining(", ")));
      }
    }
    return states;
  }

  private static JobCursor moment(String time) {
    try {
      Instant moment = OffsetDateTime.parse(time).toInstant();
      if (moment.isAfter(Instant.EPOCH) && moment.isBefore(LATEST)) {
        return JobCursor.at(moment);
      }
    } catch (DateTimeException malformed) {
      // answered below
    }
    throw wrong("a time is written like 2026-11-15T10:05:00Z, with its offset");
  }

  private static String text(String given) {
    if (given.isBlank() || given.length() > LONGEST_TEXT || given.indexOf('\0') >= 0) {
      throw wrong("parameter 'q' must have 1 to %d characters, and no NUL".formatted(LONGEST_TEXT));
    }
    return given.strip();
  }

  private static WireException wrong(String message) {
    return new WireException(WireException.Kind.WRONG_VALUE, message);
  }
}
