package holdfast

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// wait is what a handler asks for. What it brings is kept under its id, one of those of the steps.
type wait struct {
	ID       string    `json:"id"`
	Sort     string    `json:"sort"`
	WithinMs *int64    `json:"withinMs,omitempty"`
	Until    string    `json:"until,omitempty"`
	Signal   string    `json:"signal,omitempty"`
	Question *Question `json:"question,omitempty"`
	Started  []string  `json:"started,omitempty"`
	Any      bool      `json:"any,omitempty"`
	FailFast bool      `json:"failFast,omitempty"`
}

const (
	sortSleep    = "SLEEP"
	sortSignal   = "SIGNAL"
	sortApproval = "APPROVAL"
	sortChildren = "CHILDREN"

	endTime     = "TIME"
	endSignal   = "SIGNAL"
	endTimeout  = "TIMEOUT"
	endApproved = "APPROVED"
	endRejected = "REJECTED"
	endEnded    = "ENDED"
	endFailed   = "FAILED"
	endStarted  = "STARTED"

	over      = "OVER"
	leaseLost = "LEASE_LOST"
)

// waitEnd is how a wait has ended.
type waitEnd struct {
	Sort    string     `json:"sort"`
	Outcome string     `json:"outcome"`
	By      string     `json:"by"`
	At      *time.Time `json:"at"`
	Comment string     `json:"comment"`
	Job     string     `json:"job"`
	Jobs    *int       `json:"jobs"`
}

// waitAnswer: OVER, and the attempt goes on, SUSPENDED, and it has ended, or LEASE_LOST.
type waitAnswer struct {
	Outcome string          `json:"outcome"`
	End     *waitEnd        `json:"end"`
	Payload json.RawMessage `json:"payload"`
}

// known: how a wait of this sort may have ended. Another end is a newer server's.
var known = map[string][]string{
	sortSleep:    {endTime},
	sortSignal:   {endSignal, endTimeout},
	sortApproval: {endApproved, endRejected, endTimeout},
	sortChildren: {endEnded, endFailed, endTimeout},
}

// Sleep lets the job wait, by the database's clock, without holding anything meanwhile. It returns nil once the time is over, in a later
// attempt, and [ErrSuspended] until then.
func Sleep(ctx context.Context, id string, span time.Duration) error {
	ms := millis(span)
	_, err := waitFor(ctx, &wait{ID: id, Sort: sortSleep, WithinMs: &ms})
	return err
}

// SleepUntil is the same until a moment; one that has passed is no wait.
func SleepUntil(ctx context.Context, id string, until time.Time) error {
	_, err := waitFor(ctx, &wait{ID: id, Sort: sortSleep, Until: until.UTC().Format(time.RFC3339Nano)})
	return err
}

// Await waits for a signal of this name, and returns what was sent with it. A signal that came before is taken at once; several of one
// name are taken in their order, each once.
func Await[T any](ctx context.Context, name string) (T, error) {
	value, _, err := AwaitSignal[T](ctx, ForSignal{Name: name})
	return value, err
}

// AwaitWithin is the same for so long: came is false when nothing came in time.
func AwaitWithin[T any](ctx context.Context, name string, within time.Duration) (value T, came bool, err error) {
	return AwaitSignal[T](ctx, ForSignal{Name: name, Within: &within})
}

// ForSignal is a wait for a signal.
type ForSignal struct {
	// ID is that of the wait; the name of the signal unless given. A handler that waits several times for one name gives each its own.
	ID   string
	Name string
	// Within is how long at most; nil is without a bound.
	Within *time.Duration
}

// AwaitSignal is [AwaitWithin] with an id of its own.
func AwaitSignal[T any](ctx context.Context, signal ForSignal) (value T, came bool, err error) {
	if signal.ID == "" {
		signal.ID = signal.Name
	}
	asked := &wait{ID: signal.ID, Sort: sortSignal, Signal: signal.Name}
	if signal.Within != nil {
		ms := millis(*signal.Within)
		asked.WithinMs = &ms
	}
	answer, err := waitFor(ctx, asked)
	if err != nil || answer.End.Outcome == endTimeout {
		return value, false, err
	}
	value, err = decode[T](answer.Payload, false)
	if err != nil {
		return value, false, doesNotFit(fmt.Sprintf("what wait '%s' has got by the signal '%s'", signal.ID, signal.Name), err)
	}
	return value, true, nil
}

// Question is what a person is asked.
type Question struct {
	// Text is the question, and Details more to read before deciding.
	Text    string `json:"text"`
	Details string `json:"details,omitempty"`
	// Role is who may decide: operator, unless given, or admin.
	Role string `json:"role,omitempty"`
	// Within is how long it may take; zero is without a bound. Afterwards is what happens then: REJECT, unless given, APPROVE or FAIL.
	Within     time.Duration `json:"-"`
	Afterwards string        `json:"afterwards,omitempty"`
}

// Approval is what was decided.
type Approval struct {
	Approved bool
	// By is who has decided; empty when nobody has in time.
	By      string
	At      time.Time
	Comment string
}

