package holdfast

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	resultBytes = 1 << 20
	stackChars  = 32_000
)

// outcome is how an attempt ended. Lost and waiting ones are not settled.
type outcome struct {
	word    string
	output  json.RawMessage
	failure *Failure
	delay   *time.Duration
}

const (
	succeeded = "SUCCEEDED"
	failed    = "FAILED"
	cancelled = "CANCELLED"
	snoozed   = "SNOOZED"
	released  = "RELEASED"
	goesOn    = "CONTINUED"
	lost      = "LOST"
	waiting   = "SUSPENDED"
)

func (o outcome) isSettled() bool { return o.word != lost && o.word != waiting }

func failure(category Category, code, message string, retryable bool) outcome {
	return outcome{word: failed, failure: &Failure{
		Category: category, Code: excerpt(storable(code), 100), Message: excerpt(storable(message), messageChars), Retryable: retryable,
	}}
}

// ofResult: finished work counts, even if the handler was asked to stop meanwhile.
func ofResult(result any, stopped *StopError) outcome {
	if stopped != nil && stopped.Err == ErrLeaseLost {
		return outcome{word: lost}
	}
	output, err := encode(result)
	if err != nil {
		return failure(CategoryUserCode, "RESULT_NOT_JSON", "the handler's result is not JSON: "+err.Error(), false)
	}
	if len(output) > resultBytes {
		message := fmt.Sprintf("a result of %d bytes is over 1 MiB: store it and return a reference", len(output))
		return failure(CategoryUserCode, "RESULT_TOO_LARGE", message, false)
	}
	return outcome{word: succeeded, output: output}
}

// ofNext: a loop without end ends here, where it is cancelled and at its deadline.
func ofNext(payload json.RawMessage, stopped *StopError) outcome {
	if stopped != nil && stopped.Err != ErrShutdown && stopped.Err != ErrAttemptTimeout {
		return ofStop(stopped)
	}
	return outcome{word: goesOn, output: payload}
}

// ofStop: what leaves a handler that was told to stop is a consequence of the stop.
func ofStop(stopped *StopError) outcome {
	switch stopped.Err {
	case ErrLeaseLost:
		return outcome{word: lost}
	case ErrCancelled:
		return outcome{word: cancelled}
	case ErrShutdown:
		return outcome{word: released}
	case ErrAttemptTimeout:
		return failure(CategoryTimeout, "ATTEMPT_TIMEOUT", stopped.Reason, true)
	}
	return failure(CategoryTimeout, "DEADLINE_EXCEEDED", stopped.Reason, false)
}

func ofError(err error, stopped *StopError) outcome {
	if stopped != nil {
		return ofStop(stopped)
	}
	var snooze *SnoozeError
	var child *ChildFailedError
	var said *FailedError
	var died *panicError
	switch {
	case errors.As(err, &snooze):
		return outcome{word: snoozed, delay: &snooze.Delay}
	case errors.As(err, &child):
		return failure(CategoryUserCode, "CHILD_FAILED", err.Error(), false)
	case errors.As(err, &said):
		end := failure(said.Category, said.Code, err.Error(), said.Retryable)
		end.delay = said.RetryAfter
		return end
	case errors.As(err, &died):
		end := failure(CategoryUserCode, "HANDLER_FAILED", died.Error(), true)
		end.failure.StackTrace = excerpt(storable(died.stack), stackChars)
		return end
	}
	return failure(CategoryUserCode, "HANDLER_FAILED", err.Error(), true)
}

// panicError is what a handler has panicked with.
type panicError struct {
	value any
	stack string
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// Unwrap returns what it has panicked with, if that is an error.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}
