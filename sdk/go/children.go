package holdfast

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

const mostStarted = 100_000

// Child is a job that a handler has started, to wait for.
type Child struct {
	ID string
	// StartedAs is the id under which it was started.
	StartedAs string
}

// ChildEnd is how a job has ended that another one has started.
type ChildEnd struct {
	ID    string `json:"job"`
	State State  `json:"state"`
	// Result is that of one that has succeeded, if it has any; Failure that of one that has failed.
	Result  json.RawMessage `json:"result"`
	Failure *Failure        `json:"failure"`
}

// childrenStart is a start of jobs.
type childrenStart struct {
	id    string
	index int
	// time is how often jobs were started under the id, this time included.
	time int
	jobs []*sentJob
}

func (s *childrenStart) ids(parent string) ([]string, error) {
	from, err := parseID(parent)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(s.jobs))
	for place := range ids {
		ids[place] = childID(from, s.id, s.time, place)
	}
	return ids, nil
}

// Spawn starts a job, once, whatever crashes, and does not wait for it. It has the tenant, the workspace and the run of this job, and its
// queue and priority unless the request says otherwise. It may have neither a unique key nor dependencies.
func Spawn(ctx context.Context, id string, job JobRequest) (Child, error) {
	children, err := SpawnAll(ctx, id, []JobRequest{job})
	if err != nil {
		return Child{}, err
	}
	return children[0], nil
}

// SpawnAll starts several. What is started under an id must follow from the payload and from steps.
func SpawnAll(ctx context.Context, id string, jobs []JobRequest) ([]Child, error) {
	a, err := inWaitingHandler(ctx, "'"+id+"'")
	if err != nil {
		return nil, err
	}
	start, err := newStart(id, jobs)
	if err != nil {
		return nil, err
	}
	status, command, err := a.steps.ask(id)
	if err != nil {
		return nil, err
	}
	if status.isDone() && command == nil {
		if err := mustBeAsMany(status, len(jobs)); err != nil {
			return nil, err
		}
		start.time = status.Attempt
		starter := a.starterOf(status)
		ids, err := start.ids(starter)
		if err != nil {
			return nil, err
		}
		return a.steps.began(id, ids, starter == a.key.id), nil
	}
	if status, err = a.steps.redo(status, command); err != nil {
		return nil, err
	}
	start.index, start.time = status.Index, status.Attempt+1
	ids, err := insist(a.ctx, func() ([]string, error) { return a.source.startChildren(a.ctx, a, start) })
	if err != nil {
		if left := a.check(); left != nil {
			return nil, left
		}
		return nil, refusedForGood(err)
	}
	if ids == nil {
		return nil, a.lost("the server refused a start of jobs")
	}
	if len(ids) != len(jobs) {
		return nil, fmt.Errorf("holdfast: the server has started %d of %d jobs", len(ids), len(jobs))
	}
	count := len(jobs)
	a.steps.keep(&stepStatus{
		ID: id, Index: start.index, State: stepDone, Attempt: start.time, WaitEnd: &waitEnd{Sort: sortChildren, Outcome: endStarted, Jobs: &count},
	})
	return a.steps.began(id, ids, true), nil
}

// newStart: all are valid before any is started.
func newStart(id string, jobs []JobRequest) (*childrenStart, error) {
	if len(jobs) > mostStarted {
		return nil, Fail(CategoryUserCode, "BAD_LIMIT", fmt.Errorf("'%s' would start %d jobs: %d at most", id, len(jobs), mostStarted), Retryable(false))
	}
	start := &childrenStart{id: id, jobs: make([]*sentJob, len(jobs))}
	for i, job := range jobs {
		if job.UniqueKey != "" || len(job.DependsOn) > 0 {
			return nil, Fail(CategoryUserCode, "BAD_UNIQUE", fmt.Errorf(
				"job %d of '%s': a job that another one starts has neither a unique key nor dependencies", i, id), Retryable(false))
		}
		sent, err := job.sent()
		if err != nil {
			return nil, err
		}
		sent.ID = "" // it follows from this job
		start.jobs[i] = sent
	}
	return start, nil
}

// starterOf is the job that has started these: this one, unless the start was copied when this one was made, as a fork.
func (a *attempt) starterOf(status *stepStatus) string {
	if job := status.WaitEnd.Job; job != "" {
		return job
	}
	return a.key.id
}

func mustBeAsMany(status *stepStatus, jobs int) error {
	end := status.WaitEnd
	if end == nil || end.Outcome != endStarted {
		return fmt.Errorf("holdfast: '%s' was another step or wait before: give it another id", status.ID)
	}
	if end.Jobs == nil || *end.Jobs != jobs {
		before := 0
		if end.Jobs != nil {
			before = *end.Jobs
		}
		return fmt.Errorf(
			"holdfast: '%s' has started %d jobs in an attempt before, and would start %d now: what it starts must follow from the payload and from steps",
			status.ID, before, jobs)
	}
	return nil
}

// began: a wait for any other job might never end.
func (s *steps) began(id string, ids []string, own bool) []Child {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.children == nil {
		s.children = map[Child]bool{}
	}
	children := make([]Child, len(ids))
	for i, each := range ids {
		children[i] = Child{each, id}
		s.children[children[i]] = own
	}
	return children
}

func (s *steps) checkStarted(children []Child) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, child := range children {
		if _, started := s.children[child]; !started {
			return fmt.Errorf(
				"holdfast: job %s was not started as '%s' by this one: wait for what Spawn has returned", child.ID, child.StartedAs)
		}
	}
	return nil
}

