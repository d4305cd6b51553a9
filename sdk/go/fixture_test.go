package holdfast_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	holdfast "github.com/holdfast-dev/holdfast/sdk/go"
)

// soon is how long to wait for what must come: machines stand still for seconds.
const soon = 90 * time.Second

var (
	serverURL string
	adminKey  string
	workerKey string
	client    *holdfast.Client
)

// settings are those of the conformance kit.
var settings = []string{
	"HEARTBEAT_INTERVAL_MS=1000",
	"HEARTBEAT_TIMEOUT_MS=10000",
	"CANCEL_GRACE_PERIOD_MS=6000",
	"TOKEN_TTL_SECONDS=5",
	"HOLDFAST_RETRIES_DELAY=1s",
	"HOLDFAST_RETRIES_FACTOR=1",
	"HOLDFAST_SERVER_REQUESTS_PER_SECOND=0",
	"HOLDFAST_DISPATCH_ALLOW=127.0.0.1",
	"HOLDFAST_SERVER_PORT=0",
}

// TestMain has one real server for all tests: that of CONFORMANCE_SERVER, or one that it starts.
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	serverURL, adminKey = os.Getenv("CONFORMANCE_SERVER"), os.Getenv("CONFORMANCE_ADMIN_KEY")
	if serverURL == "" {
		stop, err := startServer()
		if err != nil {
			log.Print(err)
			return 1
		}
		defer stop()
		adminKey = newKey("admin")
	}
	workerKey = newKey("worker")
	client = &holdfast.Client{URL: serverURL, APIKey: adminKey}
	return m.Run()
}

func startServer() (func(), error) {
	folder, err := os.MkdirTemp("", "holdfast-go-")
	if err != nil {
		return nil, err
	}
	// The database is run by another user where this one is root.
	if err := os.Chmod(folder, 0o755); err != nil {
		return nil, err
	}
	command := []string{os.Getenv("HOLDFAST_LAUNCHER")}
	if command[0] == "" {
		command[0], _ = filepath.Abs("../../holdfast")
	}
	if program := os.Getenv("CONFORMANCE_PROGRAM"); program != "" {
		java := "java"
		if home := os.Getenv("JAVA_HOME"); home != "" {
			java = filepath.Join(home, "bin/java")
		}
		command = []string{java, "-XX:+UseSerialGC", "-Xmx384m", "-cp", filepath.Join(program, "holdfast.jar"), "dev.holdfast.app.Main"}
	}
	server := exec.Command(command[0], append(command[1:], "dev", "-q", "unused")...)
	server.Dir = folder
	server.Env = append(slices.DeleteFunc(os.Environ(), isSetting), settings...)
	server.Stderr = os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	stop := func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		_ = os.RemoveAll(folder)
	}
	page := regexp.MustCompile(`^ *page +(http://127\.0\.0\.1:\d+)`)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if found := page.FindStringSubmatch(lines.Text()); found != nil {
			serverURL = found[1]
		}
		if serverURL != "" && strings.HasPrefix(lines.Text(), "ready") {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return stop, nil
		}
	}
	stop()
	return nil, fmt.Errorf("the server did not start: %v", lines.Err())
}

// isSetting: the server knows all of these by name, and refuses others.
func isSetting(variable string) bool {
	return strings.HasPrefix(variable, "HOLDFAST_") && !strings.HasPrefix(variable, "HOLDFAST_JAVA_OPTS=")
}

func newKey(role string) string {
	var made struct{ Key string }
	call(http.MethodPost, "/v1/keys", map[string]string{"name": "go-" + role, "role": role}, &made)
	return made.Key
}

