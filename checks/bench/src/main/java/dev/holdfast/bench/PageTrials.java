package dev.holdfast.bench;

import dev.holdfast.server.HoldfastServer;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** What the page waits for where there are very many jobs. */
final class PageTrials {
  private static final int TIMES = 20;

  private static final String NOT_SUMMED_UP =
      "SELECT count(*) FROM (SELECT) AS one LEFT JOIN holdfast.history_cursor c ON true"
          + " WHERE c.summed_until IS NULL OR c.summed_until < now() - interval '3 minutes'";

  private final HoldfastContender holdfast;
  private final int jobs;

  PageTrials(HoldfastContender holdfast, int jobs) {
    this.holdfast = holdfast;
    this.jobs = jobs;
  }

  Map<String, Callable<List<Sample>>> all() {
    return Map.of("page", this::page);
  }

  /**
   * Days of jobs, of which the last minutes had most; few wait, run or failed. The oldest thousand
   * have a queue and a kind of their own, which is the farthest that a look has to go.
   */
  private String fill() {
    return """
      INSERT INTO holdfast.job (id, queue, kind, state, priority, run_at, created_at, attempt,
             max_attempts, max_crashes, worker_id, started_at, heartbeat_at, lease_expires_at,
             finished_at, failure, event_count, started_event_number, tenant, workspace, run_id, run_key, payload)
      SELECT id, CASE WHEN n > %1$d - 1000 THEN 'old' ELSE 'q' || n %% 20 END,
             CASE WHEN n > %1$d - 1000 THEN 'ancient' ELSE 'kind-' || n %% 30 END, state, 5,
             CASE WHEN state = 'RETRYING' THEN now() + interval '1 hour' ELSE at END, at,
             CASE state WHEN 'PENDING' THEN 0 ELSE 1 END, 3, 2,
             CASE WHEN state <> 'PENDING' THEN 'worker-' || n %% 50 END,
             CASE WHEN state <> 'PENDING' THEN at + interval '20 ms' END,
             CASE WHEN state = 'RUNNING' THEN now() END,
             CASE WHEN state = 'RUNNING' THEN now() + interval '1 day' END,
             CASE WHEN state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
                  THEN at + interval '20 ms' + n %% 900 * interval '1 ms' END,
             CASE WHEN state IN ('FAILED', 'RETRYING') THEN jsonb_build_object('category', 'USER_CODE',
                  'code', 'BROKEN', 'message', 'no answer from host ' || n, 'retryable', false) END,
             3, CASE WHEN state <> 'PENDING' THEN 2 END, 'default', 'default', id, 'default',
             jsonb_build_object('n', n, 'to', 'somebody-' || n || '@example.org',
                                'text', repeat(md5(n::text), 4))
        FROM (SELECT n, at, state, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0')
                     || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid
                     AS id
                FROM (SELECT n, now() - interval '3 days' * power(n / %1$d.0, 2) AS at,
                             CASE WHEN n %% 1000 < 15 THEN 'FAILED' WHEN n %% 1000 < 20 THEN 'CANCELLED'
                                  WHEN n %% 1000 < 35 THEN 'PENDING' WHEN n %% 1000 < 37 THEN 'RUNNING'
                                  WHEN n %% 1000 < 38 THEN 'RETRYING' ELSE 'SUCCEEDED' END AS state
                        FROM generate_series(%1$d, 1, -1) AS n) AS times) AS jobs
      """
        .formatted(jobs);
  }

  /** Fills the table, and sums up its history. */
  List<Sample> prepare() throws SQLException {
    holdfast.clear();
    holdfast.target().run(fill());
    holdfast.target().run("VACUUM ANALYZE holdfast.job");
    return history();
  }

  private List<Sample> page() throws Exception {
    List<Sample> samples = new ArrayList<>(prepare());
    try (HoldfastServer server = holdfast.server();
        RawHttp http = new RawHttp(server.url())) {
      for (Map.Entry<String, List<String>> view : views().entrySet()) {
        samples.addAll(measured(view.getKey(), view.getValue(), http));
      }
    }
    holdfast.clear();
    return samples;
  }

