// Command steps runs a handler in steps: what is done is not done again by a later attempt.
package main

import (
	"context"
	"log"
	"strings"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

// region ingest
func ingest(ctx context.Context, job *holdfast.Job[string]) (int, error) {
	words, err := holdfast.Step(ctx, "fetch", func(context.Context) ([]string, error) {
		return strings.Fields(job.Payload), nil
	})
	if err != nil {
		return 0, err
	}
	return holdfast.Step(ctx, "store", func(ctx context.Context) (int, error) {
		holdfast.Logger(ctx).Info("stored", "words", len(words))
		return len(words), nil
	})
}

// endregion

func main() {
	worker := &holdfast.Worker{Queues: []string{"books"}}
	holdfast.Handle(worker, "ingest", ingest)
	log.Fatal(worker.Run(context.Background()))
}
