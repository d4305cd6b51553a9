// Command push takes tasks that a server sends to the dispatch URL of a queue.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

func main() {
	worker := &holdfast.Worker{Concurrency: 20}
	holdfast.Handle(worker, "echo", func(_ context.Context, job *holdfast.Job[json.RawMessage]) (json.RawMessage, error) {
		return job.Payload, nil
	})
	// region push
	handler, err := worker.PushHandler(os.Getenv("DISPATCH_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", handler))
	// endregion
}
