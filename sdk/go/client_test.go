package holdfast_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

func TestAJobIsOneHoweverOftenItIsEnqueued(t *testing.T) {
	s := newStage(t)
	job := holdfast.JobRequest{ID: holdfast.NewID(), Kind: "later", Delay: time.Hour, Payload: size{1}, UniqueKey: s.queue}
	if first, second := s.enqueue(job), s.enqueue(job); first != second || first != job.ID {
		t.Errorf("%s and %s", first, second)
	}
	made, err := client.Enqueue(s.ctx, holdfast.JobRequest{Kind: "later", Queue: s.queue, UniqueKey: s.queue})
	s.ok(err)
	if !made.Duplicate || made.ID != job.ID {
		t.Errorf("another job with its key: %+v", made)
	}
	_, err = client.Enqueue(s.ctx, holdfast.JobRequest{ID: job.ID, Kind: "other"})
	var refused *holdfast.Error
	if !errors.As(err, &refused) || refused.Status != 409 || refused.Code != "id_taken" || refused.Message == "" {
		t.Errorf("another job with its id: %v", err)
	}
}

func TestManyJobsAreTakenAllOrNone(t *testing.T) {
	s := newStage(t)
	good := holdfast.JobRequest{Kind: "later", Queue: s.queue, Delay: time.Hour}
	made, err := client.EnqueueAll(s.ctx, []holdfast.JobRequest{good, good, good})
	s.ok(err)
	if len(made) != 3 {
		t.Errorf("%d were enqueued", len(made))
	}
	bad := good
	bad.Kind = ""
	if _, err = client.EnqueueAll(s.ctx, []holdfast.JobRequest{good, bad}); err == nil || !strings.Contains(err.Error(), "jobs[1]") {
		t.Errorf("a bad one: %v", err)
	}
	if made, err = client.EnqueueAll(s.ctx, nil); made != nil || err != nil {
		t.Errorf("none: %v %v", made, err)
	}
	count := 0
	for job, err := range client.Jobs(s.ctx, holdfast.JobFilter{Queue: s.queue, Limit: 2, OldestFirst: true}) {
		s.ok(err)
		count++
		if job.Kind != "later" {
			t.Errorf("job %s", job.Raw)
		}
	}
	if count != 3 {
		t.Errorf("%d jobs are listed", count)
	}
}

func TestAJobThatIsNotThereIsNotFound(t *testing.T) {
	s := newStage(t)
	_, err := client.Get(s.ctx, holdfast.NewID())
	if !errors.Is(err, holdfast.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if err := client.Signal(s.ctx, holdfast.NewID(), "go", nil); !errors.Is(err, holdfast.ErrNotFound) {
		t.Errorf("signal: %v", err)
	}
	for _, err := range client.Jobs(s.ctx, holdfast.JobFilter{Queue: "no name !"}) {
		var refused *holdfast.Error
		if !errors.As(err, &refused) || refused.Status != 422 {
			t.Errorf("list: %v", err)
		}
	}
}

func TestACancelAndARetrySayWhatTheyCameTo(t *testing.T) {
	s := newStage(t)
	id := s.enqueue(holdfast.JobRequest{Kind: "later", Delay: time.Hour})
	done, err := client.Cancel(s.ctx, id, "not needed")
	s.ok(err)
	if done.Outcome != holdfast.OutcomeCancelled || done.PreviousState != holdfast.StatePending {
		t.Errorf("the first: %+v", done)
	}
	if done, err = client.Cancel(s.ctx, id, ""); err != nil || done.Outcome != holdfast.OutcomeAlreadyTerminal {
		t.Errorf("the second: %+v %v", done, err)
	}
	_, err = holdfast.Result[any](s.ctx, client, id)
	var failed *holdfast.JobFailedError
	if !errors.As(err, &failed) || failed.State != holdfast.StateCancelled || failed.Reason != "not needed" {
		t.Errorf("the result: %v", err)
	}
	if err := client.Signal(s.ctx, id, "go", nil); err == nil || !strings.Contains(err.Error(), "job_already_terminal") {
		t.Errorf("a signal: %v", err)
	}
	s.ok(client.Retry(s.ctx, id))
	if state := s.state(id); state.Terminal() {
		t.Errorf("after the retry it is %s", state)
	}
	var refused *holdfast.Error
	if err := client.Retry(s.ctx, id); !errors.As(err, &refused) || refused.Code != "job_not_retryable" {
		t.Errorf("the second retry: %v", err)
	}
}

func TestAWaitForAJobEndsWithItsContext(t *testing.T) {
	s := newStage(t)
	id := s.enqueue(holdfast.JobRequest{Kind: "later", Delay: time.Hour})
	short, cancel := context.WithTimeout(s.ctx, 200*time.Millisecond)
	defer cancel()
	status, err := client.Wait(short, id)
	if !errors.Is(err, context.DeadlineExceeded) || status != nil && status.State != holdfast.StatePending {
		t.Errorf("%v %v", status, err)
	}
}

func TestAPausedQueueStartsNothing(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "echo", func(_ context.Context, job *holdfast.Job[string]) (string, error) { return job.Payload, nil })
	s.start()
	s.ok(client.PauseQueue(s.ctx, s.queue, "to look"))
	id := s.enqueue(holdfast.JobRequest{Kind: "echo", Payload: "x"})
	time.Sleep(time.Second)
	if state := s.state(id); state != holdfast.StatePending {
		t.Errorf("the job is %s", state)
	}
	s.ok(client.ResumeQueue(s.ctx, s.queue))
	s.succeeds(id, `"x"`)
}

