package holdfast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const mostAtOnce = 10_000

// Client enqueues jobs, and shows and steers what becomes of them. The zero value is ready to use; a client may be used by several
// goroutines, and its fields are not to be changed once it is.
//
// Each call is repeated through outages and restarts of the server for RetryFor, or until its context is done. That is safe: jobs carry
// ids that the client chose, and the server answers a repeated request as it answered the first.
type Client struct {
	// URL of the server: HOLDFAST_SERVER_URL, or http://127.0.0.1:8420, unless given.
	URL string
	// APIKey of role submitter or operator: HOLDFAST_SERVER_API_KEY unless given.
	APIKey string
	// KeySource is asked for the key in place of APIKey, before each request, and again when the server has refused what it gave.
	KeySource func(context.Context) (string, error)
	// HTTPClient makes the requests, such as one with TLS of its own.
	HTTPClient *http.Client
	// RetryFor is how long a call is repeated while the server is away: 30 seconds unless given, and not at all below zero.
	RetryFor time.Duration

	once   sync.Once
	server *connection
	broken error
}

func (c *Client) connection() (*connection, error) {
	c.once.Do(func() { c.server, c.broken = newConnection(c.URL, c.APIKey, c.KeySource, c.HTTPClient) })
	return c.server, c.broken
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	return c.insist(ctx, request{method: http.MethodGet, path: path}, into)
}

func (c *Client) post(ctx context.Context, path string, body, into any) error {
	sent, err := encode(body)
	if err != nil {
		return fmt.Errorf("holdfast: not JSON: %w", err)
	}
	return c.insist(ctx, request{method: http.MethodPost, path: path, body: sent}, into)
}

func (c *Client) insist(ctx context.Context, r request, into any) error {
	_, err := c.insistOn(ctx, func(server *connection) ([]byte, error) { return nil, server.call(ctx, r, into) })
	return err
}

func (c *Client) insistOn(ctx context.Context, call func(*connection) ([]byte, error)) ([]byte, error) {
	server, err := c.connection()
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(cmpOr(c.RetryFor, 30*time.Second))
	pauses := newBackoff()
	for {
		content, err := call(server)
		var refused *Error
		if err == nil || !errors.As(err, &refused) || !refused.Temporary() || refused.Status == http.StatusInternalServerError {
			return content, err
		}
		pause := pauses.pause(err)
		if time.Now().Add(pause).After(until) {
			return nil, err
		}
		if !sleep(ctx, pause) {
			return nil, context.Cause(ctx)
		}
	}
}

// Enqueue returns once the job is durable.
func (c *Client) Enqueue(ctx context.Context, job JobRequest) (Enqueued, error) {
	sent, err := withID(job)
	if err != nil {
		return Enqueued{}, err
	}
	var answer Enqueued
	err = c.post(ctx, "/v1/jobs", sent, &answer)
	return answer, err
}

// EnqueueAll takes up to 10,000 jobs at once, all or none.
func (c *Client) EnqueueAll(ctx context.Context, jobs []JobRequest) ([]Enqueued, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	if len(jobs) > mostAtOnce {
		return nil, fmt.Errorf("holdfast: %d jobs at once: enqueue %d at most", len(jobs), mostAtOnce)
	}
	sent := make([]*sentJob, len(jobs))
	for i, job := range jobs {
		var err error
		if sent[i], err = withID(job); err != nil {
			return nil, fmt.Errorf("jobs[%d]: %w", i, err)
		}
	}
	var answer struct {
		Jobs []Enqueued `json:"jobs"`
	}
	err := c.post(ctx, "/v1/jobs", map[string]any{"jobs": sent}, &answer)
	return answer.Jobs, err
}

// withID: a job whose answer is lost is sent again, and is one job.
func withID(job JobRequest) (*sentJob, error) {
	if job.ID == "" {
		job.ID = NewID()
	}
	return job.sent()
}

func jobPath(id string) string { return "/v1/jobs/" + escaped(id) }

// Get returns the job. When there is none of this id, the error is [ErrNotFound] by [errors.Is].
func (c *Client) Get(ctx context.Context, id string) (*JobStatus, error) {
	var status JobStatus
	if err := c.get(ctx, jobPath(id), &status); err != nil {
		return nil, err
	}
	return &status, nil
}

