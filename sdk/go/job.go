package holdfast

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// State is where a job is in its life.
type State string

// The states of a job.
const (
	StateWaiting   State = "WAITING"
	StatePending   State = "PENDING"
	StateRunning   State = "RUNNING"
	StateRetrying  State = "RETRYING"
	StateSucceeded State = "SUCCEEDED"
	StateFailed    State = "FAILED"
	StateCancelled State = "CANCELLED"
)

// Terminal says whether a job of this state has ended.
func (s State) Terminal() bool {
	return s == StateSucceeded || s == StateFailed || s == StateCancelled
}

// Job is one attempt at a job, as its handler gets it.
type Job[P any] struct {
	JobInfo
	// Payload is what was enqueued.
	Payload P
}

// JobInfo is what is known of a job besides its payload.
type JobInfo struct {
	// ID is the same in every attempt of the job: a good idempotency key for calls to others.
	ID      string
	Kind    string
	Queue   string
	Attempt int
	// Failures is how many attempts have failed so far, and MaxAttempts how many may.
	Failures    int
	MaxAttempts int
	EnqueuedAt  time.Time
	// Deadline is when the job fails if it has not ended; zero if it has none.
	Deadline     time.Time
	Tenant       string
	Workspace    string
	Run          string
	RunKey       string
	AssetID      string
	PartitionKey string
	Tags         []string
	Resources    json.RawMessage
	Traceparent  string
	// LastFailure is why an attempt before this one has failed; nil when none did.
	LastFailure *Failure
}

// String is the kind, the id and the attempt.
func (j *JobInfo) String() string { return fmt.Sprintf("%s %s attempt %d", j.Kind, j.ID, j.Attempt) }

// JobRequest is a job to enqueue. Fields that are left zero are the server's to decide.
type JobRequest struct {
	// ID is chosen by Enqueue unless given. The same job with the same id is one job.
	ID    string
	Kind  string
	Queue string
	// Payload is whatever encoding/json writes; {} unless given.
	Payload any
	// Priority is from 0, first, to 9, last; nil is 5.
	Priority *int
	// Delay is how long the job waits before it is due. Not beside RunAt.
	Delay       time.Duration
	RunAt       time.Time
	MaxAttempts int
	MaxCrashes  *int
	// Timeout is for one attempt, Deadline for all together.
	Timeout  time.Duration
	Deadline time.Time
	// UniqueKey is held by at most one job of a tenant and kind.
	UniqueKey    string
	UniqueStates []State
	UniqueWindow time.Duration
	// ConcurrencyKey lets jobs of a queue take turns, ConcurrencyLimit of them at once.
	ConcurrencyKey   string
	ConcurrencyLimit int
	// DependsOn has the ids of jobs that must end first; WhenDependencyFails is CANCEL, FAIL or RUN.
	DependsOn           []string
	WhenDependencyFails string
	ParentID            string
	RunID               string
	RunKey              string
	Tenant              string
	Workspace           string
	AssetID             string
	PartitionKey        string
	Resources           any
	Traceparent         string
	// Tags are words by which people find the job.
	Tags []string
}

// sentJob is the JSON of a request.
type sentJob struct {
	ID                  string          `json:"id,omitempty"`
	Kind                string          `json:"kind"`
	Queue               string          `json:"queue,omitempty"`
	Payload             json.RawMessage `json:"payload,omitempty"`
	Priority            *int            `json:"priority,omitempty"`
	DelayMs             int64           `json:"delayMs,omitempty"`
	RunAt               *time.Time      `json:"runAt,omitempty"`
	MaxAttempts         int             `json:"maxAttempts,omitempty"`
	MaxCrashes          *int            `json:"maxCrashes,omitempty"`
	TimeoutMs           int64           `json:"timeoutMs,omitempty"`
	Deadline            *time.Time      `json:"deadline,omitempty"`
	UniqueKey           string          `json:"uniqueKey,omitempty"`
	UniqueStates        []State         `json:"uniqueStates,omitempty"`
	UniqueWindowMs      int64           `json:"uniqueWindowMs,omitempty"`
	ConcurrencyKey      string          `json:"concurrencyKey,omitempty"`
	ConcurrencyLimit    int             `json:"concurrencyLimit,omitempty"`
	DependsOn           []string        `json:"dependsOn,omitempty"`
	WhenDependencyFails string          `json:"whenDependencyFails,omitempty"`
	ParentID            string          `json:"parentId,omitempty"`
	RunID               string          `json:"runId,omitempty"`
	RunKey              string          `json:"runKey,omitempty"`
	Tenant              string          `json:"tenant,omitempty"`
	Workspace           string          `json:"workspace,omitempty"`
	AssetID             string          `json:"assetId,omitempty"`
	PartitionKey        string          `json:"partitionKey,omitempty"`
	Resources           json.RawMessage `json:"resources,omitempty"`
	Traceparent         string          `json:"traceparent,omitempty"`
	Tags                []string        `json:"tags,omitempty"`
}

