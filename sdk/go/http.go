package holdfast

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	callTimeout   = 40 * time.Second
	uploadTimeout = 120 * time.Second
	mostBytes     = 512 << 20
	jsonType      = "application/json"
	bytesType     = "application/octet-stream"
)

// defaultHTTP keeps more idle connections to one host than http.DefaultTransport does.
var defaultHTTP = sync.OnceValue(func() *http.Client {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     60 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
	}
	return &http.Client{Transport: transport}
})

// connection is one server and one credential.
type connection struct {
	url  string
	key  func(context.Context) (string, error)
	http *http.Client
}

func newConnection(server, key string, source func(context.Context) (string, error), client *http.Client) (*connection, error) {
	if server == "" {
		server = os.Getenv("HOLDFAST_SERVER_URL")
	}
	if server == "" {
		server = "http://127.0.0.1:8420"
	}
	parsed, err := url.Parse(server)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return nil, fmt.Errorf("holdfast: server URL %q: give one such as http://127.0.0.1:8420", server)
	}
	if key != "" && source != nil {
		return nil, errors.New("holdfast: give either APIKey or KeySource")
	}
	if key == "" {
		key = os.Getenv("HOLDFAST_SERVER_API_KEY")
	}
	if source == nil {
		source = func(context.Context) (string, error) { return key, nil }
	}
	return &connection{strings.TrimRight(server, "/"), source, withoutRedirects(client)}, nil
}

// withoutRedirects: a redirect would turn a POST into a GET, and send the key elsewhere.
func withoutRedirects(client *http.Client) *http.Client {
	if client == nil {
		client = defaultHTTP()
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// request is one call; the token, where it is given, takes the place of the key.
type request struct {
	method, path string
	body         []byte
	contentType  string
	timeout      time.Duration
	token        string
}

func (c *connection) get(ctx context.Context, path string, into any) error {
	return c.call(ctx, request{method: http.MethodGet, path: path}, into)
}

func (c *connection) post(ctx context.Context, path string, body, into any) error {
	sent, err := encode(body)
	if err != nil {
		return err
	}
	return c.call(ctx, request{method: http.MethodPost, path: path, body: sent}, into)
}

// call decodes the JSON of a 2xx answer; anything else is an *Error.
func (c *connection) call(ctx context.Context, r request, into any) error {
	content, err := c.content(ctx, r)
	if err != nil || into == nil || len(content) == 0 {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return &Error{Message: "the answer of the server is not as expected: " + err.Error(), Err: err}
	}
	return nil
}

func (c *connection) content(ctx context.Context, r request) ([]byte, error) {
	if r.timeout == 0 {
		r.timeout = callTimeout
	}
	calling, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	key, err := c.bearer(calling, r.token)
	if err != nil {
		return nil, err
	}
	content, err := c.exchange(calling, r, key)
	if refused, ok := err.(*Error); ok && refused.Status == http.StatusUnauthorized {
		// A key that was rotated meanwhile.
		if fresh, keyErr := c.bearer(calling, r.token); keyErr == nil && fresh != key {
			content, err = c.exchange(calling, r, fresh)
		}
	}
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return content, err
}

func (c *connection) bearer(ctx context.Context, token string) (string, error) {
	if token != "" {
		return token, nil
	}
	key, err := c.key(ctx)
	if err != nil {
		return "", &Error{Message: "the source of the API key has failed: " + err.Error(), Err: err}
	}
	return key, nil
}

func (c *connection) exchange(ctx context.Context, r request, bearer string) ([]byte, error) {
	answer, err := c.send(ctx, r, bearer)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := readAll(answer)
	if err != nil {
		return nil, c.unanswered(err)
	}
	if answer.StatusCode/100 != 2 {
		return nil, problem(answer.StatusCode, answer.Header, content)
	}
	return content, nil
}

func readAll(answer *http.Response) ([]byte, error) {
	if answer.ContentLength > 0 && answer.ContentLength < mostBytes {
		content := make([]byte, answer.ContentLength)
		_, err := io.ReadFull(answer.Body, content)
		return content, err
	}
	return io.ReadAll(io.LimitReader(answer.Body, mostBytes))
}

func (c *connection) send(ctx context.Context, r request, bearer string) (*http.Response, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	made, err := http.NewRequestWithContext(ctx, r.method, c.url+r.path, body)
	if err != nil {
		return nil, err
	}
	made.Header.Set("Accept", jsonType)
	if r.body != nil {
		if r.contentType == "" {
			r.contentType = jsonType
		}
		made.Header.Set("Content-Type", r.contentType)
	}
	if bearer != "" {
		made.Header.Set("Authorization", "Bearer "+bearer)
	}
	answer, err := c.http.Do(made)
	if err != nil {
		return nil, c.unanswered(err)
	}
	return answer, nil
}

func (c *connection) unanswered(err error) *Error {
	var dns *net.DNSError
	why := err.Error()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		why = "nobody listens there; is it running, and is this its port?"
	case errors.As(err, &dns):
		why = "there is no such host; check the address"
	case errors.Is(err, context.DeadlineExceeded):
		why = "it took too long"
	}
	return &Error{Message: "no answer from " + c.url + ": " + why, Err: err}
}

func problem(status int, header http.Header, content []byte) *Error {
	var said struct {
		Error, Message string
		State          State
	}
	if json.Unmarshal(content, &said) != nil || said.Error == "" {
		said.Error = "unknown"
		said.Message = excerpt(strings.ToValidUTF8(string(content), "\uFFFD"), 200)
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		said.Message += "; make a key with 'holdfast keys create --role ...' and give it as APIKey"
	}
	refused := &Error{Status: status, Code: said.Error, Message: said.Message, State: said.State}
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds > 0 {
		refused.retryAfter = time.Duration(seconds) * time.Second
	}
	return refused
}

// encode writes JSON as it is read by people: without escapes for HTML.
func encode(value any) ([]byte, error) {
	if raw, ok := value.(json.RawMessage); ok && json.Valid(raw) {
		return raw, nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

func escaped(segment string) string { return url.PathEscape(segment) }

func excerpt(text string, most int) string {
	if len(text) <= most {
		return text
	}
	count := 0
	for at := range text {
		if count == most {
			return text[:at]
		}
		count++
	}
	return text
}

// storable is the text without what neither UTF-8 nor PostgreSQL can hold.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// backoff makes pauses that double, each with jitter of one half.
type backoff struct{ next, longest time.Duration }

func newBackoff() *backoff { return &backoff{100 * time.Millisecond, 5 * time.Second} }

// pause is the next one, never shorter than what the server has asked for.
func (b *backoff) pause(err error) time.Duration {
	pause := time.Duration(float64(b.next) * (0.5 + rand.Float64()/2))
	b.next = min(b.longest, 2*b.next)
	var refused *Error
	if errors.As(err, &refused) {
		pause = max(pause, refused.retryAfter)
	}
	return pause
}

// sleep returns false when the context is done before.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// insist repeats a call through outages until it is answered or the context is done.
func insist[T any](ctx context.Context, call func() (T, error)) (T, error) {
	pauses := newBackoff()
	for {
		found, err := call()
		if err == nil || !isTemporary(err) {
			return found, err
		}
		if !sleep(ctx, pauses.pause(err)) {
			return found, context.Cause(ctx)
		}
	}
}
