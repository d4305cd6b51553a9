package holdfast_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

func TestAStepThatIsDoneIsNotDoneAgainByALaterAttempt(t *testing.T) {
	s := newStage(t)
	var fetched, stored atomic.Int64
	holdfast.Handle(s.worker, "ingest", func(ctx context.Context, job *holdfast.Job[any]) (string, error) {
		words, err := holdfast.Step(ctx, "fetch", func(context.Context) ([]string, error) {
			fetched.Add(1)
			return []string{"a", "<b>"}, nil
		})
		if err != nil {
			return "", err
		}
		return holdfast.Step(ctx, "store", func(context.Context) (string, error) {
			if stored.Add(1) == 1 {
				return "", errors.New("the disk is full")
			}
			return strings.Join(words, " "), nil
		})
	})
	s.start()
	status := s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "ingest"}), `"a <b>"`)
	if fetched.Load() != 1 || stored.Load() != 2 || status.Attempt != 2 {
		t.Errorf("fetched %d times, stored %d times, in attempt %d", fetched.Load(), stored.Load(), status.Attempt)
	}
}

func TestAShortStepIsOneReport(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "step", func(ctx context.Context, job *holdfast.Job[time.Duration]) (any, error) {
		return holdfast.Step(ctx, "only", func(context.Context) (any, error) {
			time.Sleep(job.Payload)
			return nil, holdfast.Event(ctx, "inside", nil)
		})
	})
	s.start()
	for _, took := range []time.Duration{0, 900 * time.Millisecond} {
		id := s.enqueue(holdfast.JobRequest{Kind: "step", Payload: took})
		s.succeeds(id, "null")
		events, err := client.Timeline(s.ctx, id)
		s.ok(err)
		var types []string
		for _, event := range events {
			if strings.HasPrefix(event.Type, "task.step") || event.Type == "inside" {
				types = append(types, event.Type)
			}
		}
		if want := "[task.step.attempt.started inside task.step.attempt.finished]"; fmt.Sprint(types) != want {
			t.Errorf("the timeline has %v", types)
		}
	}
}

func TestAStepWithABudgetIsTriedAgainInTheSameAttempt(t *testing.T) {
	s := newStage(t)
	var calls atomic.Int64
	holdfast.Handle(s.worker, "budget", func(ctx context.Context, job *holdfast.Job[string]) (any, error) {
		return holdfast.Step(ctx, "flaky", func(ctx context.Context) (int64, error) {
			switch call := calls.Add(1); {
			case job.Payload == "slow":
				<-ctx.Done()
				return 0, context.Cause(ctx)
			case job.Payload == "panics":
				panic("in the step")
			case call < 3:
				return 0, errors.New("not yet")
			default:
				return call, nil
			}
		}, holdfast.StepAttempts(3, 10*time.Millisecond), holdfast.StepTimeout(50*time.Millisecond))
	})
	s.start()
	if status := s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "budget", Payload: ""}), "3"); status.Attempt != 1 {
		t.Errorf("attempt %d", status.Attempt)
	}
	for payload, text := range map[string]string{"slow": "took longer than 50ms", "panics": "in the step"} {
		calls.Store(0)
		status := s.ended(s.enqueue(holdfast.JobRequest{Kind: "budget", Payload: payload, MaxAttempts: 1}))
		if calls.Load() != 3 || !strings.Contains(string(status.Raw), text) {
			t.Errorf("%s: %d calls, %s", payload, calls.Load(), status.Raw)
		}
	}
}

func TestACheckpointOfAnotherTypeFailsForGood(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "typed", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		if job.Attempt == 1 {
			_, err := holdfast.Step(ctx, "size", func(context.Context) (string, error) { return "wide", nil })
			return nil, errors.Join(err, errors.New("once more"))
		}
		return holdfast.Step(ctx, "size", func(context.Context) (size, error) { panic("it is done") })
	})
	s.start()
	s.fails(s.enqueue(holdfast.JobRequest{Kind: "typed"}), holdfast.CategoryDataQuality, "VALIDATION")
}

