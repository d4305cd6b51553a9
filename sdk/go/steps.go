package holdfast

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

const (
	checkpointBytes  = 1 << 20
	signatureChars   = 1_000
	longestStepDelay = 5 * time.Minute
	mostSteps        = 1_000
	// announcedAfter: the start of a step is not reported before it has run for a while, so that a short one is one report.
	announcedAfter = 500 * time.Millisecond
)

// StepOption says more about a step.
type StepOption func(*stepPlan)

type stepPlan struct {
	attempts int
	delay    time.Duration
	timeout  time.Duration
}

// StepAttempts calls the body of a step up to so many times in one attempt of the job, with a pause in between that doubles. What is
// cancelled, snoozed or not retryable is not called again.
func StepAttempts(most int, delay time.Duration) StepOption {
	return func(p *stepPlan) { p.attempts, p.delay = most, delay }
}

// StepTimeout ends the context of each call of the body after this time.
func StepTimeout(timeout time.Duration) StepOption {
	return func(p *stepPlan) { p.timeout = timeout }
}

// Step calls body unless an attempt before has done so, and keeps what it returns: JSON of at most 1 MiB, its checkpoint, from which a
// later attempt, on whatever worker and in whatever language, has the result. Ids are unique in a job.
//
// An error of the body fails the step, and is returned. What Step itself returns, such as [ErrSuspended] or a [StopError], is to be
// returned by the handler.
func Step[T any](ctx context.Context, id string, body func(ctx context.Context) (T, error), options ...StepOption) (T, error) {
	var none T
	a, err := inHandler(ctx, "Step")
	if err != nil {
		return none, err
	}
	plan := stepPlan{attempts: 1, delay: time.Second}
	for _, option := range options {
		option(&plan)
	}
	if plan.attempts < 1 || plan.delay < 0 || plan.timeout < 0 {
		return none, fmt.Errorf("holdfast: step %q: attempts must be 1 or more, delay and timeout not below zero", id)
	}
	try, done, err := a.steps.enter(id)
	if err != nil {
		return none, err
	}
	if done != nil {
		kept, err := decode[T](done.Checkpoint, true)
		if err != nil {
			return none, doesNotFit("the result of step '"+id+"'", err)
		}
		return kept, nil
	}
	defer a.steps.left()
	for call := 1; ; call++ {
		result, err := bodyOf(ctx, a, plan, id, body)
		if err == nil {
			return result, a.steps.done(try, result)
		}
		again := call < plan.attempts && isRetried(err)
		if told := a.steps.failed(try, err, again); told != nil {
			return none, told
		}
		if !again {
			return none, err
		}
		if !sleep(ctx, min(longestStepDelay, plan.delay<<min(call-1, 20))) {
			return none, context.Cause(ctx)
		}
		if try, err = a.steps.again(try); err != nil {
			return none, err
		}
	}
}

func bodyOf[T any](
	ctx context.Context, a *attempt, plan stepPlan, id string, body func(context.Context) (T, error),
) (result T, err error) {
	within := context.WithValue(ctx, stepKey{}, id)
	if plan.timeout > 0 {
		limited, cancel := context.WithTimeoutCause(within, plan.timeout,
			fmt.Errorf("step %q took longer than %s: %w", id, plan.timeout, context.DeadlineExceeded))
		defer cancel()
		within = limited
	}
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, string(debug.Stack())}
		}
	}()
	return body(within)
}

func isRetried(err error) bool {
	var snooze *SnoozeError
	var stop *StopError
	var said *FailedError
	switch {
	case errors.As(err, &snooze), errors.As(err, &stop), errors.Is(err, ErrSuspended):
		return false
	case errors.As(err, &said):
		return said.Retryable
	}
	return true
}

// steps are those of one attempt, waits and starts of jobs among them.
type steps struct {
	attempt *attempt

	// entering is held while what is known is asked for, and while an operator holds the job up.
	entering sync.Mutex
	lock     sync.Mutex
	loaded   bool
	known    map[string]*stepStatus
	last     int
	entered  map[string]bool
	honoured map[string]bool
	starts   map[*stepStart]bool
	// children: false for those of the job that this one is a fork of. They have ended, and nobody would wake this one.
	children map[Child]bool
	running  int
	// continues: whether the first report of this attempt tells at which step the job continues.
	continues bool
}

func newSteps(a *attempt) *steps { return &steps{attempt: a} }

// calledAgain: the handler begins anew in the same attempt.
func (s *steps) calledAgain() {
	s.lock.Lock()
	defer s.lock.Unlock()
	clear(s.entered)
}

