package dev.holdfast.server;

import dev.holdfast.Holdfast;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.contract.token.ApprovalTokens;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.operate.Diagnostics;
import dev.holdfast.operate.LocalOperator;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.notify.DatabaseSubscription;
import dev.holdfast.server.api.ArtifactsApi;
import dev.holdfast.server.api.EnqueueApi;
import dev.holdfast.server.api.EventsApi;
import dev.holdfast.server.api.JobActionsApi;
import dev.holdfast.server.api.JobsApi;
import dev.holdfast.server.api.KeysApi;
import dev.holdfast.server.api.MetricsApi;
import dev.holdfast.server.api.NoticesApi;
import dev.holdfast.server.api.Operators;
import dev.holdfast.server.api.QueuesApi;
import dev.holdfast.server.api.ReportsApi;
import dev.holdfast.server.api.SchedulesApi;
import dev.holdfast.server.api.SessionApi;
import dev.holdfast.server.api.StatusApi;
import dev.holdfast.server.api.WorkersApi;
import dev.holdfast.server.approval.ApprovalsApi;
import dev.holdfast.server.auth.Authenticator;
import dev.holdfast.server.auth.HostOriginPolicy;
import dev.holdfast.server.auth.Keyring;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.background.DatabaseClock;
import dev.holdfast.server.background.PeriodicTasks;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.config.ServerStartException;
import dev.holdfast.server.dispatch.DispatchAllowList;
import dev.holdfast.server.dispatch.Pusher;
import dev.holdfast.server.http.Http10ConnectionSelector;
import dev.holdfast.server.http.IdentityEncoding;
import dev.holdfast.server.http.ProtocolErrorHandler;
import dev.holdfast.server.http.SlowRequestTimeout;
import dev.holdfast.server.http.TlsFiles;
import dev.holdfast.server.http.WatchedConnectionSelector;
import dev.holdfast.server.live.LiveFeeds;
import dev.holdfast.server.metrics.CountReporter;
import dev.holdfast.server.metrics.OpenWaits;
import dev.holdfast.server.metrics.ProcessMetrics;
import dev.holdfast.server.metrics.QueueDepths;
import dev.holdfast.server.metrics.ServerMetrics;
import dev.holdfast.server.notice.NoticeSender;
import dev.holdfast.server.page.PageApi;
import dev.holdfast.server.page.ReferenceApi;
import dev.holdfast.server.routing.AnswerCache;
import dev.holdfast.server.routing.RequestHandler;
import dev.holdfast.server.routing.Route;
import dev.holdfast.server.routing.Router;
import dev.holdfast.server.worker.ClaimsApi;
import dev.holdfast.server.worker.Envelopes;
import dev.holdfast.server.worker.FencedOperations;
import dev.holdfast.server.worker.HeartbeatBatcher;
import dev.holdfast.server.worker.LeasesApi;
import dev.holdfast.server.worker.LongPollBroker;
import dev.holdfast.server.worker.PollRecorder;
import dev.holdfast.server.worker.RemoteAttempts;
import dev.holdfast.server.worker.StepsApi;
import dev.holdfast.server.worker.TaskRefusals;
import dev.holdfast.server.worker.TaskWaits;
import dev.holdfast.server.worker.TasksApi;
import dev.holdfast.server.worker.UploadsApi;
import dev.holdfast.server.worker.WakeUps;
import dev.holdfast.worker.source.Metrics;
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
import java.util.function.Supplier;

/** The control plane: everything the queue can do, over HTTP. */
public final class HoldfastServer implements AutoCloseable {
  private static final int MOST_URI_BYTES = 8 << 10;

  /** The web server reads no more; RequestHandler refuses far fewer, with a message. */
  private static final int MOST_HEADER_BYTES = 4 * RequestHandler.MOST_HEADER_CHARS;

  private static final long MOST_BODY_BYTES = 80L << 20;

  /** The connection of a client that stops in the middle of a request ends after this. */
  private static final Duration READ_WITHIN = Duration.ofSeconds(15);

  private static final int MOST_SUBSCRIBERS = 200;
  private static final int MOST_STREAMS_OF_ONE_CLIENT = 50;
  private static final Duration SUBMISSIONS_KEPT = Duration.ofDays(7);
  private static final Duration IDLE = Duration.ofMinutes(2);

  private final WebServer web;
  private final RequestHandler handler;
  private final URI url;
  private final Router router;
  private final List<AutoCloseable> parts;

  private HoldfastServer(
      WebServer web, RequestHandler handler, URI url, Router router, List<AutoCloseable> parts) {
    this.web = web;
    this.handler = handler;
    this.url = url;
    this.router = router;
    this.parts = parts;
  }

  /** Returns once the server answers requests. */
  public static HoldfastServer start(Holdfast holdfast, ServerOptions options) {
    return start(holdfast, options, new ServerMetrics(options.statsd()));
  }

