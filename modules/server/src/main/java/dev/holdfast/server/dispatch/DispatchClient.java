package dev.holdfast.server.dispatch;

import dev.holdfast.contract.ConnectFailure;
import dev.holdfast.model.value.Text;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.server.http.Answer;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Posts documents to others. Redirects are not followed, since they could lead to any host. */
public final class DispatchClient implements AutoCloseable {
  private static final int EXCERPT_BYTES = 2_000;
  private static final int EXCERPT_CHARS = 500;

  private final HttpClient http;

  public DispatchClient(Duration connectWithin) {
    this.http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(connectWithin)
            .build();
  }

  /**
   * @param headers besides that of the type
   * @param secrets in the request, which are removed from the excerpt of the answer
   */
  public Exchange post(
      URI url, byte[] document, Map<String, String> headers, List<String> secrets) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url)
            .header("Content-Type", Answer.JSON)
            .POST(BodyPublishers.ofByteArray(document));
    headers.forEach(request::header);
    return new Exchange(http, request.build(), secrets);
  }

  /** One request and its answer. It has no timeout; the caller of {@link #await} sets one. */
  public static final class Exchange {
    private final CompletableFuture<HttpResponse<byte[]>> sent;
    private final List<String> secrets;
    private volatile int status;

    private Exchange(HttpClient http, HttpRequest request, List<String> secrets) {
      this.secrets = secrets;
      this.sent =
          http.sendAsync(
              request,
              info -> {
                status = info.statusCode();
                return new Excerpt();
              });
    }

    public DispatchReply await(Duration time) throws InterruptedException {
      try {
        HttpResponse<byte[]> answer = sent.get(time.toMillis(), TimeUnit.MILLISECONDS);
        boolean taken = answer.statusCode() / 100 == 2;
        return new DispatchReply.Answered(answer.statusCode(), taken ? "" : said(answer.body()));
      } catch (TimeoutException late) {
        // The status comes before the body, and it alone decides.
        return status != 0
            ? new DispatchReply.Answered(status, "")
            : new DispatchReply.Pending("no answer within " + time.toMillis() + " ms");
      } catch (ExecutionException failed) {
        return new DispatchReply.Broken(
            ConnectFailure.why(failed.getCause() == null ? failed : failed.getCause()));
      }
    }

    private String said(byte[] body) {
      String text = Text.inert(new String(body, StandardCharsets.UTF_8)).strip();
      return text.isEmpty()
          ? ""
          : Text.excerpt(Scrubber.knowing(secrets).scrub(text), EXCERPT_CHARS);
    }

    public void abandon() {
      sent.cancel(true);
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }

  /** Keeps the beginning of a body, and reads no further. */
  private static final class Excerpt implements BodySubscriber<byte[]> {
    private final CompletableFuture<byte[]> result = new CompletableFuture<>();
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private Flow.@Nullable Subscription subscription;

    @Override
    public CompletionStage<byte[]> getBody() {
      return result;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
      given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
      for (ByteBuffer buffer : buffers) {
        byte[] bytes = new byte[Math.min(buffer.remaining(), EXCERPT_BYTES - kept.size())];
        buffer.get(bytes);
        kept.writeBytes(bytes);
      }
      if (kept.size() == EXCERPT_BYTES) {
        result.complete(kept.toByteArray());
        if (subscription != null) {
          subscription.cancel();
        }
      }
    }

    @Override
    public void onError(Throwable failed) {
      // The status has been read, and it alone decides.
      result.complete(kept.toByteArray());
    }

    @Override
    public void onComplete() {
      result.complete(kept.toByteArray());
    }
  }
}