// call is a request that the library has no method for.
func call(method, path string, body, into any) {
	sent, err := json.Marshal(body)
	if err != nil {
		log.Panic(err)
	}
	request, err := http.NewRequest(method, serverURL+path, bytes.NewReader(sent))
	if err != nil {
		log.Panic(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if adminKey != "" {
		request.Header.Set("Authorization", "Bearer "+adminKey)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Panic(err)
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode/100 != 2 {
		log.Panicf("%s %s: %d %s %v", method, path, answer.StatusCode, content, err)
	}
	if into != nil {
		if err := json.Unmarshal(content, into); err != nil {
			log.Panic(err)
		}
	}
}

// stage is a queue of its own, for a worker and its jobs.
type stage struct {
	t      *testing.T
	ctx    context.Context
	queue  string
	worker *holdfast.Worker
	said   *messages
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	t.Cleanup(cancel)
	s := &stage{t: t, ctx: ctx, queue: "go-" + holdfast.NewID(), said: &messages{}}
	s.worker = &holdfast.Worker{
		URL: serverURL, APIKey: workerKey, Queues: []string{s.queue}, Lease: 10 * time.Second, Poll: 200 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(s.said, nil)),
	}
	return s
}

// start serves until the end of the test.
func (s *stage) start() {
	s.t.Helper()
	if err := s.worker.Start(s.ctx); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.stop)
}

func (s *stage) stop() {
	done, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.worker.Shutdown(done)
}

func (s *stage) enqueue(job holdfast.JobRequest) string {
	s.t.Helper()
	job.Queue = s.queue
	made, err := client.Enqueue(s.ctx, job)
	if err != nil {
		s.t.Fatal(err)
	}
	return made.ID
}

// ended is the job once it has.
func (s *stage) ended(id string) *holdfast.JobStatus {
	s.t.Helper()
	status, err := client.Wait(s.ctx, id)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.said)
	}
	return status
}

// run enqueues a job, and returns it once it has ended.
func (s *stage) run(kind string, payload any) *holdfast.JobStatus {
	s.t.Helper()
	return s.ended(s.enqueue(holdfast.JobRequest{Kind: kind, Payload: payload}))
}

func (s *stage) succeeds(id, result string) *holdfast.JobStatus {
	s.t.Helper()
	status := s.ended(id)
	if status.State != holdfast.StateSucceeded || compact(status.Result) != result {
		s.t.Fatalf("the job is %s with %s and %+v, not SUCCEEDED with %s\n%s", status.State, status.Result, status.Failure, result, s.said)
	}
	return status
}

func (s *stage) fails(id string, category holdfast.Category, code string) *holdfast.JobStatus {
	s.t.Helper()
	status := s.ended(id)
	if status.State != holdfast.StateFailed || status.Failure.Category != category || status.Failure.Code != code {
		s.t.Fatalf("the job is %s with %+v, not FAILED with %s %s", status.State, status.Failure, category, code)
	}
	return status
}

func (s *stage) waits(id string) {
	s.t.Helper()
	s.until("the job to wait", func() bool { return s.state(id) == holdfast.StateWaiting })
}

func (s *stage) state(id string) holdfast.State {
	s.t.Helper()
	status, err := client.Get(s.ctx, id)
	if err != nil {
		s.t.Fatal(err)
	}
	return status.State
}

func (s *stage) until(what string, holds func() bool) {
	s.t.Helper()
	for !holds() {
		select {
		case <-s.ctx.Done():
			s.t.Fatalf("waited in vain for %s\n%s", what, s.said)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *stage) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// got waits for what a handler sends.
func got[T any](s *stage, from <-chan T) T {
	s.t.Helper()
	select {
	case value := <-from:
		return value
	case <-s.ctx.Done():
		s.t.Fatalf("waited in vain for the handler\n%s", s.said)
		panic("unreachable")
	}
}

func compact(text json.RawMessage) string {
	var made bytes.Buffer
	if json.Compact(&made, text) != nil {
		return string(text)
	}
	return made.String()
}

// messages are what a worker has logged.
type messages struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (m *messages) Write(text []byte) (int, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.text.Write(text)
}

func (m *messages) String() string {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.text.String()
}

type none = struct{}

// slow leaves a test that waits for long out of a short run.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of a short run")
	}
}
