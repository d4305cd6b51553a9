package holdfast

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	startTimeout   = 15 * time.Second
	refusedTimeout = 5 * time.Second
	afterStop      = 2 * time.Second
	lastSettleTime = 10 * time.Second
	mostUnknown    = 10_000
)

// Worker runs handlers for the jobs of some queues. Set its fields, register handlers with [Handle], then call [Worker.Run]. Fields are
// not to be changed after that. The zero value of a field means its default.
type Worker struct {
	// URL of the server: HOLDFAST_SERVER_URL, or http://127.0.0.1:8420, unless given.
	URL string
	// APIKey of role worker: HOLDFAST_SERVER_API_KEY unless given.
	APIKey string
	// KeySource is asked for the key in place of APIKey, before each request, and again when the server has refused what it gave: so a
	// key is rotated without a restart.
	KeySource func(context.Context) (string, error)
	// HTTPClient makes the requests, such as one with TLS of its own.
	HTTPClient *http.Client

	// Queues to serve. Not needed for pushed tasks.
	Queues []string
	// Concurrency is how many jobs run at once: 10 unless given.
	Concurrency int
	// Lease is after how long without a heartbeat its jobs go to others: 30 seconds unless given.
	Lease time.Duration
	// Poll is how often to look for jobs that nothing announces, such as retries: a second unless given.
	Poll time.Duration
	// ShutdownTimeout is how long Run waits for running jobs once its context is done: 30 seconds unless given.
	ShutdownTimeout time.Duration
	// UnknownKinds is how long a job of a kind without a handler is left for other workers: 5 minutes unless given.
	UnknownKinds time.Duration
	// Name is the worker's id, which must be unique: host, process and a random part unless given.
	Name string
	// CallbackURL is where pushed tasks call back to, if not to the address in their envelopes.
	CallbackURL string
	// Logger tells what goes on: slog.Default() unless given.
	Logger *slog.Logger

	lock    sync.Mutex
	kinds   map[string]*kind
	state   lifeCycle
	unknown map[string]time.Time

	name    string
	log     *slog.Logger
	options workerOptions
	// handlers is the parent of all contexts of handlers, calls that of requests.
	handlers    context.Context
	calls       context.Context
	stopCalls   context.CancelFunc
	stopClaims  context.CancelFunc
	stopLeasing context.CancelFunc
	claimer     *claimer
	keeper      *keeper
	slots       *slots
	reporter    *reporter
	ends        *batcher[*ending]
	reports     *batcher[*pendingReport]
	draining    atomic.Bool
	shutdown    chan struct{}
	counts      counts
}

type lifeCycle int

const (
	isNew lifeCycle = iota
	isServing
	isClosed
)

type workerOptions struct {
	concurrency                                int
	lease, poll, shutdownTimeout, unknownKinds time.Duration
}

type counts struct {
	started, settled, refused, suspended, givenUp, running atomic.Int64
}

// Stats are counts since the start of a worker, and what it has now.
type Stats struct {
	// Started attempts, those whose end was Settled or Refused as too late, those that were Suspended by a wait, and handlers that
	// were GivenUp because they did not stop.
	Started, Settled, Refused, Suspended, GivenUp int64
	// Running handlers, and ends that are not answered yet.
	Running, Unsettled int
}

// Stats returns what the worker has done so far.
func (w *Worker) Stats() Stats {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.state == isNew {
		return Stats{}
	}
	return Stats{
		w.counts.started.Load(), w.counts.settled.Load(), w.counts.refused.Load(), w.counts.suspended.Load(),
		w.counts.givenUp.Load(), int(w.counts.running.Load()), w.ends.backlog(),
	}
}

// Run serves the queues until the context is done, and then shuts down: it takes no more jobs, waits ShutdownTimeout for running ones,
// tells the rest to stop and gives their jobs back unharmed. It returns nil after that, or at once why it could not start.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.options.shutdownTimeout)
	defer cancel()
	w.Shutdown(stopping)
	return nil
}

