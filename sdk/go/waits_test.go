package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

// The scenarios of the conformance kit have the waits between worker and server; these are about what a handler sees.

func TestADurableHandlerWaitsForEverythingAndHoldsNothing(t *testing.T) {
	s := newStage(t)
	var welcomed atomic.Int64
	type result struct {
		Number string `json:"number"`
		By     string `json:"by"`
		Words  []int  `json:"words"`
	}
	holdfast.Handle(s.worker, "onboard", func(ctx context.Context, job *holdfast.Job[[]string]) (result, error) {
		if _, err := holdfast.Step(ctx, "welcome", func(context.Context) (any, error) { welcomed.Add(1); return nil, nil }); err != nil {
			return result{}, err
		}
		if err := holdfast.Sleep(ctx, "nap", 300*time.Millisecond); err != nil {
			return result{}, err
		}
		if err := holdfast.SleepUntil(ctx, "past", time.Now().Add(-time.Hour)); err != nil {
			return result{}, err
		}
		contract, err := holdfast.Await[struct{ Number string }](ctx, "contract")
		if err != nil {
			return result{}, err
		}
		limit, err := holdfast.Approve(ctx, "limit", holdfast.Question{Text: "Raise it?", Details: "by 5", Within: time.Hour})
		if err != nil {
			return result{}, err
		}
		words, err := holdfast.Map[int](ctx, "count", job.Payload, func(page string) holdfast.JobRequest {
			return holdfast.JobRequest{Kind: "count", Payload: page}
		})
		return result{contract.Number, limit.Comment, words}, err
	})
	holdfast.Handle(s.worker, "count", func(_ context.Context, job *holdfast.Job[string]) (int, error) {
		return len(strings.Fields(job.Payload)), nil
	})
	s.worker.Concurrency = 1
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "onboard", Payload: []string{"one", "one two"}})
	s.until("the wait for the signal", func() bool { return s.waitsFor(id) == "SIGNAL" })
	s.ok(client.Signal(s.ctx, id, "contract", map[string]string{"number": "C-17"}))
	s.until("the question", func() bool { return s.waitsFor(id) == "APPROVAL" })
	asking := ""
	for job, err := range client.Jobs(s.ctx, holdfast.JobFilter{Queue: s.queue, Waits: "approval"}) {
		s.ok(err)
		asking = job.ID
	}
	if asking != id {
		t.Errorf("job %q asks", asking)
	}
	s.ok(client.Decide(s.ctx, id, holdfast.Decision{WaitID: "limit", Approved: true, Comment: "fine"}))
	s.succeeds(id, `{"by":"fine","words":[1,2],"number":"C-17"}`)
	if welcomed.Load() != 1 {
		t.Errorf("welcomed %d times", welcomed.Load())
	}
	if stats := s.worker.Stats(); stats.Suspended < 3 || stats.Refused != 0 {
		t.Errorf("the counts are %+v", stats)
	}
}

func (s *stage) waitsFor(id string) string {
	s.t.Helper()
	status, err := client.Get(s.ctx, id)
	s.ok(err)
	if status.State.Terminal() {
		s.t.Fatalf("the job has ended: %s", status.Raw)
	}
	if status.WaitsFor == nil {
		return ""
	}
	return status.WaitsFor.Sort
}

func TestASuspendedHandlerGetsTheSameFromWhateverItAsksFor(t *testing.T) {
	s := newStage(t)
	seen := make(chan []error, 1)
	holdfast.Handle(s.worker, "careless", func(ctx context.Context, job *holdfast.Job[any]) (string, error) {
		_, first := holdfast.Await[string](ctx, "go")
		if first == nil {
			return "woken", nil
		}
		_, step := holdfast.Step(ctx, "a", func(context.Context) (any, error) { t.Error("the step was run"); return nil, nil })
		event := holdfast.Event(ctx, "still-here", nil)
		again := holdfast.Sleep(ctx, "nap", time.Hour)
		seen <- []error{first, step, event, again, context.Cause(ctx)}
		panic("passed over as well")
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "careless", MaxAttempts: 1})
	for n, err := range got(s, seen) {
		if !errors.Is(err, holdfast.ErrSuspended) {
			t.Errorf("%d was answered %v", n, err)
		}
	}
	s.waits(id)
	s.ok(client.Signal(s.ctx, id, "go", "x"))
	s.succeeds(id, `"woken"`)
}