  /**
   * @param metrics may observe the queue already; closed with the server
   */
  public static HoldfastServer start(
      Holdfast holdfast, ServerOptions options, ServerMetrics metrics) {
    return start(holdfast, options, metrics, READ_WITHIN);
  }

  public static HoldfastServer start(
      Holdfast holdfast, ServerOptions options, ServerMetrics metrics, Duration readWithin) {
    JobStore store = holdfast.store();
    if (!options.isLoopback() && !store.admin().hasKeys()) {
      throw new ServerStartException(
          ServerStartException.Reason.NO_KEYS,
          "the server would listen on %s, where others can reach it, and there are no API keys:"
                  .formatted(options.host())
              + " create one with 'holdfast keys create --role admin' first, or listen on 127.0.0.1",
          null);
    }
    // Known once the server listens; a push before that waits for it.
    CompletableFuture<URI> url = new CompletableFuture<>();
    DatabaseClock clock = new DatabaseClock(store.queries()::now);
    Keyring keyring = new Keyring(store.admin());
    TaskTokens tokens = new TaskTokens(keyring, options.tokens(), clock);
    Metrics workerMetrics = new Metrics();
    DatabaseSubscription subscription = store.notifier().subscribeToDatabase();
    Metrics remoteMetrics = new Metrics();
    RemoteAttempts attempts = new RemoteAttempts(remoteMetrics, store.queries()::runTimes);
    LongPollBroker longPolls = new LongPollBroker(store.jobs(), subscription, attempts);
    WakeUps wakeUps = new WakeUps(subscription);
    HeartbeatBatcher heartbeats = new HeartbeatBatcher(store.jobs(), System::nanoTime);
    Supplier<URI> address = () -> options.publicUrl() == null ? url.join() : options.publicUrl();
    Envelopes envelopes = new Envelopes(store.queries(), tokens, options.timings(), clock, address);
    PeriodicTasks periodic = new PeriodicTasks();
    PollRecorder polls = new PollRecorder(store.workers().polls(), System::nanoTime);
    periodic.every(Duration.ofSeconds(1), polls::write);
    periodic.every(Duration.ofSeconds(10), clock::refresh);
    periodic.every(Duration.ofSeconds(30), keyring::load);
    // Also without a receiver: a server that had one may have left notices.
    periodic.every(NoticeSender.TIDY, () -> store.notices().supersedeNotices());
    periodic.every(Duration.ofMinutes(10), () -> store.notices().forgetNotices(NoticeSender.KEPT));
    periodic.every(
        Duration.ofMinutes(10), () -> store.maintenance().forgetSubmissions(SUBMISSIONS_KEPT));
    DispatchAllowList allowList = new DispatchAllowList(options.dispatchTo());
    Pusher pusher =
        new Pusher(
            store,
            subscription,
            attempts,
            envelopes,
            allowList::allows,
            options.timings(),
            options.dispatchAnswerWithin());

    Sessions sessions = new Sessions(keyring, clock);
    Authenticator authenticator =
        new Authenticator(store.admin(), tokens, sessions, options, store.queries()::heldWithin);
    Diagnostics diagnostics =
        new Diagnostics(
            store, longPolls::isWaitedFor, longPolls::notificationsLost, options.timings());

    ApprovalTokens approvals = new ApprovalTokens(keyring.ofLinks(), clock);
    ApprovalLinks links = new ApprovalLinks(approvals, address);
    Operators operators =
        call ->
            new LocalOperator(
                store,
                call.caller().principal(),
                diagnostics,
                links::to,
                StatusApi.version(),
                () -> {});

    List<Route> routes = new ArrayList<>();
    FencedOperations operations =
        new FencedOperations(store.jobs(), store.queries(), heartbeats, attempts);
    TaskRefusals refusals =
        new TaskRefusals(store.queries(), (callback, lease) -> metrics.late(callback));
    routes.addAll(
        new TasksApi(operations, tokens, options, clock, refusals)
            .whenEnded(pusher::taskEnded)
            .routes());
    routes.addAll(new StepsApi(store.queries(), operations, refusals, clock).routes());
    routes.addAll(new TaskWaits(store.queries(), operations, clock, refusals).routes());
    routes.addAll(new LeasesApi(operations).routes());
    routes.addAll(new UploadsApi(operations, refusals, options.artifacts()).routes());
    routes.addAll(
        new ClaimsApi(
                store.queries(),
                longPolls,
                wakeUps,
                envelopes,
                options.timings(),
                authenticator,
                polls)
            .routes());
    routes.addAll(new EnqueueApi(store.jobs(), store.queries()).routes());
    routes.addAll(new JobActionsApi(operators, clock).routes());
    routes.addAll(new JobsApi(operators, clock).routes());
    routes.addAll(new ReportsApi(operators).routes());
    routes.addAll(new ArtifactsApi(operators, options.artifacts()).routes());
    routes.addAll(new QueuesApi(operators, allowList).routes());
    routes.addAll(new SchedulesApi(operators).routes());
    routes.addAll(new NoticesApi(operators, options).routes());
    routes.addAll(new ApprovalsApi(store, approvals).routes());
    routes.addAll(new KeysApi(operators, store.admin(), authenticator, keyring, clock).routes());
    routes.addAll(new SessionApi(authenticator, sessions, isByTls(options)).routes());
    routes.addAll(new PageApi().routes());
    routes.addAll(new WorkersApi(operators).routes());
    routes.addAll(new StatusApi(store, diagnostics, options, clock).routes());
    routes.addAll(new ReferenceApi().routes());

    LiveFeeds feeds =
        new LiveFeeds(store, diagnostics, clock, MOST_SUBSCRIBERS, MOST_STREAMS_OF_ONE_CLIENT);
    routes.addAll(new EventsApi(feeds, authenticator).routes());
    routes.addAll(new MetricsApi(metrics).routes());
    metrics.addWorker(workerMetrics).addRemoteWorkers(remoteMetrics);
    metrics.gauge(ServerMetrics.WAITING, longPolls::waiting);
    metrics.gauge(ServerMetrics.SUBSCRIBERS, feeds::subscribers);
    CountReporter counts = new CountReporter(store.workers().servers(), metrics::counted);
    periodic.every(CountReporter.INTERVAL, counts::report);
    metrics.watch(
        new QueueDepths(() -> store.admin().queues(Tenant.ANY), metrics.registry()),
        new OpenWaits(store.queries()::waits, metrics.registry()),
        new ProcessMetrics(
            store.workers(), store.queries()::heldOverHttp, counts.server(), metrics.registry()));
    if (options.statsd() != null) {
      // StatsD gets no requests that would refresh these.
      periodic.every(Duration.ofSeconds(10), metrics::refresh);
    }

    Router router = new Router(routes);
    SlowRequestTimeout slowRequests = new SlowRequestTimeout(readWithin);
    AnswerCache answers = new AnswerCache(feeds::lastEvent);
    RequestHandler handler =
        new RequestHandler(
            router,
            authenticator,
            new HostOriginPolicy(options),
            slowRequests,
            answers,
            metrics::answered);
    List<AutoCloseable> parts =
        new ArrayList<>(
            List.of(
                feeds,
                longPolls,
                wakeUps,
                subscription,
                pusher,
                periodic,
                counts,
                metrics,
                slowRequests));
    ServerOptions.Receiver receiver = options.notices();
    if (receiver != null) {
      NoticeSender notices =
          new NoticeSender(store.notices(), receiver, links, address, clock, metrics::notice);
      parts.addFirst(notices);
      periodic.every(NoticeSender.LOOK, notices::look);
    }
    try {
      WebServer web = web(options, handler, slowRequests);
      url.complete(address(options, web.port()));
      // It reaps no lease for the length of one. That time begins when workers can send heartbeats.
      parts.addFirst(holdfast.upkeep(options.timings(), workerMetrics));
      return new HoldfastServer(web, handler, url.join(), router, parts);
    } catch (RuntimeException failed) {
      url.completeExceptionally(failed);
      closeAll(parts);
      throw failed;
    }
  }