// ask returns what is known of this id, for which a handler asks once, and what an operator wants of it. One that was not begun before
// gets the next index.
func (s *steps) ask(id string) (*stepStatus, *recovery, error) {
	if !word.MatchString(id) {
		return nil, nil, Fail(CategoryUserCode, "BAD_NAME", fmt.Errorf(
			"id %q: use up to 100 letters, digits and _ . : / -, and begin with a letter or a digit", id), Retryable(false))
	}
	s.entering.Lock()
	defer s.entering.Unlock()
	if err := s.attempt.check(); err != nil {
		return nil, nil, err
	}
	if err := s.load(); err != nil {
		return nil, nil, err
	}
	asked, err := s.awaitNotHeld()
	if err != nil {
		return nil, nil, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if asked != nil && s.honoured[asked.UpdatedAt] {
		asked = nil
	}
	if asked != nil && s.entered[asked.StepID] {
		return nil, nil, s.attempt.leave(calledAgain, nil)
	}
	if s.entered[id] {
		return nil, nil, fmt.Errorf("holdfast: %q was asked for in this attempt: each step, wait and start of jobs needs an id of its own", id)
	}
	found := s.known[id]
	if found == nil {
		if s.last >= mostSteps {
			return nil, nil, Fail(CategoryUserCode, "BAD_LIMIT", fmt.Errorf(
				"%q is one too many: a job has at most %d steps, waits and starts of jobs", id, mostSteps), Retryable(false))
		}
		s.last++
		found = &stepStatus{ID: id, Index: s.last, State: stepFailed}
		s.known[id] = found
	}
	s.entered[id] = true
	if asked != nil && asked.StepID != id {
		asked = nil
	}
	status := *found
	return &status, asked, nil
}

// load asks for the steps that are known, once. The first attempt has none, unless the job is a fork.
func (s *steps) load() error {
	s.lock.Lock()
	loaded := s.loaded
	s.lock.Unlock()
	if loaded {
		return nil
	}
	a := s.attempt
	var found []*stepStatus
	if !a.isNew {
		var err error
		if found, err = insist(a.ctx, func() ([]*stepStatus, error) { return a.source.steps(a.ctx, a) }); err != nil {
			return err
		}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.known, s.entered, s.honoured = map[string]*stepStatus{}, map[string]bool{}, map[string]bool{}
	s.starts = map[*stepStart]bool{}
	for _, one := range found {
		s.known[one.ID] = one
		s.last = max(s.last, one.Index)
	}
	s.loaded, s.continues = true, len(found) > 0
	return nil
}

// awaitNotHeld: a pause or takeover by an operator lasts until neither is asked any more.
func (s *steps) awaitNotHeld() (*recovery, error) {
	for {
		asked := s.attempt.liveControl()
		if asked == nil {
			return nil, nil
		}
		if !asked.Paused && !asked.Takeover {
			return asked.Recovery, nil
		}
		sleep(s.attempt.ctx, 200*time.Millisecond)
		if err := s.attempt.check(); err != nil {
			return nil, err
		}
	}
}

// stepTry is one try of a step that runs.
type stepTry struct {
	id      string
	index   int
	attempt int
	start   *stepStart
}

// enter returns either what the step left earlier, or a try that has begun, told if it has to be.
func (s *steps) enter(id string) (*stepTry, *stepStatus, error) {
	status, asked, err := s.ask(id)
	if err != nil {
		return nil, nil, err
	}
	if status.isDone() && asked == nil {
		if status.WaitEnd != nil {
			return nil, nil, fmt.Errorf("holdfast: %q was %s before, and is a step now: give it another id", id, status.what())
		}
		return nil, status, nil
	}
	try := &stepTry{id: id, index: status.Index, attempt: status.Attempt + 1}
	running := &stepReport{id: id, index: try.index, state: stepRunning, attempt: try.attempt, recovery: asked}
	s.lock.Lock()
	quietly := try.attempt == 1 && asked == nil && !s.continues
	s.continues = false
	s.lock.Unlock()
	if quietly {
		try.start = s.quietly(func() error { return s.attempt.write(report{step: running}) })
	} else if err := s.attempt.write(report{step: running}); err != nil {
		return nil, nil, err
	}
	s.begun(try, asked)
	if asked != nil && asked.Action == "accept_step" {
		defer s.left()
		return nil, &stepStatus{}, s.done(try, nil)
	}
	return try, nil, nil
}

func (s *steps) begun(try *stepTry, asked *recovery) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.running++
	s.known[try.id] = &stepStatus{ID: try.id, Index: try.index, State: stepRunning, Attempt: try.attempt}
	if asked == nil {
		return
	}
	s.honoured[asked.UpdatedAt] = true
	if asked.Action == "hard_reset_step" || asked.Action == "resume_from_step" {
		s.drop(try.index)
	}
}

// drop: what comes later is not done any longer.
func (s *steps) drop(from int) {
	for _, one := range s.known {
		if one.Index > from && one.isDone() {
			one.State, one.Checkpoint, one.WaitEnd = stepInterrupted, nil, nil
		}
	}
}

func (s *steps) left() {
	s.lock.Lock()
	s.running--
	s.lock.Unlock()
}

func (s *steps) isRunning() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.running > 0
}