// Start checks server and key, and serves the queues until [Worker.Shutdown]. Contexts of handlers have the values of ctx.
func (w *Worker) Start(ctx context.Context) error {
	if len(w.Queues) == 0 {
		return errors.New("holdfast: no queue: name those to serve, as in Worker{Queues: []string{\"media\"}}")
	}
	server, err := newConnection(w.URL, w.APIKey, w.KeySource, w.HTTPClient)
	if err != nil {
		return err
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	from := &leases{server, w.name, w.options.lease.Milliseconds(), w.log}
	if err := w.check(ctx, from); err != nil {
		w.lock.Lock()
		w.state = isNew
		w.lock.Unlock()
		return err
	}
	stopping, stopClaims := context.WithCancel(w.calls)
	leasing, stopLeasing := context.WithCancel(w.calls)
	w.stopClaims, w.stopLeasing = stopClaims, stopLeasing
	w.claimer = &claimer{
		worker: w, source: from, poll: w.options.poll, stopping: stopping, leasing: leasing, queues: slices.Clone(w.Queues),
		more: make(chan struct{}, claimers),
	}
	w.startEngine()
	w.claimer.start()
	w.log.Info("serving", "worker", w.name, "queues", strings.Join(w.Queues, ", "), "url", server.url)
	return nil
}

// prepare validates the fields; a worker serves once.
func (w *Worker) prepare(ctx context.Context) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	if len(w.kinds) == 0 {
		return errors.New("holdfast: no handlers: register one with holdfast.Handle")
	}
	if w.state != isNew {
		return errors.New("holdfast: this worker was started or shut down before: make a new one")
	}
	made := workerOptions{
		cmpOr(w.Concurrency, 10), cmpOr(w.Lease, 30*time.Second), cmpOr(w.Poll, time.Second),
		cmpOr(w.ShutdownTimeout, 30*time.Second), cmpOr(w.UnknownKinds, 5*time.Minute),
	}
	if err := made.check(); err != nil {
		return err
	}
	if len(w.Name) > 255 {
		return fmt.Errorf("holdfast: a worker's name of %d characters: 255 at most", len(w.Name))
	}
	w.options = made
	w.name = w.Name
	if w.name == "" {
		w.name = newName()
	}
	w.log = w.Logger
	if w.log == nil {
		w.log = slog.Default()
	}
	w.handlers = context.WithoutCancel(ctx)
	w.calls, w.stopCalls = context.WithCancel(context.WithoutCancel(ctx))
	w.unknown = map[string]time.Time{}
	w.slots = newSlots(made.concurrency)
	w.keeper = newKeeper(w)
	w.reporter = newReporter(w)
	w.ends = newBatcher(mostSettled, w.settle)
	w.reports = newBatcher(mostReports, w.sendReports)
	w.shutdown = make(chan struct{})
	w.state = isServing
	return nil
}

func (o workerOptions) check() error {
	bounds := []struct {
		name             string
		value, low, high time.Duration
	}{
		{"Concurrency", time.Duration(o.concurrency), 1, 100_000},
		{"Lease", o.lease, 100 * time.Millisecond, 24 * time.Hour},
		{"Poll", o.poll, 10 * time.Millisecond, time.Minute},
		{"ShutdownTimeout", o.shutdownTimeout, 0, 24 * time.Hour},
		{"UnknownKinds", o.unknownKinds, 0, 365 * 24 * time.Hour},
	}
	for _, b := range bounds {
		if b.value < b.low || b.value > b.high {
			if b.name == "Concurrency" {
				return fmt.Errorf("holdfast: Concurrency of %d: give %d to %d", b.value, b.low, b.high)
			}
			return fmt.Errorf("holdfast: %s of %s: give %s to %s", b.name, b.value, b.low, b.high)
		}
	}
	return nil
}

func cmpOr[T int | time.Duration](given, otherwise T) T {
	if given == 0 {
		return otherwise
	}
	return given
}

func newName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	var random [3]byte
	_, _ = rand.Read(random[:])
	return fmt.Sprintf("go-%s-%d-%s", excerpt(host, 200), os.Getpid(), hex.EncodeToString(random[:]))
}

// check finds a wrong address or key before any job runs. A server that does not answer is asked again for a while.
func (w *Worker) check(ctx context.Context, from *leases) error {
	began := time.Now()
	for {
		err := from.depth(ctx, w.Queues)
		if err == nil || !isTemporary(err) {
			return err
		}
		patience := startTimeout
		var dns *net.DNSError
		switch {
		case errors.As(err, &dns) && dns.IsNotFound:
			patience = 0
		case errors.Is(err, syscall.ECONNREFUSED):
			patience = refusedTimeout
		}
		if time.Since(began) > patience || !sleep(ctx, 250*time.Millisecond) {
			return err
		}
	}
}

func (w *Worker) startEngine() {
	w.keeper.start()
	w.ends.start(2)
	w.reports.start(2)
	go w.reporter.loop()
}

