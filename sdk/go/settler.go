package holdfast

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ending is how an attempt ended, to be told to the server.
type ending struct {
	attempt *attempt
	outcome outcome
}

// settle tells the server ends until they are answered; twice does no harm.
func (w *Worker) settle(ends []*ending) {
	bySource := map[source][]*ending{}
	for _, end := range ends {
		bySource[end.attempt.source] = append(bySource[end.attempt.source], end)
	}
	for from, some := range bySource {
		acks, err := w.insistOnEnds(from, some)
		if err != nil {
			return // the worker has stopped without an answer
		}
		for i, end := range some {
			w.settled(end, acks[i])
		}
	}
}

func (w *Worker) insistOnEnds(from source, ends []*ending) ([]bool, error) {
	pauses := newBackoff()
	var told time.Time
	for {
		acks, err := from.settle(w.calls, ends)
		if err == nil && len(acks) != len(ends) {
			err = fmt.Errorf("the server answered %d of %d", len(acks), len(ends))
		}
		if err == nil {
			return acks, nil
		}
		if time.Since(told) > 30*time.Second && w.calls.Err() == nil {
			told = time.Now()
			w.log.Warn("ends of attempts are sent again", "attempts", len(ends), "error", err)
		}
		if !sleep(w.calls, pauses.pause(err)) {
			return nil, context.Cause(w.calls)
		}
	}
}

func (w *Worker) settled(end *ending, taken bool) {
	w.keeper.remove(end.attempt)
	if taken {
		w.counts.settled.Add(1)
		return
	}
	w.counts.refused.Add(1)
	w.log.Warn("the end of an attempt came too late and was refused", "job", end.attempt.info.String(), "end", end.outcome.word)
}

// pendingReport waits for its answer.
type pendingReport struct {
	report
	answered chan error
}

// sendReports answers each. One that the server refuses must not cost the others of its batch.
func (w *Worker) sendReports(pending []*pendingReport) {
	bySource := map[source][]*pendingReport{}
	for _, one := range pending {
		bySource[one.attempt.source] = append(bySource[one.attempt.source], one)
	}
	for from, some := range bySource {
		w.sendTo(from, some)
	}
}

func (w *Worker) sendTo(from source, some []*pendingReport) {
	reports := make([]report, len(some))
	for i, one := range some {
		reports[i] = one.report
	}
	acks, err := from.report(w.calls, reports)
	if err != nil && len(some) > 1 && !isTemporary(err) && !isKeyRefused(err) {
		for i := range some {
			w.sendTo(from, some[i:i+1])
		}
		return
	}
	for i, one := range some {
		switch {
		case err != nil:
			one.answered <- err
		case !acks[i]:
			one.answered <- errNotHeld
		default:
			one.answered <- nil
		}
	}
}

var errNotHeld = errors.New("the attempt no longer holds its job")

// write returns once the report is durable. It is repeated through outages for as long as the handler need not stop.
func (a *attempt) write(one report) error {
	one.attempt = a
	_, err := insist(a.ctx, func() (struct{}, error) {
		pending := &pendingReport{one, make(chan error, 1)}
		a.worker.reports.add(pending)
		stopped := a.ctx.Done()
		var late <-chan time.Time
		for {
			select {
			case err := <-pending.answered:
				return struct{}{}, err
			case <-stopped: // what is on its way may be answered soon
				stopped, late = nil, time.After(afterStop)
			case <-late:
				return struct{}{}, context.Cause(a.ctx)
			case <-a.worker.calls.Done():
				return struct{}{}, context.Cause(a.worker.calls)
			}
		}
	})
	if errors.Is(err, errNotHeld) {
		return a.lost("the server refused a report")
	}
	if err != nil {
		if left := a.check(); left != nil {
			return left
		}
	}
	return refusedForGood(err)
}
