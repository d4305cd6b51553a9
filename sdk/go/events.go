package holdfast

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// silence: the server sends a comment every 15 seconds without news.
	silence     = 45 * time.Second
	longestLine = 16 << 20
)

// LiveEvent is one event of the live stream. The topic reset means that what was heard before no longer counts.
type LiveEvent struct {
	Topic string
	ID    string
	Data  json.RawMessage
}

// Events is the live stream, until the context is done: it reconnects after outages, and goes on after the last event. It ends with an
// error that trying again does not heal.
func (c *Client) Events(ctx context.Context, topics ...string) iter.Seq2[LiveEvent, error] {
	return func(yield func(LiveEvent, error) bool) {
		server, err := c.connection()
		if err != nil {
			yield(LiveEvent{}, err)
			return
		}
		stream := &eventStream{server: server, path: "/v1/events", yield: yield}
		if len(topics) > 0 {
			stream.path += "?topics=" + url.QueryEscape(strings.Join(topics, ","))
		}
		stream.run(ctx)
	}
}

type eventStream struct {
	server *connection
	path   string
	yield  func(LiveEvent, error) bool
	last   string
	heard  bool
	over   bool
}

func (s *eventStream) run(ctx context.Context) {
	pauses := newBackoff()
	for {
		s.heard = false
		err := s.connected(ctx)
		if s.over || ctx.Err() != nil {
			return
		}
		if err != nil && !isTemporary(err) {
			s.yield(LiveEvent{}, err)
			return
		}
		if s.heard {
			pauses = newBackoff()
		}
		if !sleep(ctx, pauses.pause(err)) {
			return
		}
	}
}

// connected reads one connection to its end. One on which nothing comes for long is dead.
func (s *eventStream) connected(ctx context.Context) error {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(silence, cancel)
	defer watch.Stop()
	key, err := s.server.key(ctx)
	if err != nil {
		return &Error{Message: "the source of the API key has failed: " + err.Error(), Err: err}
	}
	made, err := http.NewRequestWithContext(reading, http.MethodGet, s.server.url+s.path, nil)
	if err != nil {
		return err
	}
	made.Header.Set("Accept", "text/event-stream")
	if key != "" {
		made.Header.Set("Authorization", "Bearer "+key)
	}
	if s.last != "" {
		made.Header.Set("Last-Event-ID", s.last)
	}
	answer, err := s.server.http.Do(made)
	if err != nil {
		return s.server.unanswered(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		content, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
		return problem(answer.StatusCode, answer.Header, content)
	}
	return s.read(answer.Body, func() { watch.Reset(silence) })
}

// read: events are separated by an empty line; one that was cut off is not told.
func (s *eventStream) read(from io.Reader, alive func()) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	event := LiveEvent{Topic: "message"}
	var data []string
	for lines.Scan() {
		alive()
		line := lines.Text()
		if line == "" {
			if len(data) > 0 {
				s.heard = true
				event.Data = json.RawMessage(strings.Join(data, "\n"))
				if event.ID != "" {
					s.last = event.ID
				}
				if !s.yield(event, nil) {
					s.over = true
					return nil
				}
			}
			event, data = LiveEvent{Topic: "message"}, nil
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			event.Topic = value
		case "data":
			data = append(data, value)
		case "id":
			event.ID = value
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, context.Canceled) {
		return s.server.unanswered(err)
	}
	return nil
}
