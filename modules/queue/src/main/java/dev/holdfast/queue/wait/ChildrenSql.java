package dev.holdfast.queue.wait;

import dev.holdfast.queue.jdbc.Sql;

/** Whether a wait for jobs that the waiting one has started is over. */
final class ChildrenSql {
  private ChildrenSql() {}

  /**
   * What the wait has brought, an expression; null while it is not over. Each search is for the
   * first row of an index.
   *
   * @param parent an expression, the id of the job that waits
   * @param wait an expression, what it waits for
   */
  static String outcome(String parent, String wait) {
    return outcome(parent, wait, "= " + parent);
  }

  /**
   * The same for a job that may be a fork: what was started before the fork are jobs of another
   * one. They have ended, so a wait for them is over when it is asked for, and is never woken.
   */
  static String outcomeWithForks(String parent, String wait) {
    return outcome(
        parent,
        wait,
        """
        = ANY (ARRAY(SELECT coalesce((s.ended ->> 'job')::uuid, s.job_id)
                       FROM holdfast.step s
                      WHERE s.job_id = %s AND s.step_id = ANY (w.started)))\
        """
            .formatted(parent));
  }

  private static String outcome(String parent, String wait, String ofParents) {
    return Sql.fragment(
        """
        (SELECT CASE
                  WHEN failed.id IS NOT NULL
                    THEN jsonb_build_object(
                           'sort', 'CHILDREN', 'outcome', 'FAILED', 'job', failed.id)
                  WHEN ended.id IS NOT NULL
                    THEN jsonb_build_object(
                           'sort', 'CHILDREN', 'outcome', 'ENDED', 'job', ended.id)
                  WHEN NOT (w.wait -> 'any')::bool AND (
                    SELECT c.parent_id FROM holdfast.job c
                     WHERE c.parent_id = ${parent} AND c.started_as IS NOT NULL
                       AND c.finished_at IS NULL AND c.started_as = ANY (w.started)
                     ORDER BY c.started_as LIMIT 1) IS NULL
                    THEN jsonb_build_object('sort', 'CHILDREN', 'outcome', 'ENDED') END
           FROM (SELECT ${wait} AS wait,
                        ARRAY(SELECT jsonb_array_elements_text(${wait} -> 'started')) AS started)
                  AS w
           LEFT JOIN LATERAL (
             SELECT c.id FROM holdfast.job c
              WHERE (w.wait -> 'failFast')::bool AND c.parent_id ${ofParents}
                AND c.started_as IS NOT NULL AND c.state IN ('FAILED', 'CANCELLED')
                AND c.started_as = ANY (w.started)
              ORDER BY c.started_as LIMIT 1) AS failed ON true
           LEFT JOIN LATERAL (
             SELECT c.id FROM holdfast.job c
              WHERE (w.wait -> 'any')::bool AND c.parent_id ${ofParents}
                AND c.started_as = ANY (w.started) AND c.finished_at IS NOT NULL
              ORDER BY c.finished_at LIMIT 1) AS ended ON true)
        """,
        "parent",
        parent,
        "wait",
        wait,
        "ofParents",
        ofParents);
  }
}
