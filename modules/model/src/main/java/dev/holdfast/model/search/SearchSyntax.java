package dev.holdfast.model.search;

import dev.holdfast.model.job.JobContent;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.wait.WaitSort;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What people type to find jobs: {@code state:failed kind:mail age:<1h payload.customer:c499 text}.
 *
 * <p>Words without a known name before a colon are a text that the job must contain, in this order.
 * Double quotes keep blanks and colons together.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class SearchSyntax {
  public static final int LONGEST = 500;

  /** The names before a colon, besides {@code payload.} with a path. */
  public static final List<String> NAMES =
      List.of(
          "state", "queue", "kind", "age", "code", "failure", "run", "parent", "tag", "tenant",
          "waits");

  private static final String PAYLOAD = "payload.";
  private static final int DEEPEST = 10;

  private static final Pattern TOKEN =
      Pattern.compile("(?<name>[A-Za-z][^\\s:\"]*:)?(?<value>(?:\"[^\"]*\"?|[^\\s\"])*)");
  private static final Pattern AGE = Pattern.compile("([<>])\\s*(\\d{1,9})(s|m|min|h|d|w)");

  private final Instant now;
  private JobFilter filter = JobFilter.ALL;
  private final List<String> text = new ArrayList<>();

  private SearchSyntax(Instant now) {
    this.now = now;
  }

  /**
   * @param now what ages are counted from
   */
  public static JobFilter parse(String search, Instant now) {
    if (search.length() > LONGEST || search.indexOf('\0') >= 0) {
      throw refused("a search has %,d characters at most, and no NUL".formatted(LONGEST));
    }
    SearchSyntax syntax = new SearchSyntax(now);
    Matcher token = TOKEN.matcher(search);
    while (token.find()) {
      if (!token.group().isEmpty()) {
        syntax.take(token.group("name"), unquoted(token.group("value")));
      }
    }
    String text = String.join(" ", syntax.text).strip();
    return text.isEmpty() ? syntax.filter : syntax.filter.text(text);
  }

  /** The search that asks for this content. */
  public static String text(JobContent content) {
    List<String> words = new ArrayList<>();
    if (content.code() != null) {
      words.add("code:" + quoted(content.code()));
    }
    if (content.failure() != null) {
      words.add("failure:" + quoted(content.failure()));
    }
    for (JobContent.PayloadField field : content.payload()) {
      words.add(PAYLOAD + String.join(".", field.path()) + ":" + quoted(field.value()));
    }
    if (content.text() != null) {
      words.add(quoted(content.text()));
    }
    return String.join(" ", words);
  }

  /** There is no way to write a quote; a search never contains one. */
  private static String quoted(String value) {
    return "\"" + value.replace("\"", "") + "\"";
  }

  private static String unquoted(String value) {
    return value.replace("\"", "");
  }

  private void take(@Nullable String prefix, String value) {
    String name = prefix == null ? "" : prefix.substring(0, prefix.length() - 1);
    if (name.startsWith(PAYLOAD)) {
      filter = filter.content(filter.content().field(field(name, value)));
    } else if (!NAMES.contains(name)) {
      // A text may have a colon: a URL, the code of a failure before its message.
      text.add((prefix == null ? "" : prefix) + value);
    } else if (value.isEmpty()) {
      throw refused("'%s:' has no value".formatted(name));
    } else {
      named(name, value);
    }
  }

  private void named(String name, String value) {
    filter =
        switch (name) {
          case "state" -> filter.states(states(value));
          case "queue" -> filter.queue(value);
          case "kind" -> filter.kind(value);
          case "code" -> filter.content(filter.content().code(value));
          case "failure" -> filter.content(filter.content().failure(value));
          case "run" -> filter.run(JobId.parse(value));
          case "parent" -> filter.parent(JobId.parse(value));
          case "tag" -> filter.tag(value);
          case "tenant" -> filter.tenant(value);
          case "waits" -> filter.waits(sort(value));
          case "age" -> aged(value);
          default -> throw new IllegalArgumentException(name);
        };
  }

  private static WaitSort sort(String word) {
    return Stream.of(WaitSort.values())
        .filter(each -> each.name().equalsIgnoreCase(word))
        .findFirst()
        .orElseThrow(
            () ->
                refused(
                    "'waits:%s': a job waits for sleep, signal, approval or children"
                        .formatted(word)));
  }

  private static EnumSet<JobState> states(String list) {
    EnumSet<JobState> states = EnumSet.noneOf(JobState.class);
    for (String word : list.split(",", -1)) {
      try {
        states.add(JobState.valueOf(word.strip().toUpperCase(Locale.ROOT)));
      } catch (IllegalArgumentException unknown) {
        throw refused("'%s' is not a state".formatted(word));
      }
    }
    return states;
  }

  private JobFilter aged(String value) {
    Matcher age = AGE.matcher(value);
    if (!age.matches()) {
      throw refused("an age is written like age:<1h or age:>2d, with s, m, h, d or w");
    }
    JobCursor bound = JobCursor.at(now.minus(span(Long.parseLong(age.group(2)), age.group(3))));
    return age.group(1).equals("<") ? filter.from(bound) : filter.before(bound);
  }

  private Duration span(long count, String unit) {
    Duration span =
        switch (unit) {
          case "s" -> Duration.ofSeconds(count);
          case "m", "min" -> Duration.ofMinutes(count);
          case "h" -> Duration.ofHours(count);
          case "d" -> Duration.ofDays(count);
          default -> Duration.ofDays(7 * count);
        };
    Duration all = Duration.between(Instant.EPOCH, now);
    return span.compareTo(all) < 0 ? span : all.minusMillis(1);
  }

  private static JobContent.PayloadField field(String name, String value) {
    List<String> path = List.of(name.substring(PAYLOAD.length()).split("\\.", -1));
    if (path.size() > DEEPEST || path.contains("")) {
      throw refused("a field of the payload is written like payload.customer.id:7");
    }
    return new JobContent.PayloadField(path, value);
  }

  private static RefusedException refused(String message) {
    return new RefusedException(Refusal.BAD_SEARCH, message);
  }
}