// Wait returns the job once it has ended, however that was. It asks often at first, then once a second, until the context is done.
func (c *Client) Wait(ctx context.Context, id string) (*JobStatus, error) {
	pause := 50 * time.Millisecond
	for {
		status, err := c.Get(ctx, id)
		if err != nil || status.State.Terminal() {
			return status, err
		}
		if !sleep(ctx, pause) {
			return status, fmt.Errorf("holdfast: job %s is %s: %w", id, status.State, context.Cause(ctx))
		}
		pause = min(time.Second, pause*3/2)
	}
}

// Result waits for the end of a job, and returns what it returned. When it did not succeed, the error is a [JobFailedError].
func Result[T any](ctx context.Context, c *Client, id string) (T, error) {
	var none T
	status, err := c.Wait(ctx, id)
	if err != nil {
		return none, err
	}
	if status.State != StateSucceeded {
		return none, &JobFailedError{id, status.State, status.Failure, status.CancelReason}
	}
	result, err := decode[T](status.Result, true)
	if err != nil {
		return none, fmt.Errorf("holdfast: the result of job %s is not a %T: %w", id, none, err)
	}
	return result, nil
}

// Cancellation is what a cancel came to.
type Cancellation struct {
	ID            string `json:"id"`
	PreviousState State  `json:"previousState"`
	// Outcome is CANCELLED, REQUESTED, ALREADY_REQUESTED or ALREADY_TERMINAL.
	Outcome string `json:"outcome"`
}

// What a cancel came to.
const (
	OutcomeCancelled        = "CANCELLED"
	OutcomeRequested        = "REQUESTED"
	OutcomeAlreadyRequested = "ALREADY_REQUESTED"
	OutcomeAlreadyTerminal  = "ALREADY_TERMINAL"
)

// Cancel stops a job: one that runs is asked to, and one that has ended stays as it is.
func (c *Client) Cancel(ctx context.Context, id, reason string) (Cancellation, error) {
	return c.cancel(ctx, id, reason, false)
}

// CancelAll does the same with all jobs that this one has started.
func (c *Client) CancelAll(ctx context.Context, id, reason string) (Cancellation, error) {
	return c.cancel(ctx, id, reason, true)
}

func (c *Client) cancel(ctx context.Context, id, reason string, cascade bool) (Cancellation, error) {
	body := map[string]any{"cascade": cascade}
	if reason != "" {
		body["reason"] = reason
	}
	var answer struct {
		Jobs []Cancellation `json:"jobs"`
	}
	err := c.post(ctx, jobPath(id)+"/cancel", body, &answer)
	var refused *Error
	if errors.As(err, &refused) && refused.Code == "job_already_terminal" {
		return Cancellation{id, refused.State, OutcomeAlreadyTerminal}, nil
	}
	if err != nil {
		return Cancellation{}, err
	}
	for _, one := range answer.Jobs {
		if strings.EqualFold(one.ID, id) {
			return one, nil
		}
	}
	return Cancellation{}, fmt.Errorf("holdfast: the server has not said what became of job %s", id)
}

// Retry puts a job that is FAILED or CANCELLED back into its queue, with a fresh budget.
func (c *Client) Retry(ctx context.Context, id string) error {
	return c.post(ctx, jobPath(id)+"/retry", struct{}{}, nil)
}

// Signal tells a job something. It stays in the mailbox of the job until a wait takes it. The key of [SignalOnce] is one of its own, so
// that a call whose answer is lost is one signal.
func (c *Client) Signal(ctx context.Context, id, name string, payload any) error {
	_, err := c.SignalOnce(ctx, id, name, NewID(), payload)
	return err
}

// SignalOnce is the same with a key: of two signals to a job with the same key only the first counts, and told is false for the other.
func (c *Client) SignalOnce(ctx context.Context, id, name, key string, payload any) (told bool, err error) {
	if payload == nil {
		payload = struct{}{}
	}
	var answer struct {
		Duplicate bool `json:"duplicate"`
	}
	err = c.post(ctx, jobPath(id)+"/signals", map[string]any{"name": name, "key": key, "payload": payload}, &answer)
	return err == nil && !answer.Duplicate, err
}

// Decision answers what a job asks by Approve.
type Decision struct {
	// WaitID is the id under which it asks.
	WaitID   string `json:"waitId"`
	Approved bool   `json:"approved"`
	Comment  string `json:"comment,omitempty"`
}

// Decide approves or rejects. JobFilter{Waits: "approval"} finds jobs that ask.
func (c *Client) Decide(ctx context.Context, id string, decision Decision) error {
	return c.post(ctx, jobPath(id)+"/decisions", decision, nil)
}

