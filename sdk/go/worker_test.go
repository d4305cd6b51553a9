package holdfast_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

type size struct {
	Width int `json:"width"`
}

func (s *size) Validate() error {
	if s.Width < 0 {
		return errors.New("width is below zero")
	}
	return nil
}

func TestAHandlerGetsItsPayloadTypedAndReturnsTheResult(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "resize", func(ctx context.Context, job *holdfast.Job[size]) (size, error) {
		current, _ := holdfast.Current(ctx)
		if current.ID != job.ID || job.Kind != "resize" || job.Attempt != 1 || job.MaxAttempts != 7 || job.Tags[0] != "cat" {
			return size{}, fmt.Errorf("unexpected: %+v", job)
		}
		return size{job.Payload.Width * 2}, nil
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "resize", Payload: size{320}, MaxAttempts: 7, Tags: []string{"cat"}})
	result, err := holdfast.Result[size](s.ctx, client, id)
	s.ok(err)
	if result.Width != 640 {
		t.Fatalf("the result is %+v", result)
	}
}

func TestAPayloadThatDoesNotFitFailsForGood(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "resize", func(context.Context, *holdfast.Job[size]) (any, error) {
		panic("it was called")
	})
	s.start()
	for _, payload := range []any{"text", map[string]any{"width": "wide"}, size{-1}} {
		id := s.enqueue(holdfast.JobRequest{Kind: "resize", Payload: payload})
		status := s.fails(id, holdfast.CategoryDataQuality, "VALIDATION")
		if status.Attempt != 1 {
			t.Errorf("%v was tried %d times", payload, status.Attempt)
		}
	}
}

func TestAFailureHasTheCategoryTheCodeAndTheDelayOfTheHandler(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "fail", func(_ context.Context, job *holdfast.Job[string]) (string, error) {
		switch {
		case job.Payload == "data":
			return "", fmt.Errorf("row 7: %w", holdfast.DataQuality("BAD_ROW", errors.New("no id")))
		case job.Attempt == 1:
			return "", holdfast.Infrastructure("BUSY", errors.New("later"), holdfast.RetryAfter(2500*time.Millisecond))
		}
		return job.LastFailure.Code, nil
	})
	s.start()
	status := s.run("fail", "data")
	if status.Failure.Code != "BAD_ROW" || status.Failure.Message != "row 7: no id" || status.Attempt != 1 {
		t.Errorf("the failure is %+v", status.Failure)
	}
	began := time.Now()
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "fail", Payload: ""}), `"BUSY"`)
	if took := time.Since(began); took < 2500*time.Millisecond {
		t.Errorf("it was tried again after %s", took)
	}
}

func TestAPanicFailsItsJobAloneAndHasItsStack(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "panic", func(context.Context, *holdfast.Job[any]) (any, error) {
		var nothing *size
		return nothing.Width, nil
	})
	holdfast.Handle(s.worker, "exit", func(context.Context, *holdfast.Job[any]) (any, error) {
		runtime.Goexit()
		return nil, nil
	})
	s.start()
	status := s.ended(s.enqueue(holdfast.JobRequest{Kind: "panic", MaxAttempts: 1}))
	if !strings.Contains(status.Failure.StackTrace+string(status.Raw), "worker_test.go") {
		t.Errorf("no stack in %s", status.Raw)
	}
	if !strings.Contains(string(status.Raw), "nil pointer dereference") {
		t.Errorf("no cause in %s", status.Raw)
	}
	status = s.ended(s.enqueue(holdfast.JobRequest{Kind: "exit", MaxAttempts: 1}))
	if status.State != holdfast.StateFailed {
		t.Errorf("the job is %s", status.State)
	}
}

func TestASnoozeUsesNoBudget(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "snooze", func(_ context.Context, job *holdfast.Job[any]) (int, error) {
		if job.Attempt < 3 {
			return 0, holdfast.Snooze(100 * time.Millisecond)
		}
		return job.Failures, nil
	})
	s.start()
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "snooze", MaxAttempts: 1}), "0")
}