// begin runs attempts, whose places are taken; their leases are kept from here on.
func (w *Worker) begin(attempts []*attempt) {
	w.counts.started.Add(int64(len(attempts)))
	w.counts.running.Add(int64(len(attempts)))
	w.keeper.add(attempts)
	for _, a := range attempts {
		go w.perform(a)
	}
}

// perform: an attempt from its start to its end, also where its handler ends its goroutine.
func (w *Worker) perform(a *attempt) {
	end := failure(CategoryUserCode, "HANDLER_FAILED", "the handler has ended its goroutine", true)
	defer func() {
		if !a.end() {
			w.log.Warn("the handler of a job, which was given up, has left", "job", a.info.String())
			return
		}
		if a.leaving() == suspended {
			end = outcome{word: waiting}
		}
		w.leave(a, end)
	}()
	end = w.outcomeOf(a)
}

// leave: the place is free, and the end is told.
func (w *Worker) leave(a *attempt, end outcome) {
	a.cancel(context.Canceled)
	w.slots.give(1)
	w.counts.running.Add(-1)
	switch {
	case end.word == waiting:
		w.counts.suspended.Add(1)
		w.keeper.remove(a)
	case !end.isSettled():
		w.keeper.remove(a)
	case a.hasReports():
		w.reporter.finish(&ending{a, end})
	default:
		w.ends.add(&ending{a, end})
	}
}

// giveUp: the handler was told to stop and has not left within the grace period. A goroutine cannot be ended: it goes on for nothing.
func (w *Worker) giveUp(a *attempt) {
	stopped := a.stopReason()
	if stopped == nil || !a.end() {
		return
	}
	w.counts.givenUp.Add(1)
	w.log.Error("a job does not stop: its handler is given up and runs on for nothing", "job", a.info.String(), "why", stopped.Error())
	end := ofStop(stopped)
	if end.word == cancelled || end.word == released && a.strict {
		end = outcome{word: lost} // the server fails a cancelled one with CANCEL_TIMEOUT
	}
	w.leave(a, end)
}

// leaveForOthers: a kind that is not known here may be known to another worker of the queue.
func (w *Worker) leaveForOthers(a *attempt) outcome {
	w.lock.Lock()
	defer w.lock.Unlock()
	if len(w.unknown) >= mostUnknown {
		clear(w.unknown)
	}
	since, seen := w.unknown[a.key.id]
	if !seen {
		since = time.Now()
		w.unknown[a.key.id] = since
	}
	if time.Since(since) > w.options.unknownKinds {
		delete(w.unknown, a.key.id)
		var known []string
		for name := range w.kinds {
			known = append(known, name)
		}
		slices.Sort(known)
		message := fmt.Sprintf("no worker had a handler for %q; this one has %s", a.info.Kind, strings.Join(known, ", "))
		return failure(CategoryConfiguration, "NO_HANDLER", message, false)
	}
	w.log.Warn("a job is left for another worker: there is no handler for its kind", "job", a.info.String())
	delay := 30 * time.Second
	if !seen {
		delay = time.Second
	}
	return outcome{word: snoozed, delay: &delay}
}

// Shutdown takes no more jobs and waits for running ones until ctx is done. Then it tells the rest to stop, gives their jobs back and
// returns.
func (w *Worker) Shutdown(ctx context.Context) {
	w.lock.Lock()
	was := w.state
	w.state = isClosed
	w.draining.Store(true)
	w.lock.Unlock()
	if was == isClosed && w.shutdown != nil {
		<-w.shutdown
	}
	if was != isServing {
		return
	}
	defer close(w.shutdown)
	w.log.Info("shutting down", "worker", w.name, "running", w.counts.running.Load())
	if w.claimer != nil {
		w.stopClaims()
		w.claimer.stop(w.stopLeasing)
	}
	w.awaitNone(ctx)
	for _, a := range w.keeper.all() {
		a.stop(ErrShutdown, "the worker shuts down")
	}
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterStop)
	w.awaitNone(short)
	cancel()
	for _, a := range w.keeper.all() {
		if a.end() {
			w.leave(a, outcome{word: released})
		}
	}
	w.reporter.close(lastSettleTime)
	if !w.ends.close(lastSettleTime) {
		w.log.Error("the server did not answer; leases that are left will run out")
	}
	w.stopCalls()
	w.reports.close(time.Second)
	w.keeper.close()
	w.log.Info("shut down", "worker", w.name)
}

func (w *Worker) awaitNone(ctx context.Context) {
	for w.counts.running.Load() > 0 && sleep(ctx, 20*time.Millisecond) {
		continue
	}
}
