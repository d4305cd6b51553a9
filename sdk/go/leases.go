package holdfast

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	mostLeased   = 100
	mostBeats    = 1_000
	mostReports  = 500
	mostSettled  = 500
	mostChildren = 1_000
	batchBytes   = 16 << 20
	pieceChars   = 4_096
)

// leases is the batch protocol, /v1/leases: many attempts in one request, under one API key.
type leases struct {
	server  *connection
	worker  string
	leaseMs int64
	log     *slog.Logger
}

// held names an attempt in what is sent about it.
type held struct {
	TaskID   string `json:"taskId"`
	Attempt  int    `json:"attempt"`
	WorkerID string `json:"workerId"`
}

func heldBy(a *attempt) held { return held{a.key.id, a.key.number, a.workerID} }

func (l *leases) depth(ctx context.Context, queues []string) error {
	body := map[string]any{"queues": queues, "limit": 1}
	sent, _ := encode(body)
	return l.server.call(ctx, request{method: http.MethodPost, path: "/v1/queues/depth", body: sent, timeout: 15 * time.Second}, nil)
}

// lease returns what is due, and when there is nothing, in how long something is. It never waits: a job that the server gives to a
// request whose worker has gone is only found when its lease runs out, and that counts as a crash.
func (l *leases) lease(ctx context.Context, queue string, most int) ([]*envelope, *time.Duration, error) {
	body := map[string]any{"workerId": l.worker, "max": min(most, mostLeased), "waitMs": 0, "leaseMs": l.leaseMs}
	var answer struct {
		Tasks       []*envelope `json:"tasks"`
		NextDueInMs *int64      `json:"nextDueInMs"`
	}
	if err := l.server.post(ctx, "/v1/queues/"+escaped(queue)+"/lease", body, &answer); err != nil {
		return nil, nil, err
	}
	var due *time.Duration
	if answer.NextDueInMs != nil {
		in := time.Duration(*answer.NextDueInMs) * time.Millisecond
		due = &in
	}
	return answer.Tasks, due, nil
}

func (l *leases) wait(ctx context.Context, queues []string, most time.Duration) error {
	sent, err := encode(map[string]any{"workerId": l.worker, "queues": queues, "waitMs": millis(most)})
	if err != nil {
		return err
	}
	return l.server.call(ctx, request{
		method: http.MethodPost, path: "/v1/queues/wait", body: sent, timeout: most + 20*time.Second,
	}, nil)
}

// held returns all leases under this worker's name, those whose answer was lost included.
func (l *leases) held(ctx context.Context) ([]leaseKey, error) {
	var answer struct {
		Leases []held `json:"leases"`
	}
	if err := l.server.get(ctx, "/v1/leases?workerId="+url.QueryEscape(l.worker), &answer); err != nil {
		return nil, err
	}
	keys := make([]leaseKey, len(answer.Leases))
	for i, one := range answer.Leases {
		keys[i] = leaseKey{one.TaskID, one.Attempt}
	}
	return keys, nil
}

func (l *leases) release(ctx context.Context, keys []leaseKey) error {
	for len(keys) > 0 {
		some := keys[:min(len(keys), mostSettled)]
		keys = keys[len(some):]
		ends := make([]settlement, len(some))
		for i, key := range some {
			ends[i] = settlement{held: held{key.id, key.number, l.worker}, Outcome: released}
		}
		if err := l.server.post(ctx, "/v1/leases/settle", map[string]any{"settlements": ends}, nil); err != nil {
			return err
		}
	}
	return nil
}

// A leased attempt is under way from the lease on.
func (l *leases) started(context.Context, *attempt) (bool, error) { return true, nil }

type leaseStatuses struct {
	Leases []struct {
		TaskID       string       `json:"taskId"`
		Attempt      int          `json:"attempt"`
		Ack          string       `json:"ack"`
		CancelReason *string      `json:"cancelReason"`
		LiveControl  *liveControl `json:"liveControl"`
	} `json:"leases"`
}

