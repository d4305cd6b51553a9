package holdfast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	lineChars    = 2_000
	pendingLines = 10_000
	messageChars = 4_000
)

// envelope is a task as the server sends it. Fields that are not known are passed over.
type envelope struct {
	TaskID              string          `json:"taskId"`
	RunID               string          `json:"runId"`
	TaskKey             string          `json:"taskKey"`
	Attempt             int             `json:"attempt"`
	DispatchID          string          `json:"dispatchId"`
	TenantID            string          `json:"tenantId"`
	WorkspaceID         string          `json:"workspaceId"`
	WorkerQueue         string          `json:"workerQueue"`
	Kind                string          `json:"kind"`
	Payload             json.RawMessage `json:"payload"`
	Resources           json.RawMessage `json:"resources"`
	EnqueuedAt          time.Time       `json:"enqueuedAt"`
	Deadline            *time.Time      `json:"deadline"`
	CallbackBaseURL     string          `json:"callbackBaseUrl"`
	TaskToken           string          `json:"taskToken"`
	HeartbeatIntervalMs int64           `json:"heartbeatIntervalMs"`
	HeartbeatTimeoutMs  int64           `json:"heartbeatTimeoutMs"`
	CancelGracePeriodMs *int64          `json:"cancelGracePeriodMs"`
	TimeoutMs           *int64          `json:"timeoutMs"`
	DeadlineMs          *int64          `json:"deadlineMs"`
	Failures            int             `json:"failures"`
	MaxAttempts         int             `json:"maxAttempts"`
	RetryContext        *Failure        `json:"retryContext"`
	LiveControl         *liveControl    `json:"liveControl"`
	MayHaveSteps        bool            `json:"mayHaveSteps"`
	AssetID             string          `json:"assetId"`
	PartitionKey        string          `json:"partitionKey"`
	Traceparent         string          `json:"traceparent"`
	Tags                []string        `json:"tags"`
}

// liveControl is what operators ask of a job that runs.
type liveControl struct {
	Paused   bool      `json:"paused"`
	Takeover bool      `json:"takeover"`
	Recovery *recovery `json:"recovery"`
}

// recovery is a step to run again, once. UpdatedAt names it.
type recovery struct {
	Action      string `json:"action"`
	StepID      string `json:"stepId"`
	RequestedBy string `json:"requestedBy"`
	Reason      string `json:"reason"`
	UpdatedAt   string `json:"updatedAt"`
}

type leaseKey struct {
	id     string
	number int
}

// leaving is why the handler is to be left although it has not returned.
type leaving int

const (
	notLeft leaving = iota
	// suspended: the job waits, and a later attempt goes on.
	suspended
	// continued: another job goes on in its place.
	continued
	// calledAgain: an operator wants an earlier step, so the handler begins anew.
	calledAgain
)

var errEnded = errors.New("holdfast: the attempt has ended")

// attempt is one execution of a job under its lease. What the worker's goroutines share is under the lock.
type attempt struct {
	info     JobInfo
	payload  json.RawMessage
	key      leaseKey
	workerID string
	source   source
	worker   *Worker

	lease, interval, grace, timeout time.Duration
	strict                          bool
	// isNew: nothing can have been done before. A first attempt may have steps all the same, where the job is a fork.
	isNew bool

	ctx    context.Context
	cancel context.CancelCauseFunc
	steps  *steps

	lock       sync.Mutex
	stopped    *StopError
	beatAt     time.Time
	timeoutAt  time.Time
	deadlineAt time.Time
	giveUpAt   time.Time
	control    *liveControl
	token      string
	ended      bool
	// asking: whether a suspend is under way, whose answer may be lost.
	asking bool
	left   leaving
	next   json.RawMessage

	// reporting is held while what has gathered is sent.
	reporting   sync.Mutex
	lines       []string
	dropped     int
	lineNumber  int
	pieceNumber int
	progress    *progressReport
}

type attemptKey struct{}

type stepKey struct{}

// attemptContext is the context of a handler. Its deadline is that of the attempt, which the worker watches.
type attemptContext struct {
	context.Context
	attempt *attempt
}

func (c *attemptContext) Value(key any) any {
	if key == (attemptKey{}) {
		return c.attempt
	}
	return c.Context.Value(key)
}

func (c *attemptContext) Deadline() (time.Time, bool) {
	c.attempt.lock.Lock()
	defer c.attempt.lock.Unlock()
	at := c.attempt.deadlineAt
	if timeout := c.attempt.timeoutAt; at.IsZero() || !timeout.IsZero() && timeout.Before(at) {
		at = timeout
	}
	return at, !at.IsZero()
}

// attemptOf is the attempt whose handler was given this context or one made of it; nil outside of handlers.
func attemptOf(ctx context.Context) *attempt {
	found, _ := ctx.Value(attemptKey{}).(*attempt)
	return found
}

// Current returns the job whose handler was given this context, and false outside of handlers.
func Current(ctx context.Context) (JobInfo, bool) {
	if a := attemptOf(ctx); a != nil {
		return a.info, true
	}
	return JobInfo{}, false
}

