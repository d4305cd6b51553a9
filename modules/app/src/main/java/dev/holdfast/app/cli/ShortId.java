package dev.holdfast.app.cli;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.search.JobIdMatches;
import java.util.List;
import java.util.stream.Collectors;

/** A job as an argument names it: by its id, or by the first or last characters of it. */
public final class ShortId {
  private static final int WHOLE = 36;

  private final String text;

  private ShortId(String text) {
    this.text = text;
  }

  /** Throws if the text can be no part of an id, before anything is contacted. */
  public static ShortId of(String text) {
    return new ShortId(
        text.length() >= WHOLE && !text.startsWith("…")
            ? JobId.parse(text).toString()
            : JobIdMatches.part(text));
  }

  public static List<ShortId> of(List<String> texts) {
    return texts.stream().map(ShortId::of).toList();
  }

  /** The job with this id, whether it exists or not; of a part, the only one that has it. */
  public JobId in(Operator operator) {
    if (text.length() == WHOLE) {
      return JobId.parse(text);
    }
    List<JobId> found = operator.jobs().idsLike(text).ids();
    if (found.isEmpty()) {
      throw new CommandException(
          ExitCode.NOT_FOUND, "there is no job whose id begins or ends with '" + text + "'");
    }
    if (found.size() > 1) {
      throw new CommandException(
          ExitCode.REFUSED,
          "several ids begin or end with '%s': %s%s"
              .formatted(
                  text,
                  found.stream().map(JobId::toString).collect(Collectors.joining(", ")),
                  found.size() == JobIdMatches.MOST ? " …" : ""));
    }
    return found.getFirst();
  }

  public static List<JobId> in(Operator operator, List<ShortId> ids) {
    return ids.stream().map(id -> id.in(operator)).toList();
  }
}
