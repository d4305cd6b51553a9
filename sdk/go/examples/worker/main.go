// Command worker resizes images, as far as this example is concerned.
package main

import (
	"context"
	"log"
	"os/signal"
	"syscall"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

// region worker
type Resize struct {
	Width int `json:"width"`
}

func resize(ctx context.Context, job *holdfast.Job[Resize]) (Resize, error) {
	for percent := 0; percent < 100; percent += 20 {
		if ctx.Err() != nil {
			return Resize{}, context.Cause(ctx)
		}
		holdfast.Progress(ctx, percent, "resizing")
	}
	return job.Payload, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal does not wait

	worker := &holdfast.Worker{Queues: []string{"media"}, Concurrency: 20}
	holdfast.Handle(worker, "resize", resize)
	if err := worker.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// endregion
