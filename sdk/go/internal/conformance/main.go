// Command conformance is the worker program of this library, as the conformance kit starts it. What each kind does is described in
// sdk/conformance/README.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

type span struct {
	Ms    int64  `json:"ms"`
	Later *int64 `json:"later"`
}

func (s span) of(job holdfast.JobInfo) time.Duration {
	if job.Attempt > 1 && s.Later != nil {
		return time.Duration(*s.Later) * time.Millisecond
	}
	return time.Duration(s.Ms) * time.Millisecond
}

type ended struct {
	Attempt int `json:"attempt"`
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	worker := &holdfast.Worker{
		URL:             given("URL"),
		APIKey:          given("KEY"),
		Queues:          []string{given("QUEUE")},
		Concurrency:     int(number("CONCURRENCY")),
		Lease:           time.Duration(number("LEASE_MS")) * time.Millisecond,
		ShutdownTimeout: time.Duration(number("SHUTDOWN_MS")) * time.Millisecond,
	}
	handle(worker)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if port := os.Getenv("CONFORMANCE_PUSH_PORT"); port != "" {
		return servePushes(ctx, worker, port)
	}
	fmt.Println("ready")
	return worker.Run(ctx)
}

func servePushes(ctx context.Context, worker *holdfast.Worker, port string) error {
	handler, err := worker.PushHandler(given("PUSH_SECRET"))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/tasks", handler)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 15 * time.Second}
	go func() { _ = server.Serve(listener) }()
	fmt.Println("ready")
	<-ctx.Done()
	stopping, cancel := context.WithTimeout(context.Background(), time.Duration(number("SHUTDOWN_MS"))*time.Millisecond)
	defer cancel()
	worker.Shutdown(stopping)
	return server.Close()
}

func handle(worker *holdfast.Worker) {
	holdfast.Handle(worker, "noop", func(context.Context, *holdfast.Job[json.RawMessage]) (any, error) {
		return nil, nil
	})
	holdfast.Handle(worker, "echo", func(_ context.Context, job *holdfast.Job[json.RawMessage]) (json.RawMessage, error) {
		note("begin", job.JobInfo)
		return job.Payload, nil
	})
	holdfast.Handle(worker, "sleep", sleep)
	holdfast.Handle(worker, "block", func(_ context.Context, job *holdfast.Job[span]) (ended, error) {
		note("begin", job.JobInfo)
		time.Sleep(job.Payload.of(job.JobInfo)) // as deaf as a computation, and leaves the processor to others
		note("end", job.JobInfo)
		return ended{job.Attempt}, nil
	})
	holdfast.Handle(worker, "fail", fail)
	holdfast.Handle(worker, "progress", progress)
	holdfast.Handle(worker, "large", func(_ context.Context, job *holdfast.Job[struct{ Bytes int }]) (string, error) {
		return strings.Repeat("x", job.Payload.Bytes), nil
	})
	holdfast.Handle(worker, "steps", steps)
	durable(worker)
}

func sleep(ctx context.Context, job *holdfast.Job[span]) (ended, error) {
	note("begin", job.JobInfo)
	select {
	case <-ctx.Done():
		note("stopped", job.JobInfo)
		return ended{}, context.Cause(ctx)
	case <-time.After(job.Payload.of(job.JobInfo)):
	}
	note("end", job.JobInfo)
	return ended{job.Attempt}, nil
}

type failing struct {
	Category     holdfast.Category `json:"category"`
	Code         string            `json:"code"`
	Message      string            `json:"message"`
	RetryAfterMs *int64            `json:"retryAfterMs"`
	Until        int               `json:"until"`
}

func fail(_ context.Context, job *holdfast.Job[failing]) (ended, error) {
	note("begin", job.JobInfo)
	asked := job.Payload
	if job.Attempt >= asked.Until {
		return ended{job.Attempt}, nil
	}
	var options []holdfast.FailOption
	if asked.RetryAfterMs != nil {
		options = append(options, holdfast.RetryAfter(time.Duration(*asked.RetryAfterMs)*time.Millisecond))
	}
	return ended{}, holdfast.Fail(asked.Category, asked.Code, errors.New(asked.Message), options...)
}

type saying struct {
	Percent int      `json:"percent"`
	Message string   `json:"message"`
	Lines   []string `json:"lines"`
}

func progress(ctx context.Context, job *holdfast.Job[saying]) (any, error) {
	for _, line := range job.Payload.Lines {
		holdfast.Log(ctx, line)
	}
	holdfast.Progress(ctx, job.Payload.Percent, job.Payload.Message)
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(2500 * time.Millisecond):
		return nil, nil
	}
}

type stepResult struct {
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
}

func steps(ctx context.Context, job *holdfast.Job[struct {
	Steps  []string
	StopIn string
}]) ([]stepResult, error) {
	note("begin", job.JobInfo)
	results := []stepResult{}
	for _, name := range job.Payload.Steps {
		result, err := holdfast.Step(ctx, name, func(ctx context.Context) (stepResult, error) {
			note("step:"+name, job.JobInfo)
			if job.Attempt == 1 && job.Payload.StopIn == name {
				select {
				case <-ctx.Done():
					return stepResult{}, context.Cause(ctx)
				case <-time.After(time.Minute):
				}
			}
			return stepResult{name, job.Attempt}, nil
		})
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// note appends a line to the journal, with one write, since several processes share the file.
func note(word string, job holdfast.JobInfo) {
	journal, err := os.OpenFile(given("JOURNAL"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	if _, err := fmt.Fprintf(journal, "%s %s %s %d\n", word, job.Kind, job.ID, job.Attempt); err != nil {
		log.Fatal(err)
	}
}

func given(name string) string {
	value, ok := os.LookupEnv("CONFORMANCE_" + name)
	if !ok {
		log.Fatalf("CONFORMANCE_%s is not set: start this program with sdk/conformance/run", name)
	}
	return value
}

func number(name string) int64 {
	value, err := strconv.ParseInt(given(name), 10, 64)
	if err != nil {
		log.Fatalf("CONFORMANCE_%s: %s", name, err)
	}
	return value
}