func TestEventsAreHeardAsTheyHappen(t *testing.T) {
	s := newStage(t)
	heard := make(chan string, 1)
	wanted := make(chan string, 1)
	go func() {
		id := ""
		for event, err := range client.Events(s.ctx, "queue:jobs") {
			if err != nil {
				t.Error(err)
				return
			}
			select {
			case id = <-wanted:
			default:
			}
			if id != "" && strings.Contains(string(event.Data), id) {
				heard <- event.Topic
				return
			}
		}
	}()
	for {
		id := s.enqueue(holdfast.JobRequest{Kind: "later", Delay: time.Hour})
		select {
		case wanted <- id:
		default:
		}
		_, err := client.Cancel(s.ctx, id, "")
		s.ok(err)
		select {
		case topic := <-heard:
			if topic != "queue:jobs" {
				t.Errorf("the topic is %s", topic)
			}
			return
		case <-time.After(300 * time.Millisecond):
			select {
			case <-wanted:
			default:
			}
		case <-s.ctx.Done():
			t.Fatal("nothing was heard")
		}
	}
}

func TestACallIsRepeatedThroughAnOutageAndNotBeforeRetryAfter(t *testing.T) {
	t.Parallel()
	var at []time.Time
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at = append(at, time.Now())
		switch len(at) {
		case 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			panic(http.ErrAbortHandler) // no answer
		default:
			_, _ = w.Write([]byte(`{"id":"x","state":"PENDING","newerField":{"a":[1]}}`))
		}
	}))
	defer server.Close()
	if _, err := (&holdfast.Client{URL: server.URL}).Get(context.Background(), "x"); err != nil {
		t.Fatal(err)
	}
	if len(at) != 3 || at[1].Sub(at[0]) < time.Second {
		t.Errorf("it was asked at %v", at)
	}
	_, err := (&holdfast.Client{URL: "http://127.0.0.1:1", RetryFor: -1}).Get(context.Background(), "x")
	var away *holdfast.Error
	if !errors.As(err, &away) || !away.Temporary() || !strings.Contains(err.Error(), "nobody listens there") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestIdsAreVersion7AndRise(t *testing.T) {
	t.Parallel()
	before := holdfast.NewID()
	time.Sleep(2 * time.Millisecond)
	after := holdfast.NewID()
	if len(before) != 36 || before[14] != '7' || !strings.ContainsRune("89ab", rune(before[19])) || before >= after {
		t.Errorf("%s %s", before, after)
	}
}