// sent is the request as JSON has it, whole: a delay below a millisecond is one.
func (r JobRequest) sent() (*sentJob, error) {
	job := &sentJob{
		ID: r.ID, Kind: r.Kind, Queue: r.Queue, Priority: r.Priority, DelayMs: millis(r.Delay), RunAt: given(r.RunAt),
		MaxAttempts: r.MaxAttempts, MaxCrashes: r.MaxCrashes, TimeoutMs: millis(r.Timeout), Deadline: given(r.Deadline),
		UniqueKey: r.UniqueKey, UniqueStates: r.UniqueStates, UniqueWindowMs: millis(r.UniqueWindow),
		ConcurrencyKey: r.ConcurrencyKey, ConcurrencyLimit: r.ConcurrencyLimit, DependsOn: r.DependsOn,
		WhenDependencyFails: r.WhenDependencyFails, ParentID: r.ParentID, RunID: r.RunID, RunKey: r.RunKey,
		Tenant: r.Tenant, Workspace: r.Workspace, AssetID: r.AssetID, PartitionKey: r.PartitionKey,
		Traceparent: r.Traceparent, Tags: r.Tags,
	}
	for _, each := range []struct {
		name string
		from any
		to   *json.RawMessage
	}{{"payload", r.Payload, &job.Payload}, {"resources", r.Resources, &job.Resources}} {
		if each.from == nil {
			continue
		}
		text, err := encode(each.from)
		if err != nil {
			return nil, fmt.Errorf("holdfast: the %s of job %q is not JSON: %w", each.name, r.Kind, err)
		}
		*each.to = text
	}
	return job, nil
}

func millis(span time.Duration) int64 {
	return int64((span + time.Millisecond - 1) / time.Millisecond)
}

func given(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

// Enqueued is what became of one job of an enqueue.
type Enqueued struct {
	// ID is that of the job; of a duplicate, that of the job that holds the unique key.
	ID        string `json:"id"`
	Duplicate bool   `json:"duplicate"`
}

// Failure is why an attempt failed, or a job.
type Failure struct {
	Category   Category `json:"category"`
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	Retryable  bool     `json:"retryable"`
	StackTrace string   `json:"stackTrace"`
	// Cause is the failure of the last attempt, with the code RETRIES_EXHAUSTED.
	Cause *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"cause"`
}

// JobStatus is a job as the server shows it.
type JobStatus struct {
	ID              string          `json:"id"`
	Kind            string          `json:"kind"`
	Queue           string          `json:"queue"`
	State           State           `json:"state"`
	Priority        int             `json:"priority"`
	Attempt         int             `json:"attempt"`
	Failures        int             `json:"failures"`
	MaxAttempts     int             `json:"maxAttempts"`
	Crashes         int             `json:"crashes"`
	Progress        *int            `json:"progress"`
	ProgressMessage string          `json:"progressMessage"`
	WorkerID        string          `json:"workerId"`
	CreatedAt       time.Time       `json:"createdAt"`
	RunAt           time.Time       `json:"runAt"`
	StartedAt       *time.Time      `json:"startedAt"`
	FinishedAt      *time.Time      `json:"finishedAt"`
	Payload         json.RawMessage `json:"payload"`
	Result          json.RawMessage `json:"result"`
	Failure         *Failure        `json:"failure"`
	CancelReason    string          `json:"cancelReason"`
	UniqueKey       string          `json:"uniqueKey"`
	ParentID        string          `json:"parentId"`
	RunID           string          `json:"runId"`
	RunKey          string          `json:"runKey"`
	Tenant          string          `json:"tenant"`
	Tags            []string        `json:"tags"`
	WaitsFor        *OpenWait       `json:"waitsFor"`
	// Raw has every field of the answer, those included that are not known here.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole text in Raw.
func (s *JobStatus) UnmarshalJSON(text []byte) error {
	type plain JobStatus
	if err := json.Unmarshal(text, (*plain)(s)); err != nil {
		return err
	}
	s.Raw = append(json.RawMessage(nil), text...)
	return nil
}

// OpenWait is what the handler of a WAITING job waits for.
type OpenWait struct {
	ID       string     `json:"id"`
	Sort     string     `json:"sort"`
	Signal   string     `json:"signal"`
	Since    time.Time  `json:"since"`
	Until    *time.Time `json:"until"`
	Started  []string   `json:"started"`
	Question *Question  `json:"question"`
}

// Artifact is a file that a job has published.
type Artifact struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// decode reads JSON as T; null only where T has a value for it.
func decode[T any](text json.RawMessage, nullable bool) (T, error) {
	var value T
	if len(text) == 0 || string(text) == "null" {
		if nullable || hasNull(reflect.TypeFor[T]()) {
			return value, nil
		}
		return value, fmt.Errorf("it is null")
	}
	err := json.Unmarshal(text, &value)
	return value, err
}

func hasNull(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	}
	return false
}