func TestWhatAStepMayNotDoIsRefused(t *testing.T) {
	s := newStage(t)
	body := func(context.Context) (any, error) { return nil, nil }
	holdfast.Handle(s.worker, "wrong", func(ctx context.Context, job *holdfast.Job[string]) (any, error) {
		switch job.Payload {
		case "twice":
			if _, err := holdfast.Step(ctx, "a", body); err != nil {
				return nil, err
			}
			return holdfast.Step(ctx, "a", body)
		case "name":
			return holdfast.Step(ctx, "no name !", body)
		case "wait":
			return holdfast.Step(ctx, "a", func(context.Context) (any, error) { return nil, holdfast.Sleep(ctx, "s", time.Hour) })
		case "large":
			return holdfast.Step(ctx, "a", func(context.Context) (string, error) { return strings.Repeat("x", 2<<20), nil })
		}
		for n := range 1_001 {
			if _, err := holdfast.Spawn(ctx, fmt.Sprint("c", n), holdfast.JobRequest{Kind: "none", Delay: time.Hour}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	s.start()
	for payload, text := range map[string]string{
		"twice": "asked for in this attempt", "name": "BAD_NAME", "wait": "in the middle of a step", "large": "RESULT_TOO_LARGE",
	} {
		status := s.ended(s.enqueue(holdfast.JobRequest{Kind: "wrong", Payload: payload, MaxAttempts: 1}))
		if status.State != holdfast.StateFailed || !strings.Contains(string(status.Raw), text) {
			t.Errorf("%s: %s", payload, status.Raw)
		}
	}
	if _, err := holdfast.Step(context.Background(), "a", body); err == nil {
		t.Error("a step outside of a handler")
	}
}

func TestAnOperatorsRequestForAnEarlierStepCallsTheHandlerAgain(t *testing.T) {
	s := newStage(t)
	var first, second atomic.Int64
	asked := s.hears("resume_from_step")
	inSecond, let := make(chan string, 4), make(chan none)
	holdfast.Handle(s.worker, "sent-back", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		one, err := holdfast.Step(ctx, "first", func(context.Context) (int64, error) { return first.Add(1), nil })
		if err != nil {
			return nil, err
		}
		_, err = holdfast.Step(ctx, "second", func(ctx context.Context) (any, error) {
			second.Add(1)
			inSecond <- job.ID
			<-let
			return nil, nil
		})
		if err != nil {
			return nil, err
		}
		_, err = holdfast.Step(ctx, "third", func(context.Context) (any, error) { return nil, nil })
		return one, err
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "sent-back"})
	got(s, inSecond)
	s.ok(client.Control(s.ctx, id, holdfast.Control{Action: "resume_from_step", StepID: "first", Reason: "mended"}))
	got(s, asked)
	close(let)
	status := s.succeeds(id, "2")
	if first.Load() != 2 || second.Load() != 2 || status.Attempt != 1 {
		t.Errorf("first %d times, second %d times, attempt %d", first.Load(), second.Load(), status.Attempt)
	}
	events, err := client.Timeline(s.ctx, id)
	s.ok(err)
	acks := 0
	for _, event := range events {
		if event.Type == "task.control.recovery.ack" {
			acks++
		}
	}
	if acks != 1 {
		t.Errorf("%d acknowledgements", acks)
	}
}

func TestAPauseHoldsUpTheNextStep(t *testing.T) {
	s := newStage(t)
	inFirst, let := make(chan string, 1), make(chan none)
	var second atomic.Bool
	asked := s.hears(`"paused":true`)
	holdfast.Handle(s.worker, "paused", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		if _, err := holdfast.Step(ctx, "first", func(context.Context) (any, error) {
			inFirst <- job.ID
			<-let
			return nil, nil
		}); err != nil {
			return nil, err
		}
		return holdfast.Step(ctx, "second", func(context.Context) (any, error) { second.Store(true); return nil, nil })
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "paused"})
	got(s, inFirst)
	// Until the start of the step is told the server does not know that the job runs in steps.
	s.until("the pause to be taken", func() bool {
		return client.Control(s.ctx, id, holdfast.Control{Action: "pause", Reason: "to look"}) == nil
	})
	got(s, asked)
	close(let)
	time.Sleep(time.Second)
	if second.Load() {
		t.Error("the second step was begun although the job is paused")
	}
	s.ok(client.Control(s.ctx, id, holdfast.Control{Action: "resume", Reason: "seen"}))
	s.succeeds(id, "null")
}

// hears tells when the server has said this to the worker, and the worker has heard it.
func (s *stage) hears(text string) <-chan none {
	heard := make(chan none)
	var once sync.Once
	s.worker.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || !strings.HasPrefix(r.URL.Path, "/v1/leases/") {
			return answer, err
		}
		content, err := io.ReadAll(answer.Body)
		answer.Body = io.NopCloser(bytes.NewReader(content))
		if bytes.Contains(content, []byte(text)) {
			// It is read a moment after this has returned.
			once.Do(func() { time.AfterFunc(500*time.Millisecond, func() { close(heard) }) })
		}
		return answer, err
	})}
	return heard
}
