package dev.holdfast.client.operate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.OperatorException.Reason;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How responses of a server, or of a proxy in front of it, are translated for operators. */
class HttpOperatorTest {
  private final HttpServer server;
  private final URI url;
  private @Nullable String body;

  HttpOperatorTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.start();
    url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private Operator answering(int status, String answer) {
    return answering(status, answer, "hf_secret");
  }

  private Operator answering(int status, String answer, @Nullable String key) {
    server.createContext(
        "/",
        exchange -> {
          body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    return new HttpOperator(url, key);
  }

  private static String problem(String error) {
    return "{\"error\":\"%s\",\"message\":\"because\"}".formatted(error);
  }

  @ParameterizedTest(name = "{0} {1} is {2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "401 | key_invalid    | NOT_ALLOWED | does not accept the API key: because",
        "403 | forbidden      | NOT_ALLOWED | does not permit this: because",
        "404 | not_found      | NOT_FOUND   | because",
        "409 | conflict       | REFUSED     | because",
        "409 | job_running    | JOB_RUNNING | because",
        "404 | no_such_step   | NO_SUCH_STEP | because",
        "422 | invalid_value  | INVALID_VALUE | because",
        "422 | unknown_field  | REFUSED     | because",
        "429 | rate_limited   | REFUSED     | answers 429: because: wait a moment",
        "500 | internal       | BROKEN      | answers 500: because",
        "502 | ''             | AWAY        | answers 502",
        "503 | database_unavailable  | AWAY        | answers 503: because",
        "503 | database_busy  | AWAY        | answers 503: because",
        "302 | ''             | BROKEN      | answers 302",
      })
  void a_status_becomes_a_reason_and_a_message(
      int status, String error, Reason reason, String message) {
    Operator operator =
        answering(status, error.isEmpty() ? "<html>Bad gateway</html>" : problem(error));
    assertThat(catchThrowable(() -> operator.queues().list()))
        .isInstanceOfSatisfying(
            OperatorException.class, failed -> assertThat(failed.reason()).isEqualTo(reason))
        .hasMessageContaining(message)
        .hasMessageNotContaining("hf_secret");
  }

  @Test
  void a_422_becomes_the_same_refusal_as_from_the_database() {
    Operator operator = answering(422, problem("bad_name"));
    assertThat(catchThrowable(() -> operator.queues().pause("mail", null)))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.BAD_NAME))
        .hasMessage("because");
  }

  @Test
  void a_missing_key_is_reported_with_where_to_set_it() {
    Operator operator = answering(401, problem("key_missing"), null);
    assertThatThrownBy(() -> operator.queues().list())
        .hasMessage(
            "the server at %s wants an API key; put one into HOLDFAST_SERVER_API_KEY, or name its file with --api-key-file"
                .formatted(url));
  }

  @Test
  void a_server_that_is_not_running_is_unavailable() {
    server.stop(0);
    assertThat(catchThrowable(() -> new HttpOperator(url, null).queues().list()))
        .isInstanceOfSatisfying(
            OperatorException.class, failed -> assertThat(failed.reason()).isEqualTo(Reason.AWAY))
        .hasMessage(
            "the server at %s does not answer: the connection is refused; is it running there?"
                .formatted(url));
  }

  @Test
  void an_unknown_host_is_unavailable() {
    URI nowhere = URI.create("http://no-such-host.invalid");
    assertThatThrownBy(() -> new HttpOperator(nowhere, null).queues().list())
        .hasMessage(
            "the server at http://no-such-host.invalid does not answer: there is no such host");
  }

  @ParameterizedTest
  @ValueSource(strings = {"<html>Welcome</html>", "null", "", "{}", "{\"queues\":[{}]}"})
  void a_response_of_another_server_is_reported_as_such(String answer) {
    assertThat(catchThrowable(() -> answering(200, answer).queues().list()))
        .isInstanceOfSatisfying(
            OperatorException.class, failed -> assertThat(failed.reason()).isEqualTo(Reason.BROKEN))
        .hasMessage("what answers at %s is not a Holdfast server".formatted(url));
  }

  @Test
  void only_a_404_of_the_server_itself_means_no_such_job() {
    JobId job = JobId.next();
    assertThat(answering(404, problem("not_found")).jobs().find(job)).isEmpty();
    server.removeContext("/");
    assertThatThrownBy(() -> answering(404, "<html>nothing here</html>").jobs().find(job))
        .isInstanceOf(OperatorException.class)
        .hasMessage("the server at %s answers 404".formatted(url));
  }

  @Test
  void a_list_without_a_next_page_is_one_request() {
    assertThat(answering(200, "{\"jobs\":[]}").jobs().list(JobFilter.ALL.limit(500))).isEmpty();
  }

  @Test
  void limits_that_are_not_set_are_not_sent() {
    Operator operator =
        answering(
            200,
            "{\"name\":\"mail\",\"due\":0,\"delayed\":0,\"retrying\":0,\"waiting\":0,\"running\":0}");
    operator.queues().limit("mail", 5);
    assertThat(body).isEqualTo("{\"maxRunning\":5}");
    operator.queues().limit("mail", null);
    assertThat(body).isEqualTo("{\"maxRunning\":null}");
    operator.queues().rate("mail", new RateLimit(2, Duration.ofSeconds(1)));
    assertThat(body).isEqualTo("{\"rateLimit\":{\"starts\":2,\"periodMs\":1000}}");
  }

  @Test
  void an_interrupted_caller_gets_its_response_and_stays_interrupted() {
    JobId id = JobId.next();
    Operator operator =
        answering(201, "{\"jobs\":[{\"id\":\"%s\",\"duplicate\":false}]}".formatted(id));
    Thread.currentThread().interrupt();
    assertThat(
            operator
                .jobs()
                .enqueue(List.of(Job.of("mail", new dev.holdfast.model.value.Json("{}")))))
        .singleElement()
        .satisfies(enqueued -> assertThat(enqueued.id()).isEqualTo(id));
    assertThat(Thread.interrupted()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"jobs.example.org", "ftp://x", "http://user:pass@x", "http://x?a=pass"})
  void an_invalid_address_is_refused_and_not_shown(String address) {
    assertThatThrownBy(() -> new HttpOperator(URI.create(address), null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("pass");
  }
}