  /** How long it takes to sum up three days of jobs, and then a minute of which there are most. */
  private List<Sample> history() throws SQLException {
    holdfast
        .target()
        .run("TRUNCATE holdfast.history, holdfast.queue_depth, holdfast.history_cursor");
    long start = System.nanoTime();
    long deadline = start + TimeUnit.MINUTES.toNanos(5);
    // The first run marks a moment; the jobs of the last minute but one are all committed.
    while (Long.parseLong(holdfast.target().text(NOT_SUMMED_UP)) > 0
        && System.nanoTime() < deadline) {
      holdfast.holdfast().store().maintenance().sumUpHistory();
    }
    double days = (System.nanoTime() - start) / 1e6;
    holdfast.target().run("VACUUM ANALYZE holdfast.history");
    return List.of(Sample.of("history of three days summed up", "holdfast", "ms", days));
  }

  /** What the page asks for, all of it before anything is shown. */
  private Map<String, List<String>> views() throws SQLException {
    String list = "/v1/jobs?limit=50";
    String deep = "SELECT id FROM holdfast.job ORDER BY id LIMIT 1 OFFSET " + jobs / 10;
    String job = holdfast.target().text(deep);
    Map<String, List<String>> views = new LinkedHashMap<>();
    views.put("the page itself", List.of("/", "/v1/session"));
    views.put(
        "overview",
        List.of(
            "/v1/history?minutes=15",
            "/v1/info",
            "/v1/jobs/count?state=FAILED",
            "/v1/jobs?state=RUNNING&brief=true&limit=12"));
    for (int minutes : new int[] {360, 1440, 10_080}) {
      views.put("overview, " + minutes / 60 + " hours", List.of("/v1/history?minutes=" + minutes));
    }
    views.put("queues", List.of("/v1/queues"));
    for (int minutes : new int[] {15, 10_080}) {
      views.put(
          "a queue, " + (minutes == 15 ? "15 minutes" : "7 days"),
          List.of(
              "/v1/queues/q7",
              "/v1/jobs/counts?queue=q7",
              "/v1/history?queue=q7&minutes=" + minutes,
              "/v1/workers",
              "/v1/info"));
    }
    views.put("schedules", List.of("/v1/schedules"));
    views.put("workers", List.of("/v1/workers"));
    views.put("jobs", List.of(list));
    views.put("counts beside the jobs", List.of("/v1/jobs/counts"));
    views.put("jobs, failed", List.of(list + "&state=FAILED"));
    views.put("jobs, running", List.of(list + "&state=RUNNING"));
    views.put("jobs, cancelled", List.of(list + "&state=CANCELLED"));
    views.put("jobs of a queue", List.of(list + "&queue=q7"));
    views.put("jobs of a kind", List.of(list + "&kind=kind-7"));
    views.put("jobs with a text", List.of(list + "&q=somebody-77"));
    views.put("jobs, far back", List.of(list + "&cursor=" + job));
    views.put("jobs of an old queue", List.of(list + "&queue=old"));
    views.put("jobs of an old kind", List.of(list + "&kind=ancient"));
    views.put("jobs of no kind", List.of(list + "&kind=none"));
    views.put("a job", List.of("/v1/jobs/" + job + "?include=events,attempts,steps,artifacts"));
    return views;
  }

  private static List<Sample> measured(String view, List<String> paths, RawHttp http)
      throws IOException {
    double first = asked(paths, http);
    double[] then = new double[TIMES];
    for (int i = 0; i < TIMES; i++) {
      then[i] = asked(paths, http);
    }
    Arrays.sort(then);
    return List.of(
        Sample.of(view + ", first", "holdfast", "ms", first),
        Sample.of(view + ", median", "holdfast", "ms", then[TIMES / 2]),
        Sample.of(view + ", worst", "holdfast", "ms", then[TIMES - 1]));
  }

  private static double asked(List<String> paths, RawHttp http) throws IOException {
    long start = System.nanoTime();
    for (String path : paths) {
      if (http.ask(http.get(path)) != 200) {
        throw new IllegalStateException(path + " was not answered");
      }
    }
    return (System.nanoTime() - start) / 1e6;
  }
}
