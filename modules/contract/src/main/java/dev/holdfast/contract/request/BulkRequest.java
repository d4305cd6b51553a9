package dev.holdfast.contract.request;

import dev.holdfast.contract.json.WireException;
import dev.holdfast.contract.operate.JobSearch;
import dev.holdfast.contract.operate.Selection;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to do to many jobs, by ids or by a filter; by a filter page after page.
 *
 * @param filter the same as the parameters of the list of jobs
 * @param cursor where the page before stopped
 */
public record BulkRequest(
    @Nullable List<JobId> ids,
    @Nullable JobSearch filter,
    @Nullable JobCursor cursor,
    @Nullable String reason,
    @Nullable Boolean cascade) {
  public BulkRequest {
    ids = ids == null ? null : List.copyOf(new LinkedHashSet<>(ids));
    if (reason != null) {
      Limits.reason(reason);
    }
    if ((ids == null) == (filter == null)) {
      throw wrong("either 'ids' or 'filter' must be given");
    }
    if (filter != null && filter.hasNothing()) {
      throw wrong("field 'filter' must have a state, queue, kind, runId, tag, text or time in it");
    }
    if (ids != null && (ids.isEmpty() || ids.size() > JobFilter.MOST)) {
      throw wrong("field 'ids' must have 1 to %,d ids".formatted(JobFilter.MOST));
    }
    if (ids != null && cursor != null) {
      throw wrong("field 'cursor' needs 'filter'");
    }
  }

  private static WireException wrong(String message) {
    return new WireException(WireException.Kind.WRONG_VALUE, message);
  }

  public static BulkRequest of(
      Selection selection, @Nullable String reason, @Nullable Boolean cascade) {
    return switch (selection) {
      case Selection.Ids(var ids) -> new BulkRequest(ids, null, null, reason, cascade);
      case Selection.Matching(var filter, var after) ->
          new BulkRequest(null, JobSearch.of(filter), after, reason, cascade);
    };
  }

  public boolean cascades() {
    return cascade != null && cascade;
  }

  /**
   * @param now what ages in a search are counted from
   */
  public Selection selection(Instant now) {
    return filter == null
        ? new Selection.Ids(ids == null ? List.of() : ids)
        : new Selection.Matching(filter.filter(now), cursor);
  }
}
