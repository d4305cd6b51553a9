package holdfast

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"
	"time"
)

const (
	mostPushed     = 8 << 20
	mostRemembered = 10_000
)

var secretForm = regexp.MustCompile(`^[!-~]{16,1000}$`)

// PushHandler returns a receiver for the dispatch URL of a queue, and starts the worker: it serves no queues then, and needs no API key.
// Give it the secret of the queue's dispatch, or two while one is replaced.
//
// It answers at once and works afterwards, takes a repeated dispatch once, and answers 503 when all places are taken or the worker shuts
// down, so that the server sends the task again. Call [Worker.Shutdown] when the web server stops.
func (w *Worker) PushHandler(secrets ...string) (http.Handler, error) {
	if len(secrets) == 0 {
		return nil, errors.New("holdfast: give PushHandler the secret of the queue's dispatch")
	}
	p := &pushHandler{worker: w, sources: map[string]*tasks{}, seen: map[string]bool{}}
	for _, secret := range secrets {
		if !secretForm.MatchString(secret) {
			return nil, errors.New("holdfast: a dispatch secret must have 16 to 1000 characters of printable ASCII, no spaces")
		}
		p.secrets = append(p.secrets, sha256.Sum256([]byte("Bearer "+secret)))
	}
	if err := w.prepare(context.Background()); err != nil {
		return nil, err
	}
	w.startEngine()
	return p, nil
}

type pushHandler struct {
	worker  *Worker
	secrets [][32]byte
	lock    sync.Mutex
	sources map[string]*tasks
	// seen are dispatches that were taken, and order is theirs: the oldest are forgotten.
	seen  map[string]bool
	order []string
}

func (p *pushHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	askedAt := time.Now()
	if !p.isAuthentic(r.Header.Get("Authorization")) {
		answer(w, http.StatusUnauthorized, "secret_invalid", "this is not the dispatch secret")
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		answer(w, http.StatusMethodNotAllowed, "method_not_allowed", "tasks are sent by POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostPushed))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		answer(w, http.StatusRequestEntityTooLarge, "body_too_large", fmt.Sprintf("over %d bytes", mostPushed))
		return
	}
	if err != nil {
		answer(w, http.StatusServiceUnavailable, "body_incomplete", "the request has broken off")
		return
	}
	var task envelope
	if err = json.Unmarshal(body, &task); err == nil {
		err = task.check()
	}
	if err != nil {
		answer(w, http.StatusBadRequest, "bad_envelope", "not a task envelope: "+err.Error())
		return
	}
	if p.worker.kinds[task.Kind] == nil {
		answer(w, http.StatusNotFound, "no_handler", fmt.Sprintf("no handler for kind %q", task.Kind))
		return
	}
	p.take(w, &task, askedAt)
}

func (t *envelope) check() error {
	if _, err := parseID(t.TaskID); err != nil {
		return err
	}
	switch {
	case t.Attempt < 1, t.DispatchID == "", t.Kind == "", t.TaskToken == "", t.CallbackBaseURL == "":
		return errors.New("attempt, dispatchId, kind, taskToken and callbackBaseUrl are needed")
	case t.HeartbeatIntervalMs < 1, t.HeartbeatTimeoutMs < 1:
		return errors.New("heartbeatIntervalMs and heartbeatTimeoutMs are needed")
	}
	return nil
}

func (p *pushHandler) isAuthentic(authorization string) bool {
	shown := sha256.Sum256([]byte(authorization))
	authentic := 0
	for _, secret := range p.secrets {
		authentic |= subtle.ConstantTimeCompare(shown[:], secret[:])
	}
	return authentic == 1
}

// take: a dispatch whose answer was lost is sent again, and must not begin twice.
func (p *pushHandler) take(w http.ResponseWriter, task *envelope, askedAt time.Time) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if !p.seen[task.DispatchID] {
		from, err := p.source(task.CallbackBaseURL)
		if err != nil {
			answer(w, http.StatusBadRequest, "bad_envelope", err.Error())
			return
		}
		if p.worker.draining.Load() || p.worker.slots.tryTake(1) == 0 {
			w.Header().Set("Retry-After", "1")
			answer(w, http.StatusServiceUnavailable, "busy", "all places are taken, or the worker shuts down")
			return
		}
		p.remember(task.DispatchID)
		p.worker.begin([]*attempt{newAttempt(task, from, p.worker, askedAt)})
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"accepted":true}`)
}

func (p *pushHandler) remember(dispatch string) {
	p.seen[dispatch] = true
	p.order = append(p.order, dispatch)
	if len(p.order) > mostRemembered {
		delete(p.seen, p.order[0])
		p.order = p.order[1:]
	}
}

func (p *pushHandler) source(url string) (*tasks, error) {
	if p.worker.CallbackURL != "" {
		url = p.worker.CallbackURL
	}
	if found := p.sources[url]; found != nil {
		return found, nil
	}
	none := func(context.Context) (string, error) { return "", nil } // only the tokens of tasks
	server, err := newConnection(url, "", none, p.worker.HTTPClient)
	if err != nil {
		return nil, err
	}
	p.sources[url] = &tasks{server, p.worker.log}
	return p.sources[url], nil
}

func answer(w http.ResponseWriter, status int, name, message string) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	text, _ := encode(map[string]string{"error": name, "message": message})
	_, _ = w.Write(text)
}