func TestAWaitThatIsOverInTimeSaysSo(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "within", func(ctx context.Context, job *holdfast.Job[any]) ([]any, error) {
		_, came, err := holdfast.AwaitWithin[string](ctx, "go", 200*time.Millisecond)
		if err != nil {
			return nil, err
		}
		hour := time.Hour
		second, late, err := holdfast.AwaitSignal[string](ctx, holdfast.ForSignal{ID: "go-again", Name: "go", Within: &hour})
		return []any{came, second, late}, err
	})
	holdfast.Handle(s.worker, "undecided", func(ctx context.Context, job *holdfast.Job[string]) (any, error) {
		approval, err := holdfast.Approve(ctx, "q", holdfast.Question{Text: "Well?", Within: 200 * time.Millisecond, Afterwards: job.Payload})
		return fmt.Sprint(approval.Approved, approval.By), err
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "within"})
	s.until("the second wait", func() bool {
		status, err := client.Get(s.ctx, id)
		s.ok(err)
		return status.WaitsFor != nil && status.WaitsFor.ID == "go-again"
	})
	told, err := client.SignalOnce(s.ctx, id, "go", "key", "late")
	s.ok(err)
	again, err := client.SignalOnce(s.ctx, id, "go", "key", "late")
	if err == nil && (!told || again) {
		t.Errorf("told %t, and again %t", told, again)
	}
	s.succeeds(id, `[false,"late",true]`)
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "undecided", Payload: "REJECT"}), `"false"`)
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "undecided", Payload: "APPROVE"}), `"true"`)
	failed := s.enqueue(holdfast.JobRequest{Kind: "undecided", Payload: "FAIL"})
	s.fails(failed, holdfast.CategoryTimeout, "NOT_DECIDED")
}

func TestWhatDoesNotFitATypeFailsForGoodAndIsKept(t *testing.T) {
	s := newStage(t)
	var mended atomic.Bool
	holdfast.Handle(s.worker, "typed", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		if mended.Load() {
			return holdfast.Await[string](ctx, "go")
		}
		return holdfast.Await[int](ctx, "go")
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "typed"})
	s.waits(id)
	s.ok(client.Signal(s.ctx, id, "go", "text"))
	s.fails(id, holdfast.CategoryDataQuality, "VALIDATION")
	mended.Store(true)
	s.ok(client.Retry(s.ctx, id))
	s.succeeds(id, `"text"`)
}

func TestChildrenAreJoinedInTheirOrderAndTheFirstIsFound(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "child", func(ctx context.Context, job *holdfast.Job[string]) (string, error) {
		switch job.Payload {
		case "bad":
			return "", holdfast.DataQuality("BAD", errors.New("it is bad"))
		case "never":
			<-ctx.Done()
			return "", ctx.Err()
		}
		return job.Payload, nil
	})
	holdfast.Handle(s.worker, "parent", func(ctx context.Context, job *holdfast.Job[string]) (any, error) {
		var jobs []holdfast.JobRequest
		for _, name := range strings.Fields(job.Payload) {
			jobs = append(jobs, holdfast.JobRequest{Kind: "child", Payload: name})
		}
		children, err := holdfast.SpawnAll(ctx, "children", jobs)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(job.Payload, "never") {
			end, err := holdfast.Any(ctx, "first", children)
			return end.Result, err
		}
		ends, err := holdfast.Join(ctx, "all", children)
		var child *holdfast.ChildFailedError
		if errors.As(err, &child) && job.Payload == "a bad" {
			return child.Child.Failure.Code, nil
		}
		if err != nil {
			return nil, err
		}
		var results []string
		for _, end := range ends {
			results = append(results, string(end.Result))
		}
		return results, nil
	})
	holdfast.Handle(s.worker, "wrong", func(ctx context.Context, job *holdfast.Job[string]) (any, error) {
		if job.Payload == "unique" {
			return holdfast.Spawn(ctx, "c", holdfast.JobRequest{Kind: "child", UniqueKey: "k"})
		}
		return holdfast.Join(ctx, "j", []holdfast.Child{{ID: holdfast.NewID(), StartedAs: "c"}})
	})
	s.start()
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "parent", Payload: "a b c"}), `["\"a\"","\"b\"","\"c\""]`)
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "parent", Payload: "a bad"}), `"BAD"`)
	s.fails(s.enqueue(holdfast.JobRequest{Kind: "parent", Payload: "b bad"}), holdfast.CategoryUserCode, "CHILD_FAILED")
	id := s.enqueue(holdfast.JobRequest{Kind: "parent", Payload: "never first"})
	s.succeeds(id, `"first"`)
	_, err := client.CancelAll(s.ctx, id, "")
	s.ok(err)
	for payload, text := range map[string]string{"unique": "BAD_UNIQUE", "join": "was not started"} {
		status := s.ended(s.enqueue(holdfast.JobRequest{Kind: "wrong", Payload: payload, MaxAttempts: 1}))
		if !strings.Contains(string(status.Raw), text) {
			t.Errorf("%s: %s", payload, status.Raw)
		}
	}
}

