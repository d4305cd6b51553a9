package holdfast

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	reportInterval = 500 * time.Millisecond
	// reportTimeout is how long ends wait for reports that the server does not answer.
	reportTimeout = 30 * time.Second
)

// reporter sends progress and log lines about twice a second, and before the end of the attempt.
type reporter struct {
	worker *Worker
	lock   sync.Mutex
	dirty  map[*attempt]bool
	ending []*ending
	away   time.Time
	wake   chan struct{}
	closed chan struct{}
	done   chan struct{}
}

func newReporter(worker *Worker) *reporter {
	return &reporter{
		worker: worker,
		dirty:  map[*attempt]bool{},
		wake:   make(chan struct{}, 1),
		closed: make(chan struct{}),
		done:   make(chan struct{}),
	}
}

func (r *reporter) touch(a *attempt) {
	r.lock.Lock()
	r.dirty[a] = true
	r.lock.Unlock()
}

// finish settles the attempt once its reports are sent: after the end they would be refused.
func (r *reporter) finish(end *ending) {
	r.lock.Lock()
	r.dirty[end.attempt] = true
	r.ending = append(r.ending, end)
	r.lock.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *reporter) loop() {
	defer close(r.done)
	tick := time.NewTicker(reportInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-r.wake:
		case <-r.closed:
			r.round(true)
			return
		}
		r.round(false)
	}
}

func (r *reporter) close(timeout time.Duration) {
	close(r.closed)
	select {
	case <-r.done:
	case <-time.After(timeout):
	}
}

func (r *reporter) round(last bool) {
	r.lock.Lock()
	dirty, ending := r.dirty, r.ending
	r.dirty, r.ending = map[*attempt]bool{}, nil
	r.lock.Unlock()
	if len(dirty) == 0 && len(ending) == 0 {
		return
	}
	bySource := map[source][]*attempt{}
	for a := range dirty {
		bySource[a.source] = append(bySource[a.source], a)
	}
	var away error
	unsent := map[source]bool{}
	for from, some := range bySource {
		err := r.send(r.worker.calls, from, some)
		switch {
		case err != nil && isTemporary(err):
			away = err
			unsent[from] = true
			for _, a := range some {
				r.touch(a)
			}
		case err != nil:
			r.worker.log.Warn("progress or log lines are refused", "error", err)
		}
	}
	r.settle(ending, unsent, away, last)
}

func (r *reporter) settle(ending []*ending, unsent map[source]bool, away error, last bool) {
	if away == nil {
		r.away = time.Time{}
	} else if r.away.IsZero() {
		r.away = time.Now()
		r.worker.log.Info("progress and log lines are sent later", "error", away)
	}
	patient := !last && time.Since(r.away) < reportTimeout
	for _, end := range ending {
		if unsent[end.attempt.source] && patient {
			r.lock.Lock()
			r.ending = append(r.ending, end)
			r.lock.Unlock()
			continue
		}
		r.worker.ends.add(end)
	}
}

// send takes what has gathered, and puts aside only what was sent.
func (r *reporter) send(ctx context.Context, from source, attempts []*attempt) error {
	var reports []report
	var sent []func()
	for _, a := range attempts {
		a.reporting.Lock()
		defer a.reporting.Unlock()
		a.lock.Lock()
		progress, lines, dropped := a.progress, a.lines, a.dropped
		a.lock.Unlock()
		if progress != nil {
			reports = append(reports, report{attempt: a, progress: progress})
			sent = append(sent, func() { a.sentProgress(progress) })
		}
		if len(lines) > 0 {
			reports = append(reports, report{attempt: a, log: &logReport{lines, a.lineNumber, a.pieceNumber}})
			sent = append(sent, func() { a.sentLines(lines, dropped) })
		}
	}
	if len(reports) == 0 {
		return nil
	}
	_, err := from.report(ctx, reports)
	if err != nil && !isTemporary(err) && len(reports) > 1 {
		// What one of them may not say must not cost what the others say.
		var errs []error
		for i := range reports {
			if _, err := from.report(ctx, reports[i:i+1]); err != nil {
				errs = append(errs, err)
			}
			sent[i]()
		}
		return errors.Join(errs...)
	}
	if err == nil || !isTemporary(err) {
		for _, each := range sent {
			each()
		}
	}
	return err
}

func (a *attempt) sentProgress(sent *progressReport) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.progress == sent {
		a.progress = nil
	}
}

// sentLines: meanwhile lines may have been added, and the oldest dropped.
func (a *attempt) sentLines(sent []string, droppedBefore int) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.lineNumber += len(sent)
	a.pieceNumber += len(pieces(sent))
	if left := len(sent) - (a.dropped - droppedBefore); left > 0 {
		a.lines = append([]string(nil), a.lines[left:]...)
	}
}

// flush sends what the handler has reported so far, before its attempt ends by a wait.
func (r *reporter) flush(a *attempt) error {
	_, err := insist(a.ctx, func() (struct{}, error) {
		return struct{}{}, r.send(a.ctx, a.source, []*attempt{a})
	})
	if err != nil && a.check() == nil {
		r.worker.log.Warn("progress or log lines are refused", "job", a.info.String(), "error", err)
		return nil
	}
	return a.check()
}