// Approve asks a person, and waits until somebody has decided, or the time of the question is over.
func Approve(ctx context.Context, id string, question Question) (Approval, error) {
	asked := &wait{ID: id, Sort: sortApproval, Question: &question}
	if question.Within > 0 {
		ms := millis(question.Within)
		asked.WithinMs = &ms
	}
	answer, err := waitFor(ctx, asked)
	if err != nil {
		return Approval{}, err
	}
	end := answer.End
	if end.Outcome == endTimeout {
		return Approval{}, Fail(CategoryTimeout, "NOT_DECIDED",
			fmt.Errorf("nobody has decided '%s' in time: %s", id, question.Text))
	}
	made := Approval{Approved: end.Outcome == endApproved, By: end.By, Comment: end.Comment}
	if end.At != nil {
		made.At = *end.At
	}
	return made, nil
}

// ContinueAs ends this job, and another one goes on in its place with this payload: for loops without end. It always returns an error,
// which the handler is to return: return nil, holdfast.ContinueAs(ctx, payload).
func ContinueAs(ctx context.Context, payload any) error {
	a, err := inWaitingHandler(ctx, "ContinueAs")
	if err != nil {
		return err
	}
	text, err := encode(payload)
	if err != nil {
		return Fail(CategoryUserCode, "PAYLOAD_NOT_JSON", err, Retryable(false))
	}
	if len(text) > resultBytes {
		return Fail(CategoryUserCode, "PAYLOAD_TOO_LARGE", fmt.Errorf("a payload of %d bytes is over 1 MiB", len(text)), Retryable(false))
	}
	return a.leave(continued, text)
}

// inWaitingHandler refuses waits that would end the attempt in the middle of something.
func inWaitingHandler(ctx context.Context, what string) (*attempt, error) {
	a, err := inHandler(ctx, what)
	if err != nil {
		return nil, err
	}
	if ctx.Value(stepKey{}) != nil || a.steps.isRunning() {
		return nil, fmt.Errorf(
			"holdfast: %s would end the attempt in the middle of a step: wait, start jobs and go on as another job in the handler itself", what)
	}
	return a, nil
}

// waitFor returns how the wait has ended: read from the steps if it was over before, else the server is asked. Unless it is over
// then, the attempt has ended.
func waitFor(ctx context.Context, asked *wait) (*waitAnswer, error) {
	a, err := inWaitingHandler(ctx, "'"+asked.ID+"'")
	if err != nil {
		return nil, err
	}
	status, command, err := a.steps.ask(asked.ID)
	if err != nil {
		return nil, err
	}
	if status.isDone() && command == nil {
		return endedBefore(asked, status)
	}
	if status, err = a.steps.redo(status, command); err != nil {
		return nil, err
	}
	return a.ask(status, asked)
}

// endedBefore is a wait that was over in an earlier attempt, or in the job that this one is a fork of.
func endedBefore(asked *wait, status *stepStatus) (*waitAnswer, error) {
	if status.WaitEnd == nil || status.WaitEnd.Sort != asked.Sort || status.WaitEnd.Outcome == endStarted {
		return nil, fmt.Errorf("holdfast: '%s' was %s before, and is a wait of the sort %s now: give it another id",
			asked.ID, status.what(), asked.Sort)
	}
	return checked(asked, &waitAnswer{over, status.WaitEnd, status.Checkpoint})
}

// ask: while the answer is on the way a heartbeat may find that the lease is gone, because the attempt has been suspended.
func (a *attempt) ask(status *stepStatus, asked *wait) (*waitAnswer, error) {
	if err := a.worker.reporter.flush(a); err != nil {
		return nil, err
	}
	if err := a.setAsking(true); err != nil {
		return nil, err
	}
	answer, err := insist(a.ctx, func() (*waitAnswer, error) { return a.source.suspend(a.ctx, a, status.Index, asked) })
	defer func() { _ = a.setAsking(false) }()
	if err != nil {
		if left := a.check(); left != nil {
			return nil, left
		}
		return nil, refusedForGood(err)
	}
	switch answer.Outcome {
	case waiting:
		return nil, a.leave(suspended, nil)
	case leaseLost:
		return nil, a.lost("the server refused a wait")
	case over:
		if answer.End == nil {
			return nil, unknownAnswer(asked, "OVER without an end")
		}
		a.steps.keep(&stepStatus{
			ID: asked.ID, Index: status.Index, State: stepDone, Attempt: status.Attempt + 1, Checkpoint: answer.Payload, WaitEnd: answer.End,
		})
		return checked(asked, answer)
	}
	return nil, unknownAnswer(asked, answer.Outcome)
}

func (a *attempt) setAsking(asking bool) error {
	a.lock.Lock()
	defer a.lock.Unlock()
	if asking && a.asking {
		return fmt.Errorf("holdfast: the handler waits already: wait in one goroutine")
	}
	a.asking = asking
	return nil
}

func checked(asked *wait, answer *waitAnswer) (*waitAnswer, error) {
	for _, outcome := range known[asked.Sort] {
		if answer.End.Outcome == outcome {
			return answer, nil
		}
	}
	return nil, unknownAnswer(asked, answer.End.Outcome)
}

// unknownAnswer: another worker may know what a newer server says.
func unknownAnswer(asked *wait, outcome string) error {
	return Infrastructure("UNKNOWN_ANSWER", fmt.Errorf(
		"the wait '%s' has come to '%s', which this version of the library does not know: is the server newer?", asked.ID, outcome))
}
