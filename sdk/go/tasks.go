package holdfast

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	mostLines     = 1_000
	logBytes      = 200_000
	parallelCalls = 8
)

// tasks is the task protocol, /v1/tasks: one request per attempt, with the token of its envelope. Pushed attempts use it, since who
// gets a push may have no API key.
type tasks struct {
	server *connection
	log    *slog.Logger
}

// call returns false when the attempt does not hold its task any more.
func (t *tasks) call(ctx context.Context, a *attempt, r request, into any) (bool, error) {
	r.path = "/v1/tasks/" + escaped(a.key.id) + "/" + r.path
	r.token = a.bearer()
	err := t.server.call(ctx, r, into)
	var refused *Error
	if errors.As(err, &refused) && !refused.Temporary() {
		switch refused.Status {
		case 401, 403, 404, 409, 410:
			t.log.Info("a task is lost", "job", a.info.String(), "error", err)
			return false, nil
		}
	}
	return err == nil, err
}

func (t *tasks) post(ctx context.Context, a *attempt, what string, body map[string]any, into any) (bool, error) {
	return t.send(ctx, a, http.MethodPost, what, body, 0, into)
}

func (t *tasks) send(
	ctx context.Context, a *attempt, method, what string, body map[string]any, timeout time.Duration, into any,
) (bool, error) {
	body["attempt"] = a.key.number
	sent, err := encode(body)
	if err != nil {
		return false, err
	}
	return t.call(ctx, a, request{method: method, path: what, body: sent, timeout: timeout}, into)
}

func (t *tasks) started(ctx context.Context, a *attempt) (bool, error) {
	return t.post(ctx, a, "started", map[string]any{"workerId": a.workerID}, nil)
}

// parallel makes a call for each, a few at once.
func parallel[T any](of []T, call func(i int, one T)) {
	var all sync.WaitGroup
	room := make(chan struct{}, parallelCalls)
	for i, one := range of {
		all.Add(1)
		room <- struct{}{}
		go func() {
			defer func() { <-room; all.Done() }()
			call(i, one)
		}()
	}
	all.Wait()
}

// heartbeat: a call that fails is left out of the answer, and its attempt stays due.
func (t *tasks) heartbeat(ctx context.Context, attempts []*attempt) ([]beat, error) {
	found := make([]beat, len(attempts))
	errs := make([]error, len(attempts))
	parallel(attempts, func(i int, a *attempt) { found[i], errs[i] = t.beat(ctx, a) })
	var beats []beat
	for i, err := range errs {
		if err == nil {
			beats = append(beats, found[i])
		}
	}
	if len(beats) == 0 {
		return nil, errors.Join(errs...)
	}
	return beats, nil
}

func (t *tasks) beat(ctx context.Context, a *attempt) (beat, error) {
	var answer struct {
		ShouldCancel bool         `json:"shouldCancel"`
		CancelReason string       `json:"cancelReason"`
		TaskToken    string       `json:"taskToken"`
		LiveControl  *liveControl `json:"liveControl"`
	}
	body := map[string]any{"workerId": a.workerID}
	held, err := t.send(ctx, a, http.MethodPost, "heartbeat", body, beatTimeout(a.lease), &answer)
	if err != nil || !held {
		return beat{attempt: a}, err
	}
	if answer.TaskToken != "" {
		a.lock.Lock()
		a.token = answer.TaskToken
		a.lock.Unlock()
	}
	result := beat{attempt: a, held: true, control: answer.LiveControl}
	if answer.ShouldCancel {
		reason := answer.CancelReason
		if reason == "" {
			reason = "no reason given"
		}
		result.cancel = &reason
	}
	return result, nil
}

func (t *tasks) commands(context.Context) ([]command, error) { return nil, nil }

func (t *tasks) settle(ctx context.Context, ends []*ending) ([]bool, error) {
	acks := make([]bool, len(ends))
	errs := make([]error, len(ends))
	parallel(ends, func(i int, end *ending) { acks[i], errs[i] = t.complete(ctx, end) })
	return acks, errors.Join(errs...)
}

func (t *tasks) complete(ctx context.Context, end *ending) (bool, error) {
	held, err := t.post(ctx, end.attempt, "completed", completion(end.attempt, end.outcome), nil)
	if err == nil || isTemporary(err) || ctx.Err() != nil {
		return held, err
	}
	t.log.Error("the server refuses the end of an attempt", "job", end.attempt.info.String(), "error", err)
	held, err = t.post(ctx, end.attempt, "completed", completion(end.attempt, refusedEnd(err)), nil)
	if err != nil && !isTemporary(err) {
		t.log.Error("its lease will run out", "job", end.attempt.info.String(), "error", err)
		return false, nil
	}
	return held, err
}