// newAttempt: a lease lasts no longer than from when it was asked for.
func newAttempt(task *envelope, from source, worker *Worker, askedAt time.Time) *attempt {
	a := &attempt{
		info: JobInfo{
			ID: task.TaskID, Kind: task.Kind, Queue: task.WorkerQueue, Attempt: task.Attempt, Failures: task.Failures,
			MaxAttempts: task.MaxAttempts, EnqueuedAt: task.EnqueuedAt, Tenant: task.TenantID,
			Workspace: task.WorkspaceID, Run: task.RunID, RunKey: task.TaskKey, AssetID: task.AssetID,
			PartitionKey: task.PartitionKey, Tags: task.Tags, Resources: task.Resources,
			Traceparent: task.Traceparent, LastFailure: task.RetryContext,
		},
		payload:  task.Payload,
		key:      leaseKey{task.TaskID, task.Attempt},
		workerID: worker.name,
		source:   from,
		worker:   worker,
		lease:    time.Duration(task.HeartbeatTimeoutMs) * time.Millisecond,
		grace:    30 * time.Second,
		isNew:    task.Attempt == 1 && task.LiveControl == nil && !task.MayHaveSteps,
		beatAt:   askedAt,
		control:  task.LiveControl,
		token:    task.TaskToken,
	}
	a.lineNumber, a.pieceNumber = 1, 1
	if made := worker.kinds[task.Kind]; made != nil {
		a.strict = made.strict
	}
	// The server's interval does not know of a lease that the worker chose.
	a.interval = min(time.Duration(task.HeartbeatIntervalMs)*time.Millisecond, a.lease/3)
	if task.CancelGracePeriodMs != nil {
		a.grace = time.Duration(*task.CancelGracePeriodMs) * time.Millisecond
	}
	if task.Deadline != nil {
		a.info.Deadline = *task.Deadline
	}
	if task.DeadlineMs != nil {
		a.deadlineAt = askedAt.Add(time.Duration(*task.DeadlineMs) * time.Millisecond)
	}
	if task.TimeoutMs != nil {
		a.timeout = time.Duration(*task.TimeoutMs) * time.Millisecond
	}
	a.steps = newSteps(a)
	plain, cancel := context.WithCancelCause(worker.handlers)
	a.ctx, a.cancel = &attemptContext{plain, a}, cancel
	return a
}

// begins: the time of an attempt counts from when its handler begins.
func (a *attempt) begins() {
	if a.timeout > 0 {
		a.lock.Lock()
		a.timeoutAt = time.Now().Add(a.timeout)
		a.lock.Unlock()
	}
}

// stop tells the handler to leave. The first reason is what its context says; a lost lease replaces every other for what is settled.
func (a *attempt) stop(why error, reason string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.ended || a.left == suspended {
		return
	}
	first := a.stopped == nil
	if !first && why != ErrLeaseLost {
		return
	}
	a.stopped = &StopError{why, reason}
	if first {
		a.giveUpAt = time.Now().Add(a.grace)
		a.cancel(a.stopped)
	}
}

func (a *attempt) stopReason() *StopError {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.stopped
}

func (a *attempt) leaving() leaving {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.left
}

// end returns true for the first caller: a handler that was given up may still return.
func (a *attempt) end() bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	first := !a.ended
	a.ended = true
	return first
}

func (a *attempt) hasEnded() bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.ended
}

// leave says that the handler is to be left, which it learns from whatever it asks for.
func (a *attempt) leave(why leaving, next json.RawMessage) error {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.left, a.next = why, next
	if why != calledAgain {
		// Whatever else the handler has begun stops as well.
		a.cancel(ErrSuspended)
	}
	return ErrSuspended
}

// check returns the error with which the handler is to leave, if it is to.
func (a *attempt) check() error {
	a.lock.Lock()
	defer a.lock.Unlock()
	switch {
	case a.left != notLeft:
		return ErrSuspended
	case a.stopped != nil:
		return a.stopped
	case a.ended:
		return errEnded
	}
	return nil
}

// lost: the server has answered a report so.
func (a *attempt) lost(why string) error {
	a.lock.Lock()
	ended := a.ended
	a.lock.Unlock()
	if ended {
		return errEnded
	}
	a.stop(ErrLeaseLost, why)
	if err := a.check(); err != nil {
		return err
	}
	return &StopError{ErrLeaseLost, why}
}

func (a *attempt) liveControl() *liveControl {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.control
}

func (a *attempt) bearer() string {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.token
}

func (a *attempt) addLines(text string) {
	lines := strings.Split(strings.TrimSuffix(storable(text), "\n"), "\n")
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.ended || a.left == suspended {
		return
	}
	for _, line := range lines {
		a.lines = append(a.lines, excerpt(strings.TrimSuffix(line, "\r"), lineChars))
	}
	if over := len(a.lines) - pendingLines; over > 0 {
		a.lines = append(a.lines[:0:0], a.lines[over:]...)
		a.dropped += over
	}
}

func (a *attempt) hasReports() bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.progress != nil || len(a.lines) > 0
}

// inHandler is the attempt of a call that only makes sense in a handler.
func inHandler(ctx context.Context, what string) (*attempt, error) {
	a := attemptOf(ctx)
	if a == nil {
		return nil, fmt.Errorf("holdfast: %s needs the context that a handler was given", what)
	}
	return a, a.check()
}