func TestTheCauseOfTheContextSaysWhyAHandlerShouldStop(t *testing.T) {
	s := newStage(t)
	begun := make(chan string, 10)
	causes := make(chan error, 10)
	holdfast.Handle(s.worker, "wait", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		begun <- job.ID
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, ctx.Err()
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "wait"})
	got(s, begun)
	_, err := client.Cancel(s.ctx, id, "not needed")
	s.ok(err)
	cause := got(s, causes)
	var stop *holdfast.StopError
	if !errors.Is(cause, holdfast.ErrCancelled) || !errors.Is(cause, context.Canceled) || !errors.As(cause, &stop) || stop.Reason != "not needed" {
		t.Errorf("the cause is %v", cause)
	}
	if status := s.ended(id); status.State != holdfast.StateCancelled {
		t.Errorf("the job is %s", status.State)
	}

	id = s.enqueue(holdfast.JobRequest{Kind: "wait", Timeout: 300 * time.Millisecond, MaxAttempts: 1})
	got(s, begun)
	if cause := got(s, causes); !errors.Is(cause, holdfast.ErrAttemptTimeout) {
		t.Errorf("the cause is %v", cause)
	}
	if status := s.ended(id); !strings.Contains(string(status.Raw), "ATTEMPT_TIMEOUT") {
		t.Errorf("the job is %s", status.Raw)
	}

	id = s.enqueue(holdfast.JobRequest{Kind: "wait", Deadline: time.Now().Add(4 * time.Second)})
	got(s, begun)
	if cause := got(s, causes); !errors.Is(cause, holdfast.ErrDeadlineExceeded) && !errors.Is(cause, holdfast.ErrLeaseLost) {
		t.Errorf("the cause is %v", cause)
	}
	s.fails(id, holdfast.CategoryTimeout, "DEADLINE_EXCEEDED")
}

func TestAContextHasTheDeadlineOfTheAttempt(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "deadline", func(ctx context.Context, _ *holdfast.Job[any]) (bool, error) {
		at, ok := ctx.Deadline()
		return ok && time.Until(at) > 50*time.Minute && time.Until(at) < time.Hour, nil
	})
	s.start()
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "deadline", Timeout: time.Hour}), "true")
}

func TestAResultCountsEvenIfTheHandlerWasToldToStop(t *testing.T) {
	s := newStage(t)
	begun := make(chan string, 1)
	holdfast.Handle(s.worker, "finish", func(ctx context.Context, job *holdfast.Job[any]) (string, error) {
		begun <- job.ID
		<-ctx.Done()
		return "done", nil
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "finish"})
	got(s, begun)
	_, err := client.Cancel(s.ctx, id, "")
	s.ok(err)
	s.succeeds(id, `"done"`)
}

func TestAHandlerThatDoesNotStopIsGivenUp(t *testing.T) {
	slow(t)
	s := newStage(t)
	s.worker.Concurrency = 1
	begun, let := make(chan string, 1), make(chan none)
	holdfast.Handle(s.worker, "deaf", func(_ context.Context, job *holdfast.Job[any]) (any, error) {
		begun <- job.ID
		<-let
		return nil, nil
	})
	holdfast.Handle(s.worker, "next", func(context.Context, *holdfast.Job[any]) (any, error) { return nil, nil })
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "deaf"})
	got(s, begun)
	_, err := client.Cancel(s.ctx, id, "")
	s.ok(err)
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "next"}), "null")
	close(let)
	s.fails(id, holdfast.CategoryCancelled, "CANCEL_TIMEOUT")
	if stats := s.worker.Stats(); stats.GivenUp != 1 {
		t.Errorf("the counts are %+v", stats)
	}
}

