package holdfast

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime/debug"
)

// kind is a kind of job and the handler that runs it.
type kind struct {
	name   string
	strict bool
	run    func(context.Context, *attempt) (any, error)
}

// HandleOption says more about a handler.
type HandleOption func(*kind)

// Strict stops the handler when its lease may have run out, even if nobody has said so: two executions of such a job do not overlap, at
// the price of stopping during an outage.
func Strict() HandleOption { return func(k *kind) { k.strict = true } }

var word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,99}$`)

// Handle registers the handler of a kind. The payload is read as a P; one that does not fit, or whose method Validate() error finds
// fault with it, fails the job with VALIDATION, and it is not tried again. What the handler returns is the result, up to 1 MiB of JSON.
// An error fails the attempt, and so does a panic. It panics when the kind is not a name or has a handler already, or when the worker
// has been started.
//
// The context is done when the handler should stop, and [context.Cause] says why. Whatever error it returns after that counts as the
// consequence; one that returns a result all the same has succeeded.
func Handle[P, R any](
	w *Worker, name string, handler func(ctx context.Context, job *Job[P]) (R, error), options ...HandleOption,
) {
	made := &kind{name: name}
	made.run = func(ctx context.Context, a *attempt) (any, error) {
		payload, err := decode[P](a.payload, true)
		if err == nil {
			err = validate(&payload)
		}
		if err != nil {
			return nil, DataQuality("VALIDATION", fmt.Errorf("the payload does not fit %q: %w", name, err))
		}
		return handler(ctx, &Job[P]{a.info, payload})
	}
	for _, option := range options {
		option(made)
	}
	w.register(made)
}

func validate(payload any) error {
	if checked, ok := payload.(interface{ Validate() error }); ok {
		return checked.Validate()
	}
	return nil
}

func (w *Worker) register(made *kind) {
	w.lock.Lock()
	defer w.lock.Unlock()
	switch {
	case !word.MatchString(made.name):
		panic(fmt.Sprintf("holdfast: kind %q: use up to 100 letters, digits and _ . : / -", made.name))
	case w.kinds[made.name] != nil:
		panic(fmt.Sprintf("holdfast: kind %q has a handler already: give each kind one", made.name))
	case w.state != isNew:
		panic("holdfast: register handlers before the worker is started")
	}
	if w.kinds == nil {
		w.kinds = map[string]*kind{}
	}
	w.kinds[made.name] = made
}

// outcomeOf calls the handler of an attempt, from its first line, and again from there when an operator wants an earlier step.
func (w *Worker) outcomeOf(a *attempt) outcome {
	made := w.kinds[a.info.Kind]
	if made == nil {
		return w.leaveForOthers(a)
	}
	if held, err := insist(a.ctx, func() (bool, error) { return a.source.started(a.ctx, a) }); err != nil {
		if stopped := a.stopReason(); stopped != nil {
			return ofStop(stopped)
		}
		return ofError(err, nil)
	} else if !held {
		return outcome{word: lost}
	}
	a.begins()
	for {
		result, err := called(made, a)
		a.lock.Lock()
		left, next, stopped := a.left, a.next, a.stopped
		if left == calledAgain {
			a.left = notLeft
		}
		a.lock.Unlock()
		switch {
		case left == suspended:
			return outcome{word: waiting}
		case left == continued:
			return ofNext(next, stopped)
		case left == calledAgain && stopped == nil:
			a.steps.calledAgain()
			continue
		case left == calledAgain:
			return ofStop(stopped)
		case err != nil:
			return ofError(err, stopped)
		}
		return ofResult(result, stopped)
	}
}

// called: whatever a handler panics with fails its own job and no other.
func called(made *kind, a *attempt) (result any, err error) {
	defer func() {
		if value := recover(); value != nil {
			result, err = nil, &panicError{value, string(debug.Stack())}
		}
	}()
	return made.run(a.ctx, a)
}

// Progress says how far the handler is: from 0 to 100, with a message for people. It is cheap to call often, because the last one is
// sent about twice a second. Outside of handlers it does nothing.
func Progress(ctx context.Context, percent int, message string) {
	a := attemptOf(ctx)
	if a == nil || a.check() != nil {
		return
	}
	a.steps.announceBeside()
	said := &progressReport{max(0, min(100, percent)), excerpt(storable(message), messageChars)}
	a.lock.Lock()
	a.progress = said
	a.lock.Unlock()
	a.worker.reporter.touch(a)
}

// Log adds lines to the log of the job. They are sent about twice a second, and before the attempt ends. Outside of handlers it does
// nothing. See [Logger] for log/slog.
func Log(ctx context.Context, text string) {
	if a := attemptOf(ctx); a != nil {
		a.addLines(text)
		a.worker.reporter.touch(a)
	}
}

// Event adds an entry to the timeline of the job, and returns once it is durable. After an outage it may be there twice.
func Event(ctx context.Context, kind string, data any) error {
	a, err := inHandler(ctx, "Event")
	if err != nil {
		return err
	}
	if data == nil {
		data = struct{}{}
	}
	text, err := encode(data)
	if err != nil {
		return fmt.Errorf("holdfast: the data of event %q is not JSON: %w", kind, err)
	}
	a.steps.announce()
	return a.write(report{event: &eventReport{kind, json.RawMessage(text)}})
}

const artifactBytes = 64 << 20

// Publish sends a file of at most 64 MiB, and returns once it is an artifact of the job. A later one of the same name takes its place.
func Publish(ctx context.Context, name string, content []byte) (Artifact, error) {
	a, err := inHandler(ctx, "Publish")
	if err != nil {
		return Artifact{}, err
	}
	if len(content) > artifactBytes {
		return Artifact{}, fmt.Errorf(
			"holdfast: artifact %q has %d bytes, over 64 MiB: store it elsewhere and return a reference", name, len(content))
	}
	if content == nil {
		content = []byte{}
	}
	published, err := insist(a.ctx, func() (*Artifact, error) { return a.source.publish(a.ctx, a, name, content) })
	switch {
	case err != nil:
		return Artifact{}, refusedForGood(err)
	case published == nil:
		return Artifact{}, a.lost("the server refused a report")
	}
	return *published, nil
}