// own are those that this job has started, and may wait for.
func (s *steps) own(children []Child) []Child {
	s.lock.Lock()
	defer s.lock.Unlock()
	var own []Child
	for _, child := range children {
		if s.children[child] {
			own = append(own, child)
		}
	}
	return own
}

// passed is a wait for which there is nothing to wait any more. It returns how it has ended for the job that this one is a fork of, and
// nil if that has not waited for it.
func (a *attempt) passed(id string) (*waitEnd, error) {
	status, command, err := a.steps.ask(id)
	if err != nil {
		return nil, err
	}
	if status.isDone() && command == nil {
		answer, err := endedBefore(&wait{ID: id, Sort: sortChildren}, status)
		if err != nil {
			return nil, err
		}
		return answer.End, nil
	}
	_, err = a.steps.redo(status, command)
	return nil, err
}

// Join waits until these have ended, and returns how, in their order. When one fails or is cancelled it cancels the others, and returns a
// [ChildFailedError], which fails this job for good unless the handler takes it.
func Join(ctx context.Context, id string, children []Child) ([]ChildEnd, error) {
	ends, err := join(ctx, id, children, true)
	if err != nil {
		return nil, err
	}
	// One that has failed says more than those that were cancelled because of it.
	for _, state := range []State{StateFailed, StateCancelled} {
		for _, end := range ends {
			if end.State == state {
				return ends, &ChildFailedError{end}
			}
		}
	}
	return ends, nil
}

// Collect waits until all of these have ended, however they do.
func Collect(ctx context.Context, id string, children []Child) ([]ChildEnd, error) {
	return join(ctx, id, children, false)
}

func join(ctx context.Context, id string, children []Child, failFast bool) ([]ChildEnd, error) {
	a, err := inWaitingHandler(ctx, "'"+id+"'")
	if err != nil {
		return nil, err
	}
	if err := a.steps.checkStarted(children); err != nil || len(children) == 0 {
		return nil, err
	}
	if own := a.steps.own(children); len(own) > 0 {
		_, err = waitFor(ctx, &wait{ID: id, Sort: sortChildren, Started: startedAs(own), FailFast: failFast})
	} else {
		_, err = a.passed(id)
	}
	if err != nil {
		return nil, err
	}
	return a.ends(children)
}

// Any waits until one of these has ended, and returns the one that did so first.
func Any(ctx context.Context, id string, children []Child) (ChildEnd, error) {
	a, err := inWaitingHandler(ctx, "'"+id+"'")
	if err != nil {
		return ChildEnd{}, err
	}
	if err := a.steps.checkStarted(children); err != nil {
		return ChildEnd{}, err
	}
	first, err := a.first(ctx, id, children)
	if err != nil {
		return ChildEnd{}, err
	}
	at := slices.IndexFunc(children, func(child Child) bool { return child.ID == first })
	if at < 0 {
		return ChildEnd{}, fmt.Errorf(
			"holdfast: the first that has ended for '%s' is job %s, which is none of these: wait for all that was started with them", id, first)
	}
	ends, err := a.ends(children[at : at+1])
	if err != nil {
		return ChildEnd{}, err
	}
	return ends[0], nil
}

// first is the job that has ended first. In a fork that is one of those that had ended before, in the order given.
func (a *attempt) first(ctx context.Context, id string, children []Child) (string, error) {
	own := a.steps.own(children)
	if len(own) == len(children) {
		answer, err := waitFor(ctx, &wait{ID: id, Sort: sortChildren, Started: startedAs(children), Any: true})
		if err != nil {
			return "", err
		}
		return answer.End.Job, nil
	}
	end, err := a.passed(id)
	if err != nil {
		return "", err
	}
	if end != nil && end.Job != "" {
		return end.Job, nil
	}
	at := slices.IndexFunc(children, func(child Child) bool { return !slices.Contains(own, child) })
	return children[at].ID, nil
}

// Map starts a job for each item, waits for all as [Join] does, under id:join, and returns their results.
func Map[R, I any](ctx context.Context, id string, items []I, job func(item I) JobRequest) ([]R, error) {
	requests := make([]JobRequest, len(items))
	for i, item := range items {
		requests[i] = job(item)
	}
	children, err := SpawnAll(ctx, id, requests)
	if err != nil {
		return nil, err
	}
	ends, err := Join(ctx, id+":join", children)
	if err != nil {
		return nil, err
	}
	results := make([]R, len(ends))
	for i, end := range ends {
		if results[i], err = decode[R](end.Result, false); err != nil {
			return nil, doesNotFit(fmt.Sprintf("the result of job %s, started by '%s',", end.ID, id), err)
		}
	}
	return results, nil
}

func startedAs(children []Child) []string {
	var ids []string
	for _, child := range children {
		if !slices.Contains(ids, child.StartedAs) {
			ids = append(ids, child.StartedAs)
		}
	}
	return ids
}

// ends are in the order asked.
func (a *attempt) ends(children []Child) ([]ChildEnd, error) {
	found := make([]ChildEnd, 0, len(children))
	for part := range slices.Chunk(children, mostChildren) {
		ids := make([]string, len(part))
		for i, child := range part {
			ids[i] = child.ID
		}
		ends, err := insist(a.ctx, func() ([]ChildEnd, error) { return a.source.childrenEnds(a.ctx, a, ids) })
		if err != nil {
			if left := a.check(); left != nil {
				return nil, left
			}
			return nil, refusedForGood(err)
		}
		if len(ends) != len(ids) {
			return nil, doesNotFit("how the jobs have ended that were started before",
				fmt.Errorf("%d of %d have been deleted", len(ids)-len(ends), len(ids)))
		}
		found = append(found, ends...)
	}
	return found, nil
}