func TestAShutdownLetsShortJobsEndAndGivesLongOnesBack(t *testing.T) {
	s := newStage(t)
	begun, let := make(chan string, 2), make(chan none)
	holdfast.Handle(s.worker, "short", func(_ context.Context, job *holdfast.Job[any]) (string, error) {
		begun <- job.ID
		<-let
		return "ended", nil
	})
	holdfast.Handle(s.worker, "long", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		begun <- job.ID
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), holdfast.ErrShutdown) {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
		return nil, ctx.Err()
	})
	s.worker.ShutdownTimeout = 3 * time.Second
	running, stop := context.WithCancel(s.ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.worker.Run(running) }()
	short, long := s.enqueue(holdfast.JobRequest{Kind: "short"}), s.enqueue(holdfast.JobRequest{Kind: "long"})
	got(s, begun)
	got(s, begun)
	stop()
	close(let)
	s.ok(got(s, ended))
	s.succeeds(short, `"ended"`)
	status, err := client.Get(s.ctx, long)
	s.ok(err)
	if status.State != holdfast.StatePending || status.Failures != 0 || status.Crashes != 0 {
		t.Errorf("the job is %s", status.Raw)
	}
}

func TestWhatAHandlerTellsIsAtTheJobWhenItHasEnded(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "tell", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		holdfast.Log(ctx, "one\ntwo ü\n")
		logger := slog.New(holdfast.LogHandler(slog.NewTextHandler(s.said, nil)))
		logger.With("page", 4).WithGroup("g").InfoContext(ctx, "read", "words", 7)
		logger.DebugContext(ctx, "not this")
		holdfast.Logger(ctx).Warn("own")
		holdfast.Progress(ctx, 140, "nearly")
		if err := holdfast.Event(ctx, "encoded", map[string]int{"frames": 500}); err != nil {
			return nil, err
		}
		artifact, err := holdfast.Publish(ctx, "report.txt", []byte("hello"))
		return artifact.Size, err
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "tell"})
	status := s.ended(id)
	if status.State != holdfast.StateSucceeded && status.Failure.Code == "NO_ARTIFACT_STORE" {
		t.Skip("the server has no artifact store")
	}
	s.succeeds(id, "5")
	if *status.Progress != 100 || status.ProgressMessage != "nearly" {
		t.Errorf("the progress is %s", status.Raw)
	}
	text, err := client.Log(s.ctx, id)
	s.ok(err)
	if want := "one\ntwo ü\nlevel=INFO msg=read page=4 g.words=7\nlevel=WARN msg=own\n"; text != want {
		t.Errorf("the log is %q", text)
	}
	if said := s.said.String(); !strings.Contains(said, "job="+id) && !strings.Contains(said, "g.job="+id) {
		t.Errorf("the worker's own log is %s", said)
	}
	events, err := client.Timeline(s.ctx, id)
	s.ok(err)
	found := false
	for _, event := range events {
		found = found || event.Type == "encoded" && compact(event.Data) == `{"frames":500}`
	}
	if !found {
		t.Errorf("the event is not in %+v", events)
	}
	content, err := client.Artifact(s.ctx, id, "report.txt")
	s.ok(err)
	if string(content) != "hello" {
		t.Errorf("the artifact is %q", content)
	}
}

func TestManyLinesArriveWholeAndInOrder(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "lines", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		for n := range 900 {
			holdfast.Log(ctx, fmt.Sprintf("line %d with some text 😀 to fill pieces", n))
			if n%300 == 0 {
				time.Sleep(700 * time.Millisecond)
			}
		}
		return nil, nil
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "lines"})
	s.succeeds(id, "null")
	text, err := client.Log(s.ctx, id)
	s.ok(err)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 900 {
		t.Fatalf("%d lines", len(lines))
	}
	for n, line := range lines {
		if !strings.HasPrefix(line, fmt.Sprintf("line %d with", n)) {
			t.Fatalf("line %d is %q", n, line)
		}
	}
}

func TestAnEventThatIsRefusedFailsItsJobAlone(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "event", func(ctx context.Context, job *holdfast.Job[string]) (any, error) {
		return nil, holdfast.Event(ctx, job.Payload, nil)
	})
	s.start()
	bad := s.enqueue(holdfast.JobRequest{Kind: "event", Payload: "no name !"})
	good := s.enqueue(holdfast.JobRequest{Kind: "event", Payload: "fine"})
	s.succeeds(good, "null")
	if status := s.ended(bad); status.State != holdfast.StateFailed || status.Attempt != 1 {
		t.Errorf("the job is %s", status.Raw)
	}
}

