package holdfast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Why a handler's context is done, and why it should be left. [context.Cause] has one of the first five, in a [StopError]
// that has the reason as well.
var (
	// ErrCancelled is the cause when somebody has cancelled the job.
	ErrCancelled = errors.New("the job was cancelled")
	// ErrLeaseLost is the cause when the attempt no longer holds its job. Nothing that it reports is taken.
	ErrLeaseLost = errors.New("the lease of the job is lost")
	// ErrAttemptTimeout is the cause when the attempt has taken longer than the job allows.
	ErrAttemptTimeout = errors.New("the attempt took too long")
	// ErrDeadlineExceeded is the cause when the job's deadline has passed.
	ErrDeadlineExceeded = errors.New("the deadline of the job has passed")
	// ErrShutdown is the cause when the worker shuts down.
	ErrShutdown = errors.New("the worker shuts down")

	// ErrSuspended is returned by waits: the job waits, and a later attempt calls the handler again. Return it. Whatever is asked
	// for afterwards returns it again, and what the handler returns in place of it is passed over. It is also returned where an
	// operator wants an earlier step done again, and by [ContinueAs].
	ErrSuspended = errors.New("the job is suspended: leave the handler")

	// ErrNotFound is what an [Error] is, by [errors.Is], when there is no such job, or it is another tenant's.
	ErrNotFound = errors.New("not found")
)

// StopError is the cause of a handler's context: what was said by whoever stopped it. It is one of [ErrCancelled], [ErrLeaseLost],
// [ErrAttemptTimeout], [ErrDeadlineExceeded] and [ErrShutdown] by [errors.Is].
type StopError struct {
	Err    error
	Reason string
}

func (e *StopError) Error() string { return "holdfast: " + e.Err.Error() + ": " + e.Reason }

// Unwrap returns why, without the reason that was given.
func (e *StopError) Unwrap() error { return e.Err }

// Is also matches [context.Canceled], so that code which asks for that sees that it should stop.
func (e *StopError) Is(target error) bool { return target == context.Canceled }

// Category says what kind of failure it was, and unless the failure says so itself, whether it is tried again.
type Category string

// The categories of failures.
const (
	CategoryUserCode       Category = "USER_CODE"
	CategoryDataQuality    Category = "DATA_QUALITY"
	CategoryInfrastructure Category = "INFRASTRUCTURE"
	CategoryConfiguration  Category = "CONFIGURATION"
	CategoryTimeout        Category = "TIMEOUT"
	CategoryCancelled      Category = "CANCELLED"
)

// Retryable says whether failures of this category are tried again unless they say otherwise.
func (c Category) Retryable() bool {
	return c == CategoryUserCode || c == CategoryInfrastructure || c == CategoryTimeout
}

// neverRetried are codes of failures that another attempt cannot help, whatever their category.
var neverRetried = []string{
	"INPUT_TOO_LARGE",
	"VALIDATION",
	"NO_HANDLER",
	"DEADLINE_EXCEEDED",
	"CANCEL_TIMEOUT",
	"TOXIC_JOB",
	"NOT_DECIDED",
	"NOT_SIGNALLED",
	"REJECTED",
}

// FailedError fails the attempt with a category and a code of the handler's own. [Fail] makes one.
type FailedError struct {
	Category  Category
	Code      string
	Err       error
	Retryable bool
	// RetryAfter is how long the job waits before its next attempt; nil leaves it to the server.
	RetryAfter *time.Duration
}

func (e *FailedError) Error() string { return e.Err.Error() }

// Unwrap returns what has failed.
func (e *FailedError) Unwrap() error { return e.Err }

// FailOption says more about a failure.
type FailOption func(*FailedError)

// Retryable overrules what category and code say.
func Retryable(retryable bool) FailOption {
	return func(e *FailedError) { e.Retryable = retryable }
}

// RetryAfter is how long the job waits before its next attempt.
func RetryAfter(delay time.Duration) FailOption {
	return func(e *FailedError) { e.RetryAfter = &delay }
}

// Fail returns an error that fails the attempt as the handler says: the code is for programs, the text of err for people.
func Fail(category Category, code string, err error, options ...FailOption) error {
	if err == nil {
		err = errors.New(code)
	}
	failed := &FailedError{
		Category:  category,
		Code:      code,
		Err:       err,
		Retryable: category.Retryable() && !slices.Contains(neverRetried, code),
	}
	for _, option := range options {
		option(failed)
	}
	return failed
}

