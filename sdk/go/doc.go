// Package holdfast is a client and a worker for Holdfast, a self-healing job and worker platform, over its HTTP API.
//
// A [Worker] runs handlers, typed by generics, for the kinds of jobs that it knows. What a handler needs besides its job are
// functions that take the context it was given: [Progress], [Log], [Event], [Publish], [Step], and the waits of durable handlers,
// [Sleep], [Await], [Approve], [Spawn], [Join], [Any], [Map] and [ContinueAs].
//
// A [Client] enqueues jobs, waits for their results, and shows and steers what becomes of them.
package holdfast

// Version of this library.
const Version = "0.1.0"