func completion(a *attempt, o outcome) map[string]any {
	body := map[string]any{"workerId": a.workerID, "outcome": o.word}
	switch o.word {
	case succeeded:
		body["output"] = o.output
	case goesOn:
		body["payload"] = o.output
	case cancelled:
		body["cancelledDuringPhase"] = "running"
	case failed:
		failure := failureOf(o)
		if o.delay != nil {
			ms := millis(*o.delay)
			failure.RetryAfterMs = &ms
		}
		body["error"] = failure
	case snoozed:
		body["delayMs"] = millis(*o.delay)
	}
	return body
}

func (t *tasks) report(ctx context.Context, reports []report) ([]bool, error) {
	acks := make([]bool, len(reports))
	for i, one := range reports {
		held, err := t.tell(ctx, one)
		if err != nil {
			return nil, err
		}
		acks[i] = held
	}
	return acks, nil
}

func (t *tasks) tell(ctx context.Context, one report) (bool, error) {
	a := one.attempt
	switch {
	case one.progress != nil:
		return t.post(ctx, a, "heartbeat", map[string]any{
			"workerId": a.workerID, "progressPct": one.progress.percent, "message": one.progress.message,
		}, nil)
	case one.event != nil:
		return t.post(ctx, a, "event", map[string]any{"type": one.event.kind, "data": one.event.data}, nil)
	case one.step != nil:
		path := "steps/" + escaped(one.step.id)
		return t.send(ctx, a, http.MethodPut, path, taskStep(one.step), 0, nil)
	}
	return t.tellLines(ctx, a, one.log)
}

func (t *tasks) tellLines(ctx context.Context, a *attempt, log *logReport) (bool, error) {
	first, lines := log.firstLine, log.lines
	for len(lines) > 0 {
		count, size := 0, 0
		for count < len(lines) && count < mostLines && size < logBytes {
			size += len(lines[count]) + 3
			count++
		}
		body := map[string]any{"firstLine": first, "lines": lines[:count]}
		if held, err := t.post(ctx, a, "log", body, nil); err != nil || !held {
			return held, err
		}
		first, lines = first+count, lines[count:]
	}
	return true, nil
}

func taskStep(r *stepReport) map[string]any {
	body := map[string]any{"stepIndex": r.index, "state": r.state, "stepAttempt": r.attempt}
	switch r.state {
	case stepDone:
		body["result"] = r.result
	case stepFailed:
		if r.signature == "" { // a wait that an operator wants again: here it begins like a step
			body["state"] = stepRunning
			break
		}
		body["failureClass"] = "transient_runtime"
		body["failureSignature"] = r.signature
		body["strategy"] = strategy(r.again)
	}
	if r.tookMs != nil {
		body["tookMs"] = *r.tookMs
	}
	if r.recovery != nil {
		body["handledCommand"] = r.recovery.UpdatedAt
	}
	return body
}

func (t *tasks) publish(ctx context.Context, a *attempt, name string, content []byte) (*Artifact, error) {
	var answer Artifact
	held, err := t.call(ctx, a, request{
		method: http.MethodPut, path: "artifacts/" + escaped(name) + "?attempt=" + strconv.Itoa(a.key.number), body: content,
		contentType: bytesType, timeout: uploadTimeout,
	}, &answer)
	if err != nil || !held {
		return nil, err
	}
	return &answer, nil
}

func (t *tasks) steps(ctx context.Context, a *attempt) ([]*stepStatus, error) {
	var answer struct {
		Steps []*stepStatus `json:"steps"`
	}
	_, err := t.call(ctx, a, request{method: http.MethodGet, path: "steps"}, &answer)
	return answer.Steps, err
}

func (t *tasks) suspend(ctx context.Context, a *attempt, _ int, asked *wait) (*waitAnswer, error) {
	var answer waitAnswer
	held, err := t.post(ctx, a, "wait", map[string]any{"wait": asked}, &answer)
	if err == nil && !held {
		answer.Outcome = leaseLost
	}
	return &answer, err
}

// startChildren: the server says their ids.
func (t *tasks) startChildren(ctx context.Context, a *attempt, start *childrenStart) ([]string, error) {
	var answer struct {
		Jobs []string `json:"jobs"`
	}
	held, err := t.post(ctx, a, "children", map[string]any{"startedAs": start.id, "jobs": start.jobs}, &answer)
	if err != nil || !held {
		return nil, err
	}
	if answer.Jobs == nil {
		answer.Jobs = []string{}
	}
	return answer.Jobs, nil
}

func (t *tasks) childrenEnds(ctx context.Context, a *attempt, ids []string) ([]ChildEnd, error) {
	var answer struct {
		Jobs []ChildEnd `json:"jobs"`
	}
	held, err := t.post(ctx, a, "children/ends", map[string]any{"jobs": ids}, &answer)
	if err == nil && !held {
		return nil, a.lost("the server refused a report")
	}
	return answer.Jobs, err
}
