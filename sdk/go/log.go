package holdfast

import (
	"context"
	"log/slog"
	"strings"
	"time"
)

// LogHandler returns a handler for [log/slog] that adds what is logged with the context of a handler to the log of its job, and passes
// every record on to next, with job, kind and attempt where there is one. next may be nil.
//
//	slog.SetDefault(slog.New(holdfast.LogHandler(slog.NewTextHandler(os.Stderr, nil))))
func LogHandler(next slog.Handler) slog.Handler {
	return &logHandler{next: next}
}

// Logger returns a logger whose lines go to the log of the job whose handler was given this context; outside of handlers slog.Default().
func Logger(ctx context.Context) *slog.Logger {
	a := attemptOf(ctx)
	if a == nil {
		return slog.Default()
	}
	return slog.New(&logHandler{attempt: a})
}

// lineOptions: the server knows when a line came.
var lineOptions = &slog.HandlerOptions{ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && attr.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return attr
}}

type logHandler struct {
	next slog.Handler
	// scopes are what WithAttrs and WithGroup have added.
	scopes  []func(slog.Handler) slog.Handler
	attempt *attempt
}

func (h *logHandler) of(ctx context.Context) *attempt {
	if h.attempt != nil {
		return h.attempt
	}
	return attemptOf(ctx)
}

func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.of(ctx) != nil && level >= slog.LevelInfo || h.next != nil && h.next.Enabled(ctx, level)
}

func (h *logHandler) Handle(ctx context.Context, record slog.Record) error {
	a := h.of(ctx)
	if a != nil && record.Level >= slog.LevelInfo {
		line := record.Clone()
		line.Time = time.Time{}
		var text strings.Builder
		var to slog.Handler = slog.NewTextHandler(&text, lineOptions)
		for _, scope := range h.scopes {
			to = scope(to)
		}
		if err := to.Handle(ctx, line); err != nil {
			return err
		}
		a.addLines(text.String())
		a.worker.reporter.touch(a)
	}
	if h.next == nil || !h.next.Enabled(ctx, record.Level) {
		return nil
	}
	if a != nil {
		record = record.Clone()
		record.AddAttrs(slog.String("job", a.info.ID), slog.String("kind", a.info.Kind), slog.Int("attempt", a.info.Attempt))
	}
	return h.next.Handle(ctx, record)
}

func (h *logHandler) with(scope func(slog.Handler) slog.Handler) slog.Handler {
	made := *h
	made.scopes = append(append([]func(slog.Handler) slog.Handler(nil), h.scopes...), scope)
	if h.next != nil {
		made.next = scope(h.next)
	}
	return &made
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(func(to slog.Handler) slog.Handler { return to.WithAttrs(attrs) })
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return h.with(func(to slog.Handler) slog.Handler { return to.WithGroup(name) })
}
