package holdfast_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

// fork makes a job that goes on from a step of another one.
func (s *stage) fork(id, step string) string {
	s.t.Helper()
	var made struct{ Jobs []string }
	call(http.MethodPost, "/v1/jobs/"+id+"/fork", map[string]any{"fromStep": step}, &made)
	if len(made.Jobs) != 1 {
		s.t.Fatalf("the forks are %v", made.Jobs)
	}
	return made.Jobs[0]
}

func TestTheFirstAttemptOfAForkDoesNothingAgainThatIsDone(t *testing.T) {
	s := newStage(t)
	s.worker.Concurrency = 1
	var one, two atomic.Int64
	holdfast.Handle(s.worker, "steps", func(ctx context.Context, job *holdfast.Job[any]) (string, error) {
		first, err := holdfast.Step(ctx, "one", func(context.Context) (int64, error) { return one.Add(1), nil })
		if err != nil {
			return "", err
		}
		said, err := holdfast.Await[string](ctx, "go")
		if err != nil {
			return "", err
		}
		second, err := holdfast.Step(ctx, "two", func(context.Context) (int64, error) { return two.Add(1), nil })
		return strings.Repeat("one ", int(first)) + strings.Repeat("two ", int(second)) + said, err
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "steps"})
	s.waits(id)
	s.ok(client.Signal(s.ctx, id, "go", "a"))
	s.succeeds(id, `"one two a"`)
	if status := s.succeeds(s.fork(id, "two"), `"one two two a"`); status.Attempt != 1 {
		t.Errorf("the fork has succeeded in attempt %d", status.Attempt)
	}
	waits := s.fork(id, "go")
	s.waits(waits)
	s.ok(client.Signal(s.ctx, waits, "go", "b"))
	s.succeeds(waits, `"one two two two b"`)
	s.succeeds(s.fork(waits, "two"), `"one two two two two b"`)
}

func TestAForkReadsWhatJobsBeforeItsStepHaveBroughtAndStartsItsOwn(t *testing.T) {
	forksOfAParent(t, (*stage).start)
}

func TestAPushedForkReadsWhatJobsBeforeItsStepHaveBroughtAndStartsItsOwn(t *testing.T) {
	forksOfAParent(t, (*stage).dispatched)
}

func forksOfAParent(t *testing.T, start func(*stage)) {
	s := newStage(t)
	var ended atomic.Int64
	holdfast.Handle(s.worker, "child", func(ctx context.Context, job *holdfast.Job[int]) (int, error) {
		if job.Payload == 1 { // the second ends before it
			if _, err := holdfast.Await[any](ctx, "go"); err != nil {
				return 0, err
			}
		}
		ended.Add(1)
		return job.Payload * 10, nil
	})
	child := func(number int) holdfast.JobRequest { return holdfast.JobRequest{Kind: "child", Payload: number} }
	holdfast.Handle(s.worker, "parent", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		children, err := holdfast.SpawnAll(ctx, "start", []holdfast.JobRequest{child(1), child(2)})
		if err != nil {
			return nil, err
		}
		first, err := holdfast.Any(ctx, "first", children)
		if err != nil {
			return nil, err
		}
		_, err = holdfast.Step(ctx, "seen", func(ctx context.Context) (any, error) {
			_ = client.Signal(ctx, children[0].ID, "go", nil) // refused if it has ended before the fork
			return nil, nil
		})
		if err != nil {
			return nil, err
		}
		joined, err := holdfast.Join(ctx, "joined", children)
		if err != nil {
			return nil, err
		}
		own, err := holdfast.Map[int](ctx, "own", []int{3}, child)
		if err != nil {
			return nil, err
		}
		late, err := holdfast.Spawn(ctx, "late", child(4))
		if err != nil {
			return nil, err
		}
		all := append([]holdfast.Child{late}, children...)
		both, err := holdfast.Collect(ctx, "both", all)
		if err != nil {
			return nil, err
		}
		either, err := holdfast.Any(ctx, "either", all)
		return []any{first.Result, joined[0].Result, joined[1].Result, own[0], both[0].Result, either.Result}, err
	})
	start(s)
	id := s.enqueue(holdfast.JobRequest{Kind: "parent"})
	s.succeeds(id, "[20,10,20,30,40,20]")
	forks := map[string]string{}
	for _, one := range []struct {
		step, result string
		started      int64
	}{
		{"start", "[20,10,20,30,40,20]", 4},
		{"first", "[10,10,20,30,40,10]", 2}, // all have ended, so the first is that in the order given
		{"seen", "[20,10,20,30,40,10]", 2},
		{"joined", "[20,10,20,30,40,10]", 2},
		{"own", "[20,10,20,30,40,10]", 2},
		{"late", "[20,10,20,30,40,10]", 1},
		{"both", "[20,10,20,30,40,40]", 0},
		{"either", "[20,10,20,30,40,40]", 0},
	} {
		before := ended.Load()
		forks[one.step] = s.fork(id, one.step)
		s.succeeds(forks[one.step], one.result)
		if started := ended.Load() - before; started != one.started {
			t.Errorf("the fork from %s has started %d jobs, not %d", one.step, started, one.started)
		}
	}
	before := ended.Load()
	s.succeeds(s.fork(forks["own"], "both"), "[20,10,20,30,40,40]")
	s.succeeds(s.fork(forks["late"], "late"), "[20,10,20,30,40,10]")
	if started := ended.Load() - before; started != 1 {
		t.Errorf("the forks of forks have started %d jobs, not 1", started)
	}
}