// Control is what an operator asks of a job that runs in steps: pause, takeover, resume, retry_step, hard_reset_step, resume_from_step or
// accept_step.
type Control struct {
	Action string `json:"action"`
	StepID string `json:"stepId,omitempty"`
	Reason string `json:"reason"`
}

// Control sends it; the worker of the job receives it with its next heartbeat.
func (c *Client) Control(ctx context.Context, id string, control Control) error {
	return c.post(ctx, jobPath(id)+"/control", control, nil)
}

// Log returns the last 64 Ki characters or so that the attempts of the job have logged.
func (c *Client) Log(ctx context.Context, id string) (string, error) {
	var answer struct {
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	}
	err := c.get(ctx, jobPath(id)+"/log", &answer)
	var text strings.Builder
	for _, part := range answer.Parts {
		text.WriteString(part.Text)
	}
	return text.String(), err
}

// JobEvent is an entry of a timeline.
type JobEvent struct {
	Number  int             `json:"number"`
	Type    string          `json:"type"`
	Attempt int             `json:"attempt"`
	At      time.Time       `json:"at"`
	Data    json.RawMessage `json:"data"`
}

// Timeline returns what has happened to the job.
func (c *Client) Timeline(ctx context.Context, id string) ([]JobEvent, error) {
	var answer struct {
		Events []JobEvent `json:"events"`
	}
	err := c.get(ctx, jobPath(id)+"/timeline", &answer)
	return answer.Events, err
}

// Artifacts returns the files that the job has published.
func (c *Client) Artifacts(ctx context.Context, id string) ([]Artifact, error) {
	var answer struct {
		Artifacts []Artifact `json:"artifacts"`
	}
	err := c.get(ctx, jobPath(id)+"/artifacts", &answer)
	return answer.Artifacts, err
}

// Artifact returns the content of one of them.
func (c *Client) Artifact(ctx context.Context, id, name string) ([]byte, error) {
	path := jobPath(id) + "/artifacts/" + escaped(name)
	return c.insistOn(ctx, func(server *connection) ([]byte, error) {
		return server.content(ctx, request{method: http.MethodGet, path: path, timeout: uploadTimeout})
	})
}

// JobFilter chooses jobs; a field that is empty chooses all.
type JobFilter struct {
	States        []State
	Queue         string
	Kind          string
	RunID         string
	ParentID      string
	Tag           string
	Tenant        string
	Waits         string
	Search        string
	CreatedAfter  time.Time
	CreatedBefore time.Time
	// OldestFirst turns the order around.
	OldestFirst bool
	// Limit is how many jobs a page has, not how many there are: 50 unless given.
	Limit int
}

func (f JobFilter) query() url.Values {
	query := url.Values{}
	states := make([]string, len(f.States))
	for i, state := range f.States {
		states[i] = string(state)
	}
	for name, value := range map[string]string{
		"state": strings.Join(states, ","), "queue": f.Queue, "kind": f.Kind, "runId": f.RunID, "parentId": f.ParentID, "tag": f.Tag,
		"tenant": f.Tenant, "waits": f.Waits, "search": f.Search,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for name, at := range map[string]time.Time{"createdAfter": f.CreatedAfter, "createdBefore": f.CreatedBefore} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	if f.OldestFirst {
		query.Set("order", "oldest")
	}
	if f.Limit != 0 {
		query.Set("limit", strconv.Itoa(f.Limit))
	}
	return query
}

// Jobs are all that the filter chooses, newest first, page by page. The iteration ends with the first error.
func (c *Client) Jobs(ctx context.Context, filter JobFilter) iter.Seq2[*JobStatus, error] {
	return func(yield func(*JobStatus, error) bool) {
		query := filter.query()
		for {
			var page struct {
				Jobs []*JobStatus `json:"jobs"`
				Next string       `json:"next"`
			}
			if err := c.get(ctx, "/v1/jobs?"+query.Encode(), &page); err != nil {
				yield(nil, err)
				return
			}
			for _, job := range page.Jobs {
				if !yield(job, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			query.Set("cursor", page.Next)
		}
	}
}

// PauseQueue starts no more jobs of the queue; running ones continue.
func (c *Client) PauseQueue(ctx context.Context, queue, reason string) error {
	body := map[string]any{}
	if reason != "" {
		body["reason"] = reason
	}
	return c.post(ctx, "/v1/queues/"+escaped(queue)+"/pause", body, nil)
}

// ResumeQueue ends a pause.
func (c *Client) ResumeQueue(ctx context.Context, queue string) error {
	return c.post(ctx, "/v1/queues/"+escaped(queue)+"/resume", struct{}{}, nil)
}