func (l *leases) heartbeat(ctx context.Context, attempts []*attempt) ([]beat, error) {
	var beats []beat
	for len(attempts) > 0 {
		some := attempts[:min(len(attempts), mostBeats)]
		attempts = attempts[len(some):]
		longest := time.Duration(0)
		named := make([]held, len(some))
		byKey := make(map[leaseKey]*attempt, len(some))
		for i, a := range some {
			longest = max(longest, a.lease)
			named[i] = heldBy(a)
			byKey[a.key] = a
		}
		sent, err := encode(map[string]any{"leaseMs": longest.Milliseconds(), "leases": named})
		if err != nil {
			return beats, err
		}
		var answer leaseStatuses
		err = l.server.call(ctx, request{
			method: http.MethodPost, path: "/v1/leases/heartbeat", body: sent, timeout: beatTimeout(longest),
		}, &answer)
		if err != nil {
			return beats, err
		}
		for _, one := range answer.Leases {
			if a := byKey[leaseKey{one.TaskID, one.Attempt}]; a != nil {
				beats = append(beats, beat{a, one.Ack == accepted, one.CancelReason, one.LiveControl, ""})
			}
		}
	}
	return beats, nil
}

func beatTimeout(lease time.Duration) time.Duration {
	return max(time.Second, min(10*time.Second, lease/2))
}

const accepted = "ACCEPTED"

func (l *leases) commands(ctx context.Context) ([]command, error) {
	var answer leaseStatuses
	err := l.server.call(ctx, request{
		method: http.MethodGet, path: "/v1/leases/commands?workerId=" + url.QueryEscape(l.worker), timeout: 5 * time.Second,
	}, &answer)
	if err != nil {
		return nil, err
	}
	found := make([]command, len(answer.Leases))
	for i, one := range answer.Leases {
		found[i] = command{leaseKey{one.TaskID, one.Attempt}, one.CancelReason, one.LiveControl}
	}
	return found, nil
}

// settlement is the end of an attempt as JSON.
type settlement struct {
	held
	Outcome           string          `json:"outcome"`
	Output            json.RawMessage `json:"output,omitempty"`
	Payload           json.RawMessage `json:"payload,omitempty"`
	Error             *failureReport  `json:"error,omitempty"`
	DelayMs           *int64          `json:"delayMs,omitempty"`
	AbortedByShutdown bool            `json:"abortedByShutdown,omitempty"`
}

type failureReport struct {
	Category     Category `json:"category"`
	Code         string   `json:"code"`
	Message      string   `json:"message"`
	Retryable    bool     `json:"retryable"`
	StackTrace   string   `json:"stackTrace,omitempty"`
	RetryAfterMs *int64   `json:"retryAfterMs,omitempty"`
}

func failureOf(o outcome) *failureReport {
	if o.failure == nil {
		return nil
	}
	f := o.failure
	return &failureReport{Category: f.Category, Code: f.Code, Message: f.Message, Retryable: f.Retryable, StackTrace: f.StackTrace}
}

func (l *leases) settlement(a *attempt, o outcome) json.RawMessage {
	end := settlement{held: heldBy(a), Outcome: o.word, Error: failureOf(o), AbortedByShutdown: o.word == released}
	if o.word == goesOn {
		end.Payload = o.output
	} else {
		end.Output = o.output
	}
	if o.delay != nil {
		ms := millis(*o.delay)
		end.DelayMs = &ms
	}
	text, _ := encode(end) // what is in it was encoded before
	return text
}