func TestAForkWhoseJobsHaveFailedOrWereDeletedSaysSo(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "child", func(context.Context, *holdfast.Job[any]) (any, error) {
		return nil, holdfast.DataQuality("BAD", nil)
	})
	holdfast.Handle(s.worker, "parent", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		child, err := holdfast.Spawn(ctx, "start", holdfast.JobRequest{Kind: "child"})
		if err != nil {
			return nil, err
		}
		ends, err := holdfast.Collect(ctx, "ended", []holdfast.Child{child})
		if err != nil {
			return nil, err
		}
		if _, err := holdfast.Step(ctx, "seen", func(context.Context) (any, error) { return nil, nil }); err != nil {
			return nil, err
		}
		if _, err := holdfast.Join(ctx, "joined", []holdfast.Child{child}); job.Attempt == 1 {
			return nil, err
		}
		return ends[0].ID, nil
	})
	s.start()
	id := s.enqueue(holdfast.JobRequest{Kind: "parent"})
	var child string
	s.ok(json.Unmarshal(s.ended(id).Result, &child))
	s.fails(s.fork(id, "seen"), holdfast.CategoryUserCode, "CHILD_FAILED")
	s.ok(client.PauseQueue(s.ctx, s.queue, "a job is deleted"))
	late := s.fork(id, "seen")
	call(http.MethodDelete, "/v1/jobs/"+child, nil, nil)
	s.ok(client.ResumeQueue(s.ctx, s.queue))
	status := s.fails(late, holdfast.CategoryDataQuality, "VALIDATION")
	if !strings.Contains(status.Failure.Message, "1 of 1 have been deleted") {
		t.Errorf("it says %q", status.Failure.Message)
	}
}

// The library names no versions: what has begun with one is left to the workers that have it.
func TestAJobThatHasBegunWithAVersionIsLeftToOthers(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "versioned", func(ctx context.Context, job *holdfast.Job[any]) (any, error) {
		return holdfast.Step(ctx, "mine", func(context.Context) (string, error) { return "without a version", nil })
	})
	type task struct {
		TaskID, TaskToken string
		Attempt           int
		Version           *int
	}
	lease := func() task {
		var leased struct{ Tasks []task }
		s.until("a task for version 2", func() bool {
			call(http.MethodPost, "/v1/queues/"+s.queue+"/lease", map[string]any{
				"workerId": "another", "leaseMs": 60_000, "versions": []any{map[string]any{"kind": "versioned", "version": 2}},
			}, &leased)
			return len(leased.Tasks) > 0
		})
		return leased.Tasks[0]
	}
	held := func(of task, more map[string]any) map[string]any {
		more["taskId"], more["attempt"], more["workerId"] = of.TaskID, of.Attempt, "another"
		return more
	}
	id := s.enqueue(holdfast.JobRequest{Kind: "versioned"})
	first := lease()
	step := map[string]any{"stepId": "one", "stepIndex": 1, "stepAttempt": 1, "state": "DONE", "reset": false, "checkpoint": 1, "events": []any{}}
	call(http.MethodPost, "/v1/leases/report", map[string]any{"reports": []any{
		held(first, map[string]any{"version": 2}), held(first, map[string]any{"step": step}),
	}}, nil)
	call(http.MethodPost, "/v1/leases/settle", map[string]any{"settlements": []any{held(first, map[string]any{"outcome": "RELEASED"})}}, nil)
	s.start()
	s.succeeds(s.enqueue(holdfast.JobRequest{Kind: "versioned"}), `"without a version"`)
	fork := s.fork(id, "one") // has done nothing, and no version
	s.succeeds(fork, `"without a version"`)
	if state := s.state(id); state != holdfast.StatePending {
		t.Errorf("the job with a version is %s", state)
	}
	if second := lease(); second.TaskID != id || second.Version == nil || *second.Version != 2 {
		t.Errorf("leased is %+v", second)
	}
}
