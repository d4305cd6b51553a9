package holdfast

import (
	"context"
	"encoding/json"
)

// source is where attempts come from and where their ends go: one type per protocol of the server. A call that fails temporarily may
// be made again.
type source interface {
	// started returns false when the attempt is no longer to begin.
	started(ctx context.Context, a *attempt) (bool, error)
	heartbeat(ctx context.Context, attempts []*attempt) ([]beat, error)
	// commands are what is asked of attempts between heartbeats; nil where only heartbeats tell.
	commands(ctx context.Context) ([]command, error)
	settle(ctx context.Context, ends []*ending) ([]bool, error)
	report(ctx context.Context, reports []report) ([]bool, error)
	publish(ctx context.Context, a *attempt, name string, content []byte) (*Artifact, error)
	steps(ctx context.Context, a *attempt) ([]*stepStatus, error)
	suspend(ctx context.Context, a *attempt, index int, asked *wait) (*waitAnswer, error)
	// startChildren returns their ids, nil when the lease is lost. time counts how often jobs were started under the id.
	startChildren(ctx context.Context, a *attempt, start *childrenStart) ([]string, error)
	childrenEnds(ctx context.Context, a *attempt, ids []string) ([]ChildEnd, error)
}

// beat is what the server answers to a heartbeat of one attempt.
type beat struct {
	attempt *attempt
	held    bool
	cancel  *string
	control *liveControl
	whyLost string
}

// command is what somebody asks of an attempt.
type command struct {
	key     leaseKey
	cancel  *string
	control *liveControl
}

// report is one of these of a running attempt.
type report struct {
	attempt  *attempt
	progress *progressReport
	event    *eventReport
	step     *stepReport
	log      *logReport
}

type progressReport struct {
	percent int
	message string
}

type eventReport struct {
	kind string
	data json.RawMessage
}

// logReport: lines and pieces are numbered by the report that first sends them, so that a repeated one changes nothing.
type logReport struct {
	lines      []string
	firstLine  int
	firstPiece int
}

// stepReport is about one try of a step.
type stepReport struct {
	id        string
	index     int
	state     string
	attempt   int
	result    json.RawMessage
	signature string
	// again: of a step that has failed, whether this attempt of the job tries it again.
	again    bool
	recovery *recovery
	// tookMs is how long it has run, where its start was not reported.
	tookMs *int64
}

type stepStatus struct {
	ID         string          `json:"stepId"`
	Index      int             `json:"stepIndex"`
	State      string          `json:"state"`
	Attempt    int             `json:"attempt"`
	Checkpoint json.RawMessage `json:"checkpoint"`
	WaitEnd    *waitEnd        `json:"waitEnd"`
}

func (s *stepStatus) isDone() bool { return s.State == stepDone }

// what it is, for people.
func (s *stepStatus) what() string {
	switch {
	case s.WaitEnd == nil:
		return "a step"
	case s.WaitEnd.Outcome == endStarted:
		return "a start of jobs"
	}
	return "a wait of the sort " + s.WaitEnd.Sort
}

const (
	stepRunning     = "RUNNING"
	stepDone        = "DONE"
	stepFailed      = "FAILED"
	stepInterrupted = "INTERRUPTED"
)
