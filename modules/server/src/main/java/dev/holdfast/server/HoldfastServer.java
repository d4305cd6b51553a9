package dev.holdfast.server;

import dev.holdfast.Holdfast;
import dev.holdfast.contract.TaskTokens;
import dev.holdfast.queue.Queue;
import dev.holdfast.worker.Metrics;
import dev.holdfast.worker.Upkeep;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http1.Http1Config;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The control plane: everything the queue can do, over HTTP. */
public final class HoldfastServer implements AutoCloseable {
  private static final int MOST_URI_BYTES = 8 << 10;

  /** Beyond this they are not read at all; the door refuses far fewer, and says so. */
  private static final int MOST_HEADER_BYTES = 4 * Door.MOST_HEADER_CHARS;

  private static final long MOST_BODY_BYTES = 80L << 20;

  /** A client that sends nothing for so long in the middle of a request is cut off. */
  private static final Duration READ_WITHIN = Duration.ofSeconds(15);

  private static final int MOST_SUBSCRIBERS = 200;
  private static final int MOST_STREAMS_OF_ONE_CLIENT = 50;
  private static final Duration SUBMISSIONS_KEPT = Duration.ofDays(7);
  private static final Duration IDLE = Duration.ofMinutes(2);

  private final WebServer web;
  private final URI url;
  private final Router router;
  private final List<AutoCloseable> parts;

  private HoldfastServer(WebServer web, URI url, Router router, List<AutoCloseable> parts) {
    this.web = web;
    this.url = url;
    this.router = router;
    this.parts = parts;
  }

  /** Returns once it answers. */
  public static HoldfastServer start(Holdfast holdfast, ServerOptions options) {
    return start(holdfast, options, new ServerMetrics(options.statsd()));
  }

  /**
   * @param metrics which may observe the queue's verbs already, and know where they are sent;
   *     closed with the server
   */
  public static HoldfastServer start(
      Holdfast holdfast, ServerOptions options, ServerMetrics metrics) {
    return start(holdfast, options, metrics, READ_WITHIN);
  }

  static HoldfastServer start(
      Holdfast holdfast, ServerOptions options, ServerMetrics metrics, Duration readWithin) {
    Queue queue = holdfast.queue();
    if (!options.isLoopback() && !queue.hasKeys()) {
      throw new ServerStartException(
          ServerStartException.Reason.NO_KEYS,
          "the server would listen on %s, where others can reach it, and there are no API keys:"
                  .formatted(options.host())
              + " make one with 'holdfast keys create --role admin' first, or listen on 127.0.0.1",
          null);
    }
    // Known once it listens; a task that is to be pushed before that waits for it.
    CompletableFuture<URI> url = new CompletableFuture<>();
    DatabaseClock clock = new DatabaseClock(queue::now);
    Keyring keyring = new Keyring(queue);
    TaskTokens tokens = new TaskTokens(keyring, options.tokens(), clock);
    Metrics counted = new Metrics();
    Bell bell = new Bell(queue);
    WaitingRoom room = new WaitingRoom(queue, bell);
    WakeUps wakeUps = new WakeUps(bell);
    Upkeep upkeep = holdfast.upkeep(options.timings(), counted);
    Beats beats = new Beats(queue, options.timings().lease(), System::nanoTime);
    Envelopes envelopes =
        new Envelopes(
            queue,
            tokens,
            options.timings(),
            clock,
            () -> options.publicUrl() == null ? url.join() : options.publicUrl());
    Chores chores = new Chores();
    chores.every(Duration.ofSeconds(10), clock::refresh);
    chores.every(Duration.ofSeconds(30), keyring::load);
    chores.every(Duration.ofMinutes(10), () -> queue.forgetSubmissions(SUBMISSIONS_KEPT));
    DispatchAllowList allowList = new DispatchAllowList(options.dispatchTo());
    Pusher pusher =
        new Pusher(
            queue,
            bell,
            envelopes,
            allowList::allows,
            options.timings().lease(),
            options.dispatchAnswerWithin());

    Sessions sessions = new Sessions(keyring, clock);
    Gate gate = new Gate(queue, tokens, sessions, options);
    Problems problems = new Problems(queue, room::isWaitedFor, room::isDeaf, options.timings());

    List<Route> routes = new ArrayList<>();
    Fence fence = new Fence(queue, (callback, lease) -> metrics.late(callback));
    routes.addAll(
        new TasksApi(queue, beats, tokens, options, clock, fence)
            .whenEnded(pusher::taskEnded)
            .routes());
    routes.addAll(new StepsApi(queue, fence, clock).routes());
    routes.addAll(new LeaseApi(room, wakeUps, envelopes, options.timings().lease()).routes());
    routes.addAll(new LeasesApi(queue, wakeUps).routes());
    routes.addAll(new SubmitApi(queue).routes());
    routes.addAll(new OperateApi(queue, options.timings().cancelGrace()).routes());
    routes.addAll(new ControlApi(queue).routes());
    routes.addAll(new JobsApi(queue).routes());
    routes.addAll(new ArtifactsApi(queue, options.artifacts()).routes());
    routes.addAll(new QueuesApi(queue, allowList).routes());
    routes.addAll(new SchedulesApi(queue).routes());
    routes.addAll(new KeysApi(queue, gate, keyring, clock).routes());
    routes.addAll(new SessionApi(gate, sessions, isByTls(options)).routes());
    routes.addAll(new PageApi().routes());
    routes.addAll(new WorkersApi(queue).routes());
    routes.addAll(new StatusApi(queue, problems, options, clock).routes());
    routes.addAll(new HistoryApi(queue, clock).routes());
    routes.addAll(new ReferenceApi().routes());

    LiveFeeds feeds =
        new LiveFeeds(queue, problems, clock, MOST_SUBSCRIBERS, MOST_STREAMS_OF_ONE_CLIENT);
    routes.addAll(new EventsApi(feeds, gate).routes());
    routes.addAll(new MetricsApi(metrics).routes());
    metrics.addWorker(counted);
    metrics.gauge(ServerMetrics.WAITING, room::waiting);
    metrics.gauge(ServerMetrics.SUBSCRIBERS, feeds::subscribers);
    metrics.watch(
        new QueueDepths(queue::queues, metrics.registry()),
        new ProcessFigures(queue.health(), metrics.registry()));
    if (options.statsd() != null) {
      // Nobody comes to read, so nobody asks for these.
      chores.every(Duration.ofSeconds(10), metrics::refresh);
    }

    Router router = new Router(routes);
    Patience patience = new Patience(readWithin);
    SharedAnswers shared = new SharedAnswers(feeds::lastNews);
    Door door =
        new Door(router, gate, new Neighbours(options), patience, shared, metrics::answered);
    List<AutoCloseable> parts =
        List.of(feeds, room, wakeUps, bell, pusher, upkeep, chores, metrics, patience);
    try {
      WebServer web = web(options, door, patience);
      url.complete(address(options, web.port()));
      return new HoldfastServer(web, url.join(), router, parts);
    } catch (RuntimeException failed) {
      url.completeExceptionally(failed);
      closeAll(parts);
      throw failed;
    }
  }

