package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

// operation is one of a script: what a handler that waits is to do.
type operation struct {
	Op       string            `json:"op"`
	ID       string            `json:"id"`
	Ms       int64             `json:"ms"`
	Until    int               `json:"until"`
	Name     string            `json:"name"`
	WithinMs *int64            `json:"withinMs"`
	Text     string            `json:"text"`
	Kind     string            `json:"kind"`
	Payload  json.RawMessage   `json:"payload"`
	Items    []json.RawMessage `json:"items"`
	Of       []string          `json:"of"`
	Collect  bool              `json:"collect"`
}

type script struct {
	Do []operation `json:"do"`
}

type approved struct {
	Approved bool   `json:"approved"`
	By       string `json:"by"`
	Comment  string `json:"comment"`
}

// scripted runs the script of one job.
type scripted struct {
	job      *holdfast.Job[script]
	children map[string][]holdfast.Child
}

func durable(worker *holdfast.Worker) {
	holdfast.Handle(worker, "script", func(ctx context.Context, job *holdfast.Job[script]) ([]any, error) {
		note("begin", job.JobInfo)
		run := &scripted{job, map[string][]holdfast.Child{}}
		careless := false
		for _, op := range job.Payload.Do {
			careless = careless || op.Op == "careless"
		}
		results := []any{}
		for _, op := range job.Payload.Do {
			result, err := run.do(ctx, op)
			if err != nil && !(careless && errors.Is(err, holdfast.ErrSuspended)) {
				return nil, err
			}
			results = append(results, result)
		}
		return results, nil
	})
}

func (s *scripted) do(ctx context.Context, op operation) (any, error) {
	switch op.Op {
	case "step":
		return holdfast.Step(ctx, op.ID, func(context.Context) (stepResult, error) {
			note("step:"+op.ID, s.job.JobInfo)
			return stepResult{op.ID, s.job.Attempt}, nil
		})
	case "sleep":
		return nil, holdfast.Sleep(ctx, op.ID, time.Duration(op.Ms)*time.Millisecond)
	case "await":
		return await(ctx, op)
	case "approve":
		found, err := holdfast.Approve(ctx, op.ID, holdfast.Question{Text: op.Text})
		return approved{found.Approved, found.By, found.Comment}, err
	case "spawn":
		child, err := holdfast.Spawn(ctx, op.ID, holdfast.JobRequest{Kind: op.Kind, Payload: op.Payload})
		s.children[op.ID] = []holdfast.Child{child}
		return nil, err
	case "map":
		return holdfast.Map[json.RawMessage](ctx, op.ID, op.Items, func(item json.RawMessage) holdfast.JobRequest {
			return holdfast.JobRequest{Kind: "echo", Payload: item}
		})
	case "join":
		return s.join(ctx, op)
	case "pause":
		if s.job.Attempt < op.Until {
			time.Sleep(time.Duration(op.Ms) * time.Millisecond)
		}
		return nil, nil
	case "continueAs":
		return nil, holdfast.ContinueAs(ctx, op.Payload)
	case "careless":
		return nil, nil
	}
	return nil, holdfast.Configuration("NO_SUCH_OPERATION", fmt.Errorf("no operation %q", op.Op))
}

func await(ctx context.Context, op operation) (any, error) {
	signal := holdfast.ForSignal{ID: op.ID, Name: op.Name}
	if op.WithinMs != nil {
		within := time.Duration(*op.WithinMs) * time.Millisecond
		signal.Within = &within
	}
	payload, came, err := holdfast.AwaitSignal[json.RawMessage](ctx, signal)
	if err != nil || !came {
		return nil, err
	}
	return payload, nil
}

func (s *scripted) join(ctx context.Context, op operation) (any, error) {
	var all []holdfast.Child
	for _, id := range op.Of {
		all = append(all, s.children[id]...)
	}
	wait := holdfast.Join
	if op.Collect {
		wait = holdfast.Collect
	}
	ends, err := wait(ctx, op.ID, all)
	if err != nil {
		return nil, err
	}
	states := []holdfast.State{}
	for _, end := range ends {
		states = append(states, end.State)
	}
	return states, nil
}
