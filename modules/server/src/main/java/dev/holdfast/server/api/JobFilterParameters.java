package dev.holdfast.server.api;

import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.search.SearchSyntax;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the filter of a list of jobs from the parameters of a request. */
final class JobFilterParameters {
  private static final int LONGEST_TEXT = 200;
  private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");
  private static final List<String> NAMES =
      List.of(
          "state",
          "queue",
          "kind",
          "runId",
          "parentId",
          "tag",
          "tenant",
          "search",
          "q",
          "createdAfter",
          "createdBefore");

  private JobFilterParameters() {}

  /** The filter for tenants that the caller may see; null if that is none of those asked for. */
  static @Nullable JobFilter within(Caller caller, @Nullable String tenant, JobFilter filter) {
    if (tenant != null && !caller.sees(tenant)) {
      return null;
    }
    return filter.tenant(tenant == null ? caller.tenant() : tenant);
  }

  /** The names of the parameters of a filter, and others. */
  static String[] and(String... others) {
    return Stream.concat(NAMES.stream(), Stream.of(others)).toArray(String[]::new);
  }

  /**
   * Parameters apply beside a search, and instead of the same thing in it.
   *
   * @param now what ages in a search are counted from
   */
  static JobFilter filter(Call call, Instant now) {
    JobFilter filter =
        call.query("search").map(text -> SearchSyntax.parse(text, now)).orElse(JobFilter.ALL);
    return filter
        .states(call.query("state").map(JobFilterParameters::states).orElse(filter.states()))
        .queue(call.query("queue").map(Limits::queue).orElse(filter.queue()))
        .kind(call.query("kind").map(Limits::kind).orElse(filter.kind()))
        .run(call.query("runId").map(JobId::parse).orElse(filter.run()))
        .parent(call.query("parentId").map(JobId::parse).orElse(filter.parent()))
        .tag(call.query("tag").map(Limits::tag).orElse(filter.tag()))
        .text(call.query("q").map(JobFilterParameters::text).orElse(filter.content().text()))
        .from(call.query("createdAfter").map(JobFilterParameters::moment).orElse(filter.from()))
        .before(
            call.query("createdBefore").map(JobFilterParameters::moment).orElse(filter.before()));
  }

  static @Nullable JobFilter within(Call call, JobFilter filter) {
    String tenant =
        call.query("tenant").map(word -> Limits.word("tenant", word)).orElse(filter.tenant());
    return within(call.caller(), tenant, filter);
  }

  static JobCursor moment(String time) {
    try {
      Instant moment = OffsetDateTime.parse(time).toInstant();
      if (moment.isAfter(Instant.EPOCH) && moment.isBefore(LATEST)) {
        return JobCursor.at(moment);
      }
    } catch (DateTimeException malformed) {
      // answered below
    }
    throw new Problem(
        422, "invalid_value", "a time is written like 2026-11-15T10:05:00Z, with its offset");
  }

  static Set<JobState> states(String list) {
    EnumSet<JobState> states = EnumSet.noneOf(JobState.class);
    for (String word : list.split(",", -1)) {
      try {
        states.add(JobState.valueOf(word.strip().toUpperCase(Locale.ROOT)));
      } catch (IllegalArgumentException unknown) {
        throw new Problem(
            422,
            "invalid_value",
            "a state is one of "
                + EnumSet.allOf(JobState.class).stream()
                    .map(JobState::name)
                    .collect(Collectors.joining(", ")));
      }
    }
    return states;
  }

  /** Only what an index has: others would read all jobs to sort them. */
  static boolean oldestFirst(String order) {
    return switch (order) {
      case "newest" -> false;
      case "oldest" -> true;
      default ->
          throw new Problem(422, "invalid_value", "parameter 'order' is one of newest, oldest");
    };
  }

  static JobCursor cursor(String text) {
    try {
      return JobCursor.parse(text);
    } catch (RefusedException notOne) {
      throw new Problem(422, "invalid_value", "the cursor is not one that this server returned");
    }
  }

  static String text(String given) {
    if (given.isBlank() || given.length() > LONGEST_TEXT || given.indexOf('\0') >= 0) {
      throw new Problem(
          422,
          "invalid_value",
          "parameter 'q' must have 1 to %d characters, and no NUL".formatted(LONGEST_TEXT));
    }
    return given.strip();
  }
}
