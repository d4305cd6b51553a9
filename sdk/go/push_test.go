package holdfast_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

const secret = "a-secret-of-the-go-tests"

func (s *stage) pushed() (http.Handler, *httptest.Server) {
	s.t.Helper()
	s.worker.Queues, s.worker.APIKey = nil, ""
	handler, err := s.worker.PushHandler("another-secret-before-it", secret)
	s.ok(err)
	server := httptest.NewServer(handler)
	s.t.Cleanup(func() { s.stop(); server.Close() })
	return handler, server
}

// dispatched serves until the end of the test what the server pushes.
func (s *stage) dispatched() {
	s.t.Helper()
	_, server := s.pushed()
	call(http.MethodPut, "/v1/queues/"+s.queue+"/dispatch", map[string]any{"url": server.URL + "/tasks", "secret": secret, "maxInFlight": 4}, nil)
}

func TestAPushedTaskHasAllThatAClaimedOneHas(t *testing.T) {
	s := newStage(t)
	holdfast.Handle(s.worker, "all", func(ctx context.Context, job *holdfast.Job[string]) (any, error) {
		holdfast.Log(ctx, "a line")
		holdfast.Progress(ctx, 40, "page 4")
		if err := holdfast.Event(ctx, "encoded", nil); err != nil {
			return nil, err
		}
		step, err := holdfast.Step(ctx, "once", func(context.Context) (int, error) { return job.Attempt, nil })
		if err != nil {
			return nil, err
		}
		child, err := holdfast.Spawn(ctx, "child", holdfast.JobRequest{Kind: "child", Payload: job.Payload})
		if err != nil {
			return nil, err
		}
		if err := holdfast.Sleep(ctx, "nap", 300*time.Millisecond); err != nil {
			return nil, err
		}
		ends, err := holdfast.Join(ctx, "join", []holdfast.Child{child})
		if err != nil {
			return nil, err
		}
		return []any{step, ends[0].Result}, nil
	})
	holdfast.Handle(s.worker, "child", func(_ context.Context, job *holdfast.Job[string]) (string, error) { return job.Payload, nil })
	s.dispatched()
	id := s.enqueue(holdfast.JobRequest{Kind: "all", Payload: "x"})
	s.succeeds(id, `[1,"x"]`)
	text, err := client.Log(s.ctx, id)
	s.ok(err)
	if !strings.HasPrefix(text, "a line\n") {
		t.Errorf("the log is %q", text)
	}
	unknown := s.enqueue(holdfast.JobRequest{Kind: "other"})
	s.fails(unknown, holdfast.CategoryDataQuality, "DISPATCH_REFUSED")
}

func TestARequestThatIsNoDispatchIsRefused(t *testing.T) {
	s := newStage(t)
	s.worker.Concurrency = 1
	let := make(chan none)
	holdfast.Handle(s.worker, "kind", func(context.Context, *holdfast.Job[any]) (any, error) { <-let; return nil, nil })
	handler, _ := s.pushed()
	away := httptest.NewServer(http.NotFoundHandler())
	defer away.Close()
	envelope := func(dispatch, kind string) string {
		return `{"taskId":"01a1dd46-efa0-7231-88cf-925231baa463","attempt":1,"dispatchId":"` + dispatch + `","kind":"` + kind +
			`","taskToken":"t","callbackBaseUrl":"` + away.URL + `","heartbeatIntervalMs":1000,"heartbeatTimeoutMs":9000,"payload":{}}`
	}
	send := func(method, authorization, body string) int {
		request := httptest.NewRequest(method, "/", strings.NewReader(body))
		request.Header.Set("Authorization", authorization)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		return answer.Code
	}
	for _, c := range []struct {
		method, authorization, body string
		status                      int
	}{
		{"POST", "", envelope("d", "kind"), 401},
		{"POST", "Bearer " + secret + "x", envelope("d", "kind"), 401},
		{"GET", "Bearer " + secret, "", 405},
		{"POST", "Bearer " + secret, "no json", 400},
		{"POST", "Bearer " + secret, `{"taskId":"1","attempt":1}`, 400},
		{"POST", "Bearer " + secret, envelope("d", "other"), 404},
		{"POST", "Bearer " + secret, strings.Repeat(" ", 9<<20), 413},
		{"POST", "Bearer another-secret-before-it", envelope("d", "kind"), 202},
		{"POST", "Bearer " + secret, envelope("d", "kind"), 202},
	} {
		if status := send(c.method, c.authorization, c.body); status != c.status {
			t.Errorf("%s %.60s was answered %d, not %d", c.method, c.body, status, c.status)
		}
	}
	close(let)
	s.until("one start", func() bool { return s.worker.Stats().Started == 1 })
	s.stop()
	if status := send("POST", "Bearer "+secret, envelope("e", "kind")); status != 503 {
		t.Errorf("while it shuts down: %d", status)
	}
	short := &holdfast.Worker{}
	holdfast.Handle(short, "kind", func(context.Context, *holdfast.Job[any]) (any, error) { return nil, nil })
	if _, err := short.PushHandler("too-short"); err == nil {
		t.Error("a short secret was taken")
	}
}