// settle: one refused end makes the server refuse its batch, so each is then sent alone.
func (l *leases) settle(ctx context.Context, ends []*ending) ([]bool, error) {
	acks := make([]bool, 0, len(ends))
	for len(ends) > 0 {
		var bodies []json.RawMessage
		size := 0
		for _, end := range ends {
			body := l.settlement(end.attempt, end.outcome)
			size += len(body)
			if len(bodies) == mostSettled || size > batchBytes && len(bodies) > 0 {
				break
			}
			bodies = append(bodies, body)
		}
		some := ends[:len(bodies)]
		ends = ends[len(bodies):]
		taken, err := l.send(ctx, bodies)
		if err != nil && !isTemporary(err) && !isKeyRefused(err) && ctx.Err() == nil {
			taken, err = l.settleAlone(ctx, some, err)
		}
		if err != nil {
			return nil, err
		}
		acks = append(acks, taken...)
	}
	return acks, nil
}

func (l *leases) settleAlone(ctx context.Context, ends []*ending, why error) ([]bool, error) {
	acks := make([]bool, len(ends))
	for i, end := range ends {
		taken, err := []bool(nil), why
		if len(ends) > 1 {
			taken, err = l.send(ctx, []json.RawMessage{l.settlement(end.attempt, end.outcome)})
		}
		if err != nil && (isTemporary(err) || isKeyRefused(err) || ctx.Err() != nil) {
			return nil, err
		}
		if err != nil {
			l.log.Error("the server refuses the end of an attempt", "job", end.attempt.info.String(), "error", err)
			taken, err = l.send(ctx, []json.RawMessage{l.settlement(end.attempt, refusedEnd(err))})
		}
		if err != nil && isTemporary(err) {
			return nil, err
		}
		if err != nil {
			l.log.Error("its lease will run out", "job", end.attempt.info.String(), "error", err)
			continue
		}
		acks[i] = taken[0]
	}
	return acks, nil
}

// refusedEnd fails an attempt whose end the server does not store.
func refusedEnd(err error) outcome {
	code := "RESULT_NOT_JSON"
	if refused, ok := err.(*Error); ok && refused.Status == http.StatusRequestEntityTooLarge {
		code = "RESULT_TOO_LARGE"
	} else if ok && refused.Code == "bad_dependency" {
		code = "BAD_DEPENDENCY"
	}
	return failure(CategoryUserCode, code, "the server refused the end of the attempt: "+err.Error(), false)
}

func (l *leases) send(ctx context.Context, bodies []json.RawMessage) ([]bool, error) {
	return l.acks(ctx, "/v1/leases/settle", "settlements", bodies)
}

func (l *leases) acks(ctx context.Context, path, name string, entries []json.RawMessage) ([]bool, error) {
	var body bytes.Buffer
	fmt.Fprintf(&body, `{"%s":[`, name)
	for i, entry := range entries {
		if i > 0 {
			body.WriteByte(',')
		}
		body.Write(entry)
	}
	body.WriteString("]}")
	var answer struct {
		Acks []string `json:"acks"`
	}
	if err := l.server.call(ctx, request{method: http.MethodPost, path: path, body: body.Bytes()}, &answer); err != nil {
		return nil, err
	}
	if len(answer.Acks) != len(entries) {
		return nil, &Error{Message: fmt.Sprintf("the server answered %d of %d", len(answer.Acks), len(entries))}
	}
	acks := make([]bool, len(entries))
	for i, ack := range answer.Acks {
		acks[i] = ack == accepted
	}
	return acks, nil
}

type reportEntry struct {
	held
	ProgressPct *int            `json:"progressPct,omitempty"`
	Message     *string         `json:"message,omitempty"`
	Type        string          `json:"type,omitempty"`
	Data        json.RawMessage `json:"data,omitempty"`
	Log         *logPiece       `json:"log,omitempty"`
	Step        *stepEntry      `json:"step,omitempty"`
}

type logPiece struct {
	Piece int    `json:"piece"`
	Text  string `json:"text"`
}

type stepEntry struct {
	StepID           string          `json:"stepId"`
	StepIndex        int             `json:"stepIndex"`
	StepAttempt      int             `json:"stepAttempt"`
	State            string          `json:"state"`
	Checkpoint       json.RawMessage `json:"checkpoint,omitempty"`
	Reset            bool            `json:"reset"`
	TookMs           *int64          `json:"tookMs,omitempty"`
	HandledCommand   string          `json:"handledCommand,omitempty"`
	DiscardFromIndex int             `json:"discardFromIndex,omitempty"`
	Events           []stepEvent     `json:"events"`
}

