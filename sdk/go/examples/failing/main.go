// Command failing says how its attempts fail.
package main

import (
	"context"
	"errors"
	"log"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

type Charge struct {
	Cents int `json:"cents"`
}

var errBusy = errors.New("the bank is busy")

// region charge
func charge(ctx context.Context, job *holdfast.Job[Charge]) (string, error) {
	if job.Payload.Cents <= 0 {
		return "", holdfast.DataQuality("BAD_AMOUNT", errors.New("nothing to charge"))
	}
	if time.Now().UTC().Hour() < 6 {
		return "", holdfast.Snooze(time.Hour)
	}
	receipt, err := book(ctx, job.ID, job.Payload.Cents)
	if errors.Is(err, errBusy) {
		return "", holdfast.Infrastructure("BUSY", err, holdfast.RetryAfter(20*time.Second))
	}
	return receipt, err
}

// endregion

func book(context.Context, string, int) (string, error) { return "", errBusy }

func main() {
	worker := &holdfast.Worker{Queues: []string{"payments"}}
	holdfast.Handle(worker, "charge", charge)
	log.Fatal(worker.Run(context.Background()))
}
