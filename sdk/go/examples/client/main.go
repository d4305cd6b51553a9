// Command client enqueues a job and waits for its result.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

type Resize struct {
	Width int `json:"width"`
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// region client
	client := &holdfast.Client{}
	job, err := client.Enqueue(ctx, holdfast.JobRequest{Kind: "resize", Queue: "media", Payload: Resize{640}, UniqueKey: "cat.png"})
	if err != nil {
		log.Fatal(err)
	}
	result, err := holdfast.Result[Resize](ctx, client, job.ID)
	fmt.Println(result, err)
	// endregion
}