func TestManyChildrenAreStartedInParts(t *testing.T) {
	slow(t)
	s := newStage(t)
	s.worker.Concurrency = 100
	holdfast.Handle(s.worker, "child", func(_ context.Context, job *holdfast.Job[int]) (int, error) { return job.Payload, nil })
	holdfast.Handle(s.worker, "parent", func(ctx context.Context, job *holdfast.Job[any]) (int, error) {
		items := make([]int, 2_500)
		for n := range items {
			items[n] = n
		}
		results, err := holdfast.Map[int](ctx, "all", items, func(n int) holdfast.JobRequest {
			return holdfast.JobRequest{Kind: "child", Payload: n}
		})
		for n, result := range results {
			if n != result {
				return 0, fmt.Errorf("result %d is %d", n, result)
			}
		}
		return len(results), err
	})
	s.start()
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "parent"}), "2500")
}

func TestALoopGoesOnAsAnotherJobOfTheSameKey(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "loop", func(ctx context.Context, job *holdfast.Job[int]) (string, error) {
		if job.Payload < 3 {
			return "passed over", holdfast.ContinueAs(ctx, job.Payload+1)
		}
		return "ended", nil
	})
	s.start()
	first := s.enqueue(holdfast.JobRequest{Kind: "loop", Payload: 0, UniqueKey: s.queue})
	s.until("the last turn", func() bool {
		turns := 0
		for job, err := range client.Jobs(s.ctx, holdfast.JobFilter{Queue: s.queue}) {
			s.ok(err)
			if job.State == holdfast.StateSucceeded && job.UniqueKey == s.queue && job.Attempt == 1 {
				turns++
			}
		}
		return turns == 4
	})
	if status := s.ended(first); len(status.Result) != 0 && string(status.Result) != "null" {
		t.Errorf("the first turn has the result %s", status.Result)
	}
}

func TestAnOperatorSendsAJobBackToAWait(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "back", func(ctx context.Context, job *holdfast.Job[any]) (string, error) {
		one, err := holdfast.Await[string](ctx, "one")
		if err != nil {
			return "", err
		}
		two, err := holdfast.Await[string](ctx, "two")
		return one + two, err
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "back"})
	s.waits(id)
	s.ok(client.Signal(s.ctx, id, "one", "a"))
	waitsFor := func(name string) func() bool {
		return func() bool {
			status, err := client.Get(s.ctx, id)
			s.ok(err)
			return status.WaitsFor != nil && status.WaitsFor.ID == name
		}
	}
	s.until("the second wait", waitsFor("two"))
	s.ok(client.Control(s.ctx, id, holdfast.Control{Action: "resume_from_step", StepID: "one", Reason: "another one"}))
	s.until("the first wait again", waitsFor("one"))
	s.ok(client.Signal(s.ctx, id, "one", "b"))
	s.until("the second wait again", waitsFor("two"))
	s.ok(client.Signal(s.ctx, id, "two", "c"))
	s.succeeds(id, `"bc"`)
}

func TestAnIDThatWasSomethingElseIsRefused(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "reused", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		if job.Attempt == 1 {
			if _, err := holdfast.Step(ctx, "a", func(context.Context) (any, error) { return nil, nil }); err != nil {
				return nil, err
			}
			return nil, holdfast.Sleep(ctx, "b", 100*time.Millisecond)
		}
		sleeps := holdfast.Sleep(ctx, "a", time.Hour)
		_, steps := holdfast.Step(ctx, "b", func(context.Context) (any, error) { return nil, nil })
		return []string{sleeps.Error(), steps.Error()}, nil
	})
	s.start()
	status := s.ended(s.enqueue(holdfast.JobRequest{Kind: "reused"}))
	for _, text := range []string{"'a' was a step before", "was a wait of the sort SLEEP before"} {
		if !strings.Contains(string(status.Result), text) {
			t.Errorf("no %q in %s", text, status.Result)
		}
	}
}