  public static WebServer web(
      ServerOptions options, RequestHandler handler, SlowRequestTimeout slowRequests) {
    Http1Config http =
        Http1Config.builder()
            .maxPrologueLength(MOST_URI_BYTES)
            .maxHeadersSize(MOST_HEADER_BYTES)
            .addReceiveListener(slowRequests)
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
            .directHandlers(ProtocolErrorHandler.handlers(handler::isStopping))
            .addProtocol(http)
            .addConnectionSelector(new Http10ConnectionSelector(http))
            .addConnectionSelector(new WatchedConnectionSelector(http))
            .contentEncoding(encodings -> encodings.addContentEncoding(new IdentityEncoding()))
            .routing(routing -> routing.any(handler));
    ServerOptions.Tls tls = options.tls();
    if (tls != null) {
      builder.tls(TlsFiles.read(tls));
    }
    WebServer web = builder.build().start();
    if (web.port() < 0) {
      // Helidon logs the reason and returns a server that does not listen.
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

  public List<Route> routes() {
    return router.routes();
  }

  @Override
  public void close() {
    handler.stop();
    // Ends long polls and streams first, since the web server waits for open requests.
    closeAll(parts);
    web.stop();
  }

  private static void closeAll(List<AutoCloseable> parts) {
    for (AutoCloseable part : parts) {
      try {
        part.close();
      } catch (Exception failed) {
        throw new IllegalStateException("a part of the server could not be closed", failed);
      }
    }
  }
}