type stepEvent struct {
	Type string         `json:"type"`
	Data map[string]any `json:"data"`
}

// report sends them in batches, each with all entries of a report.
func (l *leases) report(ctx context.Context, reports []report) ([]bool, error) {
	acks := make([]bool, len(reports))
	var batch []json.RawMessage
	var of []int
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		taken, err := l.acks(ctx, "/v1/leases/report", "reports", batch)
		if err != nil {
			return err
		}
		for i, ack := range taken {
			acks[of[i]] = acks[of[i]] && ack
		}
		batch, of, size = nil, nil, 0
		return nil
	}
	for i, one := range reports {
		acks[i] = true
		for _, entry := range entries(one) {
			text, err := encode(entry)
			if err != nil {
				return nil, err
			}
			if len(batch) == mostReports || size+len(text) > batchBytes {
				if err := flush(); err != nil {
					return nil, err
				}
			}
			batch, of, size = append(batch, text), append(of, i), size+len(text)
		}
	}
	return acks, flush()
}

func entries(one report) []reportEntry {
	by := heldBy(one.attempt)
	switch {
	case one.progress != nil:
		return []reportEntry{{held: by, ProgressPct: &one.progress.percent, Message: &one.progress.message}}
	case one.event != nil:
		return []reportEntry{{held: by, Type: one.event.kind, Data: one.event.data}}
	case one.step != nil:
		return []reportEntry{{held: by, Step: stepEntryOf(one.step)}}
	}
	var found []reportEntry
	for i, text := range pieces(one.log.lines) {
		found = append(found, reportEntry{held: by, Log: &logPiece{one.log.firstPiece + i, text}})
	}
	return found
}

// pieces are whole lines, together no longer than the server takes.
func pieces(lines []string) []string {
	var found []string
	piece, chars := "", 0
	for _, line := range lines {
		length := utf16Length(line) + 1
		if chars > 0 && chars+length > pieceChars {
			found = append(found, piece)
			piece, chars = "", 0
		}
		piece += line + "\n"
		chars += length
	}
	if chars > 0 {
		found = append(found, piece)
	}
	return found
}

// utf16Length is how the server counts characters.
func utf16Length(text string) int {
	length := 0
	for _, char := range text {
		length++
		if char > 0xffff && char != utf8.RuneError {
			length++
		}
	}
	return length
}

const (
	eventStarted  = "task.step.attempt.started"
	eventFinished = "task.step.attempt.finished"
	eventFailed   = "task.step.attempt.failed"
	eventAck      = "task.control.recovery.ack"
)

// stepEntryOf has the entries of the timeline that /v1/tasks/{id}/steps/{step} would write.
func stepEntryOf(r *stepReport) *stepEntry {
	data := map[string]any{"stepId": r.id, "stepIndex": r.index, "attempt": r.attempt}
	entry := &stepEntry{
		StepID: r.id, StepIndex: r.index, StepAttempt: r.attempt, State: r.state, TookMs: r.tookMs, Events: []stepEvent{},
	}
	switch r.state {
	case stepRunning:
		entry.Events = append(entry.Events, stepEvent{eventStarted, data})
	case stepDone:
		entry.Checkpoint = r.result
		if r.tookMs == nil { // else the server says that it began and that it is done
			entry.Events = append(entry.Events, stepEvent{eventFinished, data})
		}
	case stepFailed:
		if r.signature != "" {
			if r.tookMs != nil {
				entry.Events = append(entry.Events, stepEvent{eventStarted, data})
			}
			entry.Events = append(entry.Events, stepEvent{eventFailed, map[string]any{
				"stepId": r.id, "stepIndex": r.index, "attempt": r.attempt, "failureClass": "transient_runtime",
				"failureSignature": r.signature, "strategy": strategy(r.again),
			}})
		}
	}
	if asked := r.recovery; asked != nil {
		ack := map[string]any{
			"action": asked.Action, "stepId": asked.StepID, "requestedBy": asked.RequestedBy, "updatedAt": asked.UpdatedAt,
			"stepIndex": r.index, "attempt": r.attempt,
		}
		entry.Events = append([]stepEvent{{eventAck, ack}}, entry.Events...)
		entry.HandledCommand = asked.UpdatedAt
		if asked.Action == "hard_reset_step" || asked.Action == "resume_from_step" {
			entry.DiscardFromIndex = r.index
		}
	}
	return entry
}