// DataQuality fails the attempt because the input is not valid. It is not tried again.
func DataQuality(code string, err error, options ...FailOption) error {
	return Fail(CategoryDataQuality, code, err, options...)
}

// Infrastructure fails the attempt because a service, memory or disk has failed. It is tried again.
func Infrastructure(code string, err error, options ...FailOption) error {
	return Fail(CategoryInfrastructure, code, err, options...)
}

// Configuration fails the attempt because a setting is wrong. It is not tried again.
func Configuration(code string, err error, options ...FailOption) error {
	return Fail(CategoryConfiguration, code, err, options...)
}

// SnoozeError puts the job off without using its budget. [Snooze] makes one.
type SnoozeError struct{ Delay time.Duration }

func (e *SnoozeError) Error() string { return fmt.Sprintf("holdfast: snoozed for %s", e.Delay) }

// Snooze returns an error that runs the job again later, without using its budget: return holdfast.Snooze(time.Minute).
func Snooze(delay time.Duration) error { return &SnoozeError{max(0, delay)} }

// Error is a request that the server has refused or could not take, or that got no answer.
type Error struct {
	// Status is that of the HTTP answer; 0 when there was none.
	Status int
	// Code is the error's name for programs, such as job_already_terminal; see docs/api.md.
	Code string
	// Message is a sentence for people.
	Message string
	// State is that of the job, where the refusal is about that.
	State State
	// Err is why there was no answer.
	Err error

	retryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Status == 0 {
		return "holdfast: " + e.Message
	}
	return fmt.Sprintf("holdfast: %s (%d %s)", e.Message, e.Status, e.Code)
}

// Unwrap returns why there was no answer.
func (e *Error) Unwrap() error { return e.Err }

// Is matches [ErrNotFound].
func (e *Error) Is(target error) bool { return target == ErrNotFound && e.Status == 404 }

// Temporary says whether the same request may be taken later: the server did not answer, or asked for a pause.
func (e *Error) Temporary() bool {
	switch {
	case e.Status == 0, e.Status >= 500, e.Status/100 == 3:
		return true
	case e.Status == 408, e.Status == 425, e.Status == 429:
		return true
	case e.Status == 409 && e.Code == "unique_key_held":
		return true
	}
	// A server that stops may answer so to a request that was whole.
	return e.Status == 400 && e.Code == "bad_request"
}

func isTemporary(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Temporary()
}

func isKeyRefused(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && (refused.Status == 401 || refused.Status == 403)
}

// JobFailedError is returned to who waits for the result of a job that has not succeeded.
type JobFailedError struct {
	ID      string
	State   State
	Failure *Failure
	// Reason is that of the cancel.
	Reason string
}

func (e *JobFailedError) Error() string {
	if e.Failure != nil {
		return fmt.Sprintf("holdfast: job %s is %s: %s: %s", e.ID, e.State, e.Failure.Code, e.Failure.Message)
	}
	return fmt.Sprintf("holdfast: job %s is %s: %s", e.ID, e.State, e.Reason)
}

// ChildFailedError is returned by a wait for jobs when one of them has not succeeded. A handler that returns it fails for good:
// another attempt would find the same.
type ChildFailedError struct{ Child ChildEnd }

func (e *ChildFailedError) Error() string {
	text := fmt.Sprintf("job %s, which this one has started, ended %s", e.Child.ID, e.Child.State)
	if e.Child.Failure != nil {
		text += ": " + e.Child.Failure.Message
	}
	return text
}

// doesNotFit: what an earlier attempt, a signal or another job has left is not of the type that the handler asks for. A later attempt
// would read the same.
func doesNotFit(what string, why error) error {
	return DataQuality("VALIDATION", fmt.Errorf("%s is not what the handler asks for: %w", what, why))
}

// refusedForGood: the server would refuse the same from another attempt.
func refusedForGood(err error) error {
	var refused *Error
	if !errors.As(err, &refused) || refused.Temporary() || refused.Status == 401 || refused.Status == 403 {
		return err
	}
	return Fail(CategoryUserCode, strings.ToUpper(refused.Code), err, Retryable(false))
}
