package dev.holdfast.model.search;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The jobs whose ids begin or end with a text.
 *
 * @param ids the newest first, {@link #MOST} at most
 */
public record JobIdMatches(List<JobId> ids) {
  public static final int MOST = 10;

  /** Ids of one second begin alike: fewer characters would not distinguish them. */
  public static final int SHORTEST = 4;

  private static final Pattern FORM = Pattern.compile("[0-9a-f-]{" + SHORTEST + ",36}");

  public JobIdMatches {
    ids = List.copyOf(ids);
  }

  /** The part of an id in the form that ids have; the page writes "…" before one. */
  public static String part(String text) {
    String part = text.startsWith("…") ? text.substring(1) : text;
    String lower = part.toLowerCase(Locale.ROOT);
    if (!FORM.matcher(lower).matches()) {
      throw new RefusedException(
          Refusal.BAD_ID,
          "'%s' is not a job id, nor the first or last %d or more characters of one"
              .formatted(Text.excerpt(text, 60), SHORTEST));
    }
    return lower;
  }
}