func TestAResultThatCannotBeStoredFailsItsJobAtOnce(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "large", func(context.Context, *holdfast.Job[any]) (string, error) {
		return strings.Repeat("x", 2<<20), nil
	})
	holdfast.Handle(s.worker, "nul", func(context.Context, *holdfast.Job[any]) (string, error) { return "a\x00b", nil })
	holdfast.Handle(s.worker, "func", func(context.Context, *holdfast.Job[any]) (any, error) { return func() {}, nil })
	s.start()
	s.fails(s.enqueue(holdfast.JobRequest{Kind: "large"}), holdfast.CategoryUserCode, "RESULT_TOO_LARGE")
	s.fails(s.enqueue(holdfast.JobRequest{Kind: "nul"}), holdfast.CategoryUserCode, "RESULT_NOT_JSON")
	s.fails(s.enqueue(holdfast.JobRequest{Kind: "func"}), holdfast.CategoryUserCode, "RESULT_NOT_JSON")
}

func TestAKindWithoutAHandlerIsLeftForOthersAndFailsAfterAWhile(t *testing.T) {
	s := newStage(t)
	s.worker.UnknownKinds = 500 * time.Millisecond
	holdfast.Handle(s.worker, "known", func(context.Context, *holdfast.Job[any]) (any, error) { return nil, nil })
	s.start()
	status := s.fails(s.enqueue(holdfast.JobRequest{Kind: "other"}), holdfast.CategoryConfiguration, "NO_HANDLER")
	if status.Attempt != 2 || status.Failures > 1 {
		t.Errorf("the job is %s", status.Raw)
	}
}

func TestSeveralQueuesAreServedInTurn(t *testing.T) {
	s := newStage(t)
	other := s.queue + "b"
	s.worker.Queues = append(s.worker.Queues, other)
	s.worker.Concurrency = 1
	holdfast.Handle(s.worker, "which", func(_ context.Context, job *holdfast.Job[any]) (string, error) { return job.Queue, nil })
	s.start()
	made, err := client.Enqueue(s.ctx, holdfast.JobRequest{Kind: "which", Queue: other})
	s.ok(err)
	s.succeeds(made.ID, `"`+other+`"`)
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "which"}), `"`+s.queue+`"`)
}

func TestABacklogIsRunOnceEach(t *testing.T) {
	s := newStage(t)
	s.worker.Concurrency = 400
	var ran atomic.Int64
	holdfast.Handle(s.worker, "count", func(_ context.Context, job *holdfast.Job[int]) (int, error) {
		ran.Add(1)
		return job.Payload, nil
	})
	const jobs = 3_000
	requests := make([]holdfast.JobRequest, jobs)
	for n := range requests {
		requests[n] = holdfast.JobRequest{Kind: "count", Queue: s.queue, Payload: n}
	}
	_, err := client.EnqueueAll(s.ctx, requests)
	s.ok(err)
	s.start()
	s.until("all jobs to be settled", func() bool { return s.worker.Stats().Settled == jobs })
	if ran.Load() != jobs {
		t.Errorf("%d handlers were called for %d jobs", ran.Load(), jobs)
	}
	for job, err := range client.Jobs(s.ctx, holdfast.JobFilter{Queue: s.queue, Limit: 200}) {
		s.ok(err)
		if job.State != holdfast.StateSucceeded || job.Attempt != 1 || string(job.Result) != string(job.Payload) {
			t.Fatalf("job %s is %s", job.ID, job.Raw)
		}
	}
}

