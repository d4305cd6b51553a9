package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;

/** Requests that tests of the jobs routes share. */
abstract class JobsFixture extends ServerTest {
  JobsFixture(TestDatabase db) {
    super(db);
  }

  JsonNode created(Object body) {
    Client.Reply reply = client.post("/v1/jobs", body, null);
    assertThat(reply.status()).as(() -> reply.body().toString()).isEqualTo(201);
    return reply.body();
  }

  /** As if it had been enqueued then. */
  void createdAt(String job, String moment) {
    db.sql("UPDATE holdfast.job SET created_at = ?::timestamptz WHERE id = ?::uuid", moment, job);
  }

  long jobs() {
    return db.count("SELECT count(*) FROM holdfast.job");
  }

  List<String> ids(String path) {
    List<String> ids = new ArrayList<>();
    client.get(path, null).ok().get("jobs").forEach(job -> ids.add(job.get("id").asText()));
    return ids;
  }
}
