// Command durable runs a handler that waits for days without holding anything meanwhile.
package main

import (
	"context"
	"log"
	"os/signal"
	"strings"
	"syscall"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

type User struct {
	Name  string   `json:"name"`
	Pages []string `json:"pages"`
}

type Contract struct {
	Number string `json:"number"`
}

type Outcome struct {
	Contract string `json:"contract"`
	Limit    bool   `json:"limit"`
	Words    []int  `json:"words"`
}

// region onboard
func onboard(ctx context.Context, job *holdfast.Job[User]) (*Outcome, error) {
	user := job.Payload
	if _, err := holdfast.Step(ctx, "welcome", func(ctx context.Context) (any, error) { return nil, mail(ctx, user) }); err != nil {
		return nil, err
	}
	if err := holdfast.Sleep(ctx, "cool-off", coolOff); err != nil { // three days: no slot, no lease, no goroutine
		return nil, err
	}
	contract, signed, err := holdfast.AwaitWithin[Contract](ctx, "contract", 7*24*time.Hour)
	if err != nil || !signed {
		return nil, err
	}
	limit, err := holdfast.Approve(ctx, "limit", holdfast.Question{
		Text: "Raise the limit of " + user.Name + "?", Within: 48 * time.Hour,
	})
	if err != nil {
		return nil, err
	}
	words, err := holdfast.Map[int](ctx, "count", user.Pages, func(page string) holdfast.JobRequest {
		return holdfast.JobRequest{Kind: "count-words", Payload: page}
	})
	if err != nil {
		return nil, err
	}
	return &Outcome{contract.Number, limit.Approved, words}, nil
}

// endregion

func countWords(_ context.Context, job *holdfast.Job[string]) (int, error) {
	return len(strings.Fields(job.Payload)), nil
}

func mail(ctx context.Context, user User) error {
	holdfast.Log(ctx, "welcome, "+user.Name)
	return nil
}

var coolOff = 72 * time.Hour

func newWorker() *holdfast.Worker {
	worker := &holdfast.Worker{Queues: []string{"onboarding"}}
	holdfast.Handle(worker, "onboard", onboard)
	holdfast.Handle(worker, "count-words", countWords)
	return worker
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := newWorker().Run(ctx); err != nil {
		log.Fatal(err)
	}
}
