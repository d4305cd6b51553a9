// River, driven by the benchmark: one request a line on standard input, one answer a line on standard output.
// peer <database URL>
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const bulk = 1000

var filler = strings.Repeat("x", 150)

type noop struct {
	N      int    `json:"n"`
	Filler string `json:"filler"`
}

func (noop) Kind() string { return "noop" }

type worker struct {
	river.WorkerDefaults[noop]
	handle func(n int)
}

func (w *worker) Work(_ context.Context, job *river.Job[noop]) error {
	w.handle(job.Args.N)
	return nil
}

type request struct {
	ID          int64  `json:"id"`
	Op          string `json:"op"`
	First       int    `json:"first"`
	Count       int    `json:"count"`
	Threads     int    `json:"threads"`
	Millis      int    `json:"millis"`
	Concurrency int    `json:"concurrency"`
}

type peer struct {
	ctx    context.Context
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx] // inserts only
	stop   func() error

	out sync.Mutex

	// Numbers of jobs that have run, told in batches: a line for each would be measured, too.
	ranLock sync.Mutex
	ran     []int
}

func (p *peer) say(message map[string]any) {
	text, _ := json.Marshal(message)
	p.out.Lock()
	defer p.out.Unlock()
	os.Stdout.Write(append(text, '\n'))
}

func (p *peer) finished(n int) {
	p.ranLock.Lock()
	p.ran = append(p.ran, n)
	full := len(p.ran) >= bulk
	p.ranLock.Unlock()
	if full {
		p.tell()
	}
}

func (p *peer) tell() {
	p.ranLock.Lock()
	all := p.ran
	p.ran = nil
	p.ranLock.Unlock()
	if len(all) > 0 {
		p.say(map[string]any{"ran": all})
	}
}

func (p *peer) work(concurrency int, handle func(n int)) (func() error, error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{handle: handle})
	client, err := river.NewClient(riverpgxv5.New(p.pool), &river.Config{
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: concurrency}},
		Workers:           workers,
		FetchCooldown:     time.Millisecond,
		FetchPollInterval: 100 * time.Millisecond,
		Logger:            slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return nil, err
	}
	if err := client.Start(p.ctx); err != nil {
		return nil, err
	}
	return func() error { return client.Stop(p.ctx) }, nil
}

func (p *peer) add(n int) error {
	_, err := p.client.Insert(p.ctx, noop{N: n, Filler: filler}, nil)
	return err
}

func (p *peer) enqueue(first, count int) error {
	for from := first; from < first+count; from += bulk {
		size := min(bulk, first+count-from)
		all := make([]river.InsertManyParams, size)
		for i := range all {
			all[i] = river.InsertManyParams{Args: noop{N: from + i, Filler: filler}}
		}
		if _, err := p.client.InsertManyFast(p.ctx, all); err != nil {
			return err
		}
	}
	return nil
}

// Each durable before the next, by so many at once.
func (p *peer) single(threads, millis int) (int, error) {
	end := time.Now().Add(time.Duration(millis) * time.Millisecond)
	var next atomic.Int64
	var failed atomic.Value
	var all sync.WaitGroup
	for range threads {
		all.Add(1)
		go func() {
			defer all.Done()
			for time.Now().Before(end) {
				if err := p.add(int(next.Add(1) - 1)); err != nil {
					failed.Store(err)
					return
				}
			}
		}()
	}
	all.Wait()
	if err, ok := failed.Load().(error); ok {
		return 0, err
	}
	return int(next.Load()), nil
}

// From the call that enqueues to the handler's first line, one job at a time.
func (p *peer) pickup(count int) ([]float64, error) {
	began := make([]time.Time, count)
	seen := make([]chan struct{}, count)
	for i := range seen {
		seen[i] = make(chan struct{})
	}
	stop, err := p.work(10, func(n int) {
		began[n] = time.Now()
		close(seen[n])
	})
	if err != nil {
		return nil, err
	}
	time.Sleep(500 * time.Millisecond)
	millis := make([]float64, count)
	for i := range count {
		start := time.Now()
		if err := p.add(i); err != nil {
			return nil, err
		}
		<-seen[i]
		millis[i] = float64(began[i].Sub(start).Microseconds()) / 1000
		time.Sleep(time.Duration(5+i%7) * time.Millisecond)
	}
	return millis, stop()
}

func (p *peer) do(r request) (map[string]any, error) {
	switch r.Op {
	case "clear":
		_, err := p.pool.Exec(p.ctx, "TRUNCATE river_job")
		return nil, err
	case "enqueue":
		return nil, p.enqueue(r.First, r.Count)
	case "single":
		count, err := p.single(r.Threads, r.Millis)
		return map[string]any{"count": count}, err
	case "work":
		stop, err := p.work(r.Concurrency, func(n int) {
			if r.Millis > 0 {
				time.Sleep(time.Duration(r.Millis) * time.Millisecond)
			}
			p.finished(n)
		})
		p.stop = stop
		return nil, err
	case "stop":
		err := p.stop()
		p.tell()
		return nil, err
	case "pending":
		var count int
		err := p.pool.QueryRow(p.ctx, "SELECT count(*) FROM (SELECT FROM river_job WHERE state <> 'completed' LIMIT 1) AS r").Scan(&count)
		return map[string]any{"count": count}, err
	case "pickup":
		millis, err := p.pickup(r.Count)
		return map[string]any{"millis": millis}, err
	}
	return nil, fmt.Errorf("unknown operation %q", r.Op)
}

func start() (*peer, error) {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(os.Args[1])
	if err != nil {
		return nil, err
	}
	config.MaxConns = 20
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	// It notifies at most once in that time.
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{FetchCooldown: time.Millisecond})
	if err != nil {
		return nil, err
	}
	return &peer{ctx: ctx, pool: pool, client: client}, nil
}

func main() {
	p, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			p.tell()
		}
	}()
	p.say(map[string]any{"ready": true})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		go func() {
			answer, err := p.do(r)
			if answer == nil {
				answer = map[string]any{}
			}
			answer["id"] = r.ID
			if err != nil {
				answer["error"] = err.Error()
			}
			p.say(answer)
		}()
	}
}