  static WebServer web(ServerOptions options, Door door, Patience patience) {
    Http1Config http =
        Http1Config.builder()
            .maxPrologueLength(MOST_URI_BYTES)
            .maxHeadersSize(MOST_HEADER_BYTES)
            .addReceiveListener(patience)
            .build();
    WebServerConfig.Builder builder =
        WebServer.builder()
            .address(resolved(options.host()))
            .port(options.port())
            .shutdownHook(false)
            .maxPayloadSize(MOST_BODY_BYTES)
            .idleConnectionTimeout(IDLE)
            .shutdownGracePeriod(Duration.ofSeconds(2))
            .connectionOptions(socket -> socket.tcpNoDelay(true))
            .directHandlers(DirectProblems.handlers())
            .addProtocol(http)
            .addConnectionSelector(new OlderHttp(http))
            .contentEncoding(encodings -> encodings.addContentEncoding(new NotEncoded()))
            .routing(routing -> routing.any(door));
    ServerOptions.Tls tls = options.tls();
    if (tls != null) {
      builder.tls(TlsFiles.read(tls));
    }
    WebServer web = builder.build().start();
    if (web.port() < 0) {
      // It logs why, and goes on as if it had started.
      web.stop();
      throw new ServerStartException(
          ServerStartException.Reason.PORT_TAKEN,
          "cannot listen on %s port %d: another process does, or this one may not"
              .formatted(options.host(), options.port()),
          null);
    }
    return web;
  }

  private static InetAddress resolved(String host) {
    try {
      return InetAddress.getByName(host);
    } catch (UnknownHostException unknown) {
      throw new ServerStartException(
          ServerStartException.Reason.CONFIGURATION,
          "the address to listen on, '" + host + "', is unknown",
          unknown);
    }
  }

  private static boolean isByTls(ServerOptions options) {
    URI url = options.publicUrl();
    return url == null ? options.tls() != null : "https".equals(url.getScheme());
  }

  private static URI address(ServerOptions options, int port) {
    String host = options.host().contains(":") ? "[" + options.host() + "]" : options.host();
    return URI.create((options.tls() == null ? "http" : "https") + "://" + host + ":" + port);
  }

  public URI url() {
    return url;
  }

  List<Route> routes() {
    return router.routes();
  }

  @Override
  public void close() {
    // First whoever waits is sent home, or the web server would wait for them.
    closeAll(parts);
    web.stop();
  }

  private static void closeAll(List<AutoCloseable> parts) {
    for (AutoCloseable part : parts) {
      try {
        part.close();
      } catch (Exception failed) {
        throw new IllegalStateException("could not be closed", failed);
      }
    }
  }
}