func strategy(again bool) string {
	if again {
		return "soft_reset"
	}
	return "queue_retry"
}

func (l *leases) query(a *attempt) string {
	return "taskId=" + a.key.id + "&attempt=" + strconv.Itoa(a.key.number) + "&workerId=" + url.QueryEscape(a.workerID)
}

func (l *leases) publish(ctx context.Context, a *attempt, name string, content []byte) (*Artifact, error) {
	var answer struct {
		Artifact
		Ack string `json:"ack"`
	}
	err := l.server.call(ctx, request{
		method: http.MethodPut, path: "/v1/leases/artifacts/" + escaped(name) + "?" + l.query(a), body: content,
		contentType: bytesType, timeout: uploadTimeout,
	}, &answer)
	if err != nil || answer.Ack != accepted {
		return nil, err
	}
	return &answer.Artifact, nil
}

func (l *leases) steps(ctx context.Context, a *attempt) ([]*stepStatus, error) {
	var answer struct {
		Steps []*stepStatus `json:"steps"`
	}
	err := l.server.get(ctx, "/v1/leases/steps?"+l.query(a), &answer)
	return answer.Steps, err
}

func (l *leases) suspend(ctx context.Context, a *attempt, index int, asked *wait) (*waitAnswer, error) {
	body := struct {
		held
		Index int   `json:"index"`
		Wait  *wait `json:"wait"`
	}{heldBy(a), index, asked}
	var answer waitAnswer
	err := l.server.post(ctx, "/v1/leases/suspend", body, &answer)
	return &answer, err
}

// startChildren sends them in parts: all are valid JSON before any is started, and how many they are comes with the last.
func (l *leases) startChildren(ctx context.Context, a *attempt, start *childrenStart) ([]string, error) {
	ids, err := start.ids(a.key.id)
	if err != nil {
		return nil, err
	}
	for from := 0; from < max(1, len(ids)); from += mostChildren {
		part := start.jobs[from:min(len(ids), from+mostChildren)]
		body := struct {
			held
			StartedAs string     `json:"startedAs"`
			Index     int        `json:"index"`
			Jobs      []*sentJob `json:"jobs"`
			Count     int        `json:"count"`
		}{held: heldBy(a), StartedAs: start.id, Index: start.index, Jobs: []*sentJob{}}
		for i, job := range part {
			sent := *job
			sent.ID = ids[from+i]
			body.Jobs = append(body.Jobs, &sent)
		}
		if from+len(part) == len(ids) {
			body.Count = len(ids)
		}
		var answer struct {
			Ack string `json:"ack"`
		}
		if err := l.server.post(ctx, "/v1/leases/children", body, &answer); err != nil {
			return nil, err
		}
		if answer.Ack != accepted {
			return nil, nil
		}
	}
	return ids, nil
}

func (l *leases) childrenEnds(ctx context.Context, a *attempt, ids []string) ([]ChildEnd, error) {
	body := struct {
		held
		Jobs []string `json:"jobs"`
	}{heldBy(a), ids}
	var answer struct {
		Jobs []ChildEnd `json:"jobs"`
	}
	err := l.server.post(ctx, "/v1/leases/children/ends", body, &answer)
	return answer.Jobs, err
}