func TestAStrictHandlerStopsWhenItsLeaseMayHaveRunOut(t *testing.T) {
	slow(t)
	s := newStage(t)
	var cut atomic.Bool
	target := http.DefaultTransport
	s.worker.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if cut.Load() && strings.HasPrefix(r.URL.Path, "/v1/leases/") {
			return nil, errors.New("cut off")
		}
		return target.RoundTrip(r)
	})}
	s.worker.Lease = 2 * time.Second
	causes := make(chan error, 2)
	begun := make(chan string, 2)
	holdfast.Handle(s.worker, "strict", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		begun <- job.ID
		if job.Attempt > 1 {
			return nil, nil
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, ctx.Err()
	}, holdfast.Strict())
	s.start()
	s.enqueue(holdfast.JobRequest{Kind: "strict"})
	got(s, begun)
	cut.Store(true)
	if cause := got(s, causes); !errors.Is(cause, holdfast.ErrLeaseLost) {
		t.Errorf("the cause is %v", cause)
	}
	s.until("the warning", func() bool { return strings.Contains(s.said.String(), "HEARTBEAT_DEGRADED") })
	cut.Store(false)
	s.until("the notice", func() bool { return strings.Contains(s.said.String(), "HEARTBEAT_RECOVERED") })
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAWorkerThatCannotServeSaysWhatWouldBeRight(t *testing.T) {
	s := newStage(t)
	noHandler := &holdfast.Worker{URL: serverURL, Queues: []string{"q"}}
	if err := noHandler.Start(s.ctx); err == nil || !strings.Contains(err.Error(), "holdfast.Handle") {
		t.Errorf("without handlers: %v", err)
	}
	for _, wrong := range []*holdfast.Worker{
		{URL: serverURL, APIKey: workerKey},
		{URL: "localhost:8420", Queues: []string{"q"}},
		{URL: serverURL, APIKey: workerKey, Queues: []string{"q"}, Concurrency: -1},
		{URL: serverURL, APIKey: workerKey, Queues: []string{"q"}, Lease: time.Millisecond},
		{URL: serverURL, APIKey: "hf_wrong_key", Queues: []string{"q"}},
		{URL: "http://127.0.0.1:1", Queues: []string{"q"}},
	} {
		holdfast.Handle(wrong, "kind", func(context.Context, *holdfast.Job[any]) (any, error) { return nil, nil })
		if err := wrong.Start(s.ctx); err == nil {
			t.Errorf("%+v was started", wrong.Queues)
		}
	}
	again := &holdfast.Worker{URL: serverURL, APIKey: workerKey, Queues: []string{s.queue}}
	holdfast.Handle(again, "kind", func(context.Context, *holdfast.Job[any]) (any, error) { return nil, nil })
	s.ok(again.Start(s.ctx))
	if again.Start(s.ctx) == nil {
		t.Error("it was started twice")
	}
	again.Shutdown(s.ctx)
	again.Shutdown(s.ctx)
}

func TestAHandlerThatIsRegisteredWronglyPanics(t *testing.T) {
	handler := func(context.Context, *holdfast.Job[any]) (any, error) { return nil, nil }
	for _, kinds := range [][]string{{"a", "a"}, {"no name !"}, {""}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q were registered", kinds)
				}
			}()
			worker := &holdfast.Worker{}
			for _, kind := range kinds {
				holdfast.Handle(worker, kind, handler)
			}
		}()
	}
}

// What only a server with faults would show: docs/guides/new-language.md.
func TestAKeyIsAskedForAgainWhenItWasRefused(t *testing.T) {
	t.Parallel()
	var shown []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = append(shown, r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") != "Bearer fresh" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "x", "state": "PENDING"})
	}))
	defer server.Close()
	keys := []string{"stale", "fresh"}
	rotated := &holdfast.Client{URL: server.URL, KeySource: func(context.Context) (string, error) {
		key := keys[0]
		if len(keys) > 1 {
			keys = keys[1:]
		}
		return key, nil
	}}
	if _, err := rotated.Get(context.Background(), "x"); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(shown) != "[Bearer stale Bearer fresh]" {
		t.Errorf("shown were %v", shown)
	}
}

func TestTheExampleRunsAndStopsBySignal(t *testing.T) {
	slow(t)
	s := newStage(t)
	program := filepath.Join(t.TempDir(), "worker")
	if output, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./examples/worker").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	worker := exec.Command(program)
	worker.Env = append(worker.Environ(), "HOLDFAST_SERVER_URL="+serverURL, "HOLDFAST_SERVER_API_KEY="+workerKey)
	s.ok(worker.Start())
	made, err := client.Enqueue(s.ctx, holdfast.JobRequest{Kind: "resize", Queue: "media", Payload: size{640}})
	s.ok(err)
	s.succeeds(made.ID, `{"width":640}`)
	s.ok(worker.Process.Signal(syscall.SIGTERM))
	s.ok(worker.Wait())
}