func (s *steps) done(try *stepTry, result any) error {
	text, err := encode(result)
	if err != nil {
		return Fail(CategoryUserCode, "RESULT_NOT_JSON", fmt.Errorf("the result of step %q is not JSON: %w", try.id, err), Retryable(false))
	}
	if len(text) > checkpointBytes {
		return Fail(CategoryUserCode, "RESULT_TOO_LARGE", fmt.Errorf(
			"step %q returned %d bytes, over 1 MiB: store the data and return a reference", try.id, len(text)), Retryable(false))
	}
	one := &stepReport{id: try.id, index: try.index, state: stepDone, attempt: try.attempt, result: text, tookMs: s.ended(try)}
	if err := s.attempt.write(report{step: one}); err != nil {
		return err
	}
	s.keep(&stepStatus{ID: try.id, Index: try.index, State: stepDone, Attempt: try.attempt, Checkpoint: text})
	return nil
}

// keep is what is known of an id from now on.
func (s *steps) keep(status *stepStatus) {
	s.lock.Lock()
	s.known[status.ID] = status
	s.lock.Unlock()
}

// failed is not told once the handler should stop: the server then shows the step as INTERRUPTED.
func (s *steps) failed(try *stepTry, err error, again bool) error {
	took := s.ended(try)
	if s.attempt.check() != nil {
		return nil
	}
	signature := excerpt(storable(fmt.Sprintf("%T: %s", err, err)), signatureChars)
	one := &stepReport{
		id: try.id, index: try.index, state: stepFailed, attempt: try.attempt, signature: signature, again: again, tookMs: took,
	}
	return s.attempt.write(report{step: one})
}

// again begins the next try of a step whose body has failed.
func (s *steps) again(last *stepTry) (*stepTry, error) {
	if err := s.attempt.check(); err != nil {
		return nil, err
	}
	try := &stepTry{id: last.id, index: last.index, attempt: last.attempt + 1}
	one := &stepReport{id: try.id, index: try.index, state: stepRunning, attempt: try.attempt}
	if err := s.attempt.write(report{step: one}); err != nil {
		return nil, err
	}
	s.keep(&stepStatus{ID: try.id, Index: try.index, State: stepRunning, Attempt: try.attempt})
	return try, nil
}

// redo returns the wait or start of jobs that is to be done now: what it was before is dropped if an operator has asked for it.
func (s *steps) redo(status *stepStatus, asked *recovery) (*stepStatus, error) {
	if asked == nil {
		return status, nil
	}
	one := &stepReport{id: status.ID, index: status.Index, state: stepFailed, attempt: status.Attempt + 1, recovery: asked}
	if err := s.attempt.write(report{step: one}); err != nil {
		return nil, err
	}
	dropped := &stepStatus{ID: status.ID, Index: status.Index, State: stepFailed, Attempt: status.Attempt + 1}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.honoured[asked.UpdatedAt] = true
	if asked.Action == "hard_reset_step" || asked.Action == "resume_from_step" {
		s.drop(status.Index)
	}
	s.known[status.ID] = dropped
	return dropped, nil
}

// stepStart is the start of a try of a step, which nobody else knows of before it is told.
type stepStart struct {
	lock   sync.Mutex
	untold bool
	since  time.Time
	tell   func() error
	timer  *time.Timer
}

func (s *steps) quietly(tell func() error) *stepStart {
	start := &stepStart{untold: true, since: time.Now(), tell: tell}
	start.timer = time.AfterFunc(announcedAfter, start.announce)
	s.lock.Lock()
	s.starts[start] = true
	s.lock.Unlock()
	return start
}

// announce: what is reported after this comes after it. If it cannot be told, the report of the end is answered likewise.
func (s *stepStart) announce() {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.untold {
		s.untold = false
		_ = s.tell()
	}
}

// announce: what the handler tells next comes after the starts of its steps.
func (s *steps) announce() {
	for _, start := range s.allStarts() {
		start.announce()
	}
}

// announceBeside does the same without waiting.
func (s *steps) announceBeside() {
	for _, start := range s.allStarts() {
		go start.announce()
	}
}

func (s *steps) allStarts() []*stepStart {
	s.lock.Lock()
	defer s.lock.Unlock()
	var found []*stepStart
	for start := range s.starts {
		found = append(found, start)
		delete(s.starts, start)
	}
	return found
}

// ended returns how long the try took, if its start is not told; then it never is.
func (s *steps) ended(try *stepTry) *int64 {
	start := try.start
	if start == nil {
		return nil
	}
	start.timer.Stop()
	s.lock.Lock()
	delete(s.starts, start)
	s.lock.Unlock()
	start.lock.Lock()
	defer start.lock.Unlock()
	if !start.untold {
		return nil
	}
	start.untold = false
	took := time.Since(start.since).Milliseconds()
	return &took
}
