package holdfast

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	claimers = 4
	// gather: handlers that end at about the same time are replaced by one request and not by one each.
	gather         = 3 * time.Millisecond
	lastLeaseTime  = 5 * time.Second
	mostUnsettled  = 1_000
	lookForRoomFor = 500 * time.Millisecond
)

// slots are the places for jobs that run at once. They are taken before a claim, so that it brings no more than there is room for.
type slots struct {
	lock    sync.Mutex
	free    int
	most    int
	changed chan struct{}
}

func newSlots(most int) *slots {
	return &slots{free: most, most: most, changed: make(chan struct{}, 1)}
}

// take returns how many it has taken, up to most; 0 when there was none for a while.
func (s *slots) take(ctx context.Context, most int) int {
	if s.isFull() {
		timer := time.NewTimer(lookForRoomFor)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return 0
		case <-timer.C:
			return 0
		case <-s.changed:
		}
		if s.most > 1 {
			sleep(ctx, gather)
		}
	}
	return s.tryTake(most)
}

func (s *slots) isFull() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.free <= 0
}

func (s *slots) tryTake(most int) int {
	s.lock.Lock()
	defer s.lock.Unlock()
	taken := max(0, min(s.free, most))
	s.free -= taken
	return taken
}

func (s *slots) give(count int) {
	if count == 0 {
		return
	}
	s.lock.Lock()
	s.free += count
	s.lock.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// claimer leases attempts for as long as there is room for them, and waits by long poll for more. One of its goroutines leads; the
// others only help with a backlog.
type claimer struct {
	worker *Worker
	source *leases
	poll   time.Duration
	// stopping ends waits at once; leasing lasts a little longer, because tasks of a lease that is cut off could not be released.
	stopping context.Context
	leasing  context.Context
	more     chan struct{}
	helpers  sync.WaitGroup

	lock       sync.Mutex
	queues     []string
	answerLost bool
	away       bool
	notBefore  time.Time
	// claiming is held for writing while leases that are not known are looked for: none may be on its way.
	claiming sync.RWMutex
}

func (c *claimer) start() {
	helpers := min(claimers, max(1, c.worker.options.concurrency/mostLeased)) - 1
	for range helpers {
		c.helpers.Add(1)
		go c.help()
	}
	c.helpers.Add(1)
	go c.lead()
}

func (c *claimer) lead() {
	defer c.helpers.Done()
	pauses := newBackoff()
	for c.stopping.Err() == nil {
		err := c.round()
		if err == nil {
			pauses = newBackoff()
			c.answers()
			continue
		}
		if c.stopping.Err() != nil {
			return
		}
		c.tell(err)
		sleep(c.stopping, c.backOff(pauses.pause(err)))
	}
}

// backOff lets no other goroutine ask before this time either.
func (c *claimer) backOff(pause time.Duration) time.Duration {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.notBefore = time.Now().Add(pause)
	return pause
}

func (c *claimer) answers() {
	c.lock.Lock()
	was := c.away
	c.away = false
	c.lock.Unlock()
	if was {
		c.worker.log.Info("the server answers again", "url", c.source.server.url)
	}
}

func (c *claimer) tell(err error) {
	if isKeyRefused(err) {
		c.worker.log.Error("the server refuses this worker", "error", err)
		return
	}
	c.lock.Lock()
	first := !c.away
	c.away = true
	c.lock.Unlock()
	if first {
		c.worker.log.Warn("no jobs are leased until the server answers", "error", err)
	}
}

func (c *claimer) round() error {
	c.lock.Lock()
	answerLost, queues := c.answerLost, slices.Clone(c.queues)
	c.lock.Unlock()
	if answerLost {
		if err := c.giveBackUnknown(c.worker.calls); err != nil {
			return err
		}
	}
	pause := c.poll
	for _, queue := range queues {
		room := c.room()
		if room == 0 {
			return nil
		}
		found, due, err := c.lease(queue, room)
		if err != nil {
			return err
		}
		if found > 0 {
			c.served(queue)
			if found == room {
				c.callHelp()
			}
			return nil
		}
		if due != nil {
			pause = min(pause, max(10*time.Millisecond, *due))
		}
	}
	// Nothing announces jobs that come due or no longer wait for others: they are polled for.
	return c.source.wait(c.stopping, queues, pause)
}

// room takes places, unless so many ends are unsettled that the server is behind: they are held leases too.
func (c *claimer) room() int {
	if c.worker.ends.backlog() > 2*c.worker.options.concurrency+mostUnsettled {
		sleep(c.stopping, lookForRoomFor)
		return 0
	}
	return c.worker.slots.take(c.stopping, mostLeased)
}

// served: the other queues come first next time.
func (c *claimer) served(queue string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	at := slices.Index(c.queues, queue)
	c.queues = append(slices.Delete(c.queues, at, at+1), queue)
}

func (c *claimer) callHelp() {
	select {
	case c.more <- struct{}{}:
	default:
	}
}

func (c *claimer) help() {
	defer c.helpers.Done()
	for {
		select {
		case <-c.stopping.Done():
			return
		case <-c.more:
		}
		for c.stopping.Err() == nil {
			c.lock.Lock()
			queue, wait := c.queues[0], time.Until(c.notBefore) > 0 || c.answerLost
			c.lock.Unlock()
			room := 0
			if !wait {
				room = c.room()
			}
			if room == 0 {
				break
			}
			found, _, err := c.lease(queue, room)
			if err != nil || found < room {
				break
			}
			c.callHelp()
		}
	}
}

// lease takes the places of what it finds, and gives the others back.
func (c *claimer) lease(queue string, room int) (int, *time.Duration, error) {
	c.claiming.RLock()
	defer c.claiming.RUnlock()
	askedAt := time.Now()
	tasks, due, err := c.source.lease(c.leasing, queue, room)
	c.worker.slots.give(room - len(tasks))
	if err != nil {
		refused, ok := err.(*Error)
		if !ok || refused.Status == 0 {
			c.lock.Lock()
			c.answerLost = true
			c.lock.Unlock()
		}
		return 0, nil, err
	}
	attempts := make([]*attempt, len(tasks))
	for i, task := range tasks {
		attempts[i] = newAttempt(task, c.source, c.worker, askedAt)
	}
	c.worker.begin(attempts)
	return len(tasks), due, nil
}

// giveBackUnknown releases leases whose answer was lost on the way: they would only come back when they run out.
func (c *claimer) giveBackUnknown(ctx context.Context) error {
	c.claiming.Lock()
	defer c.claiming.Unlock()
	keys, err := c.source.held(ctx)
	if err != nil {
		return err
	}
	keys = slices.DeleteFunc(keys, func(key leaseKey) bool { return c.worker.keeper.find(key) != nil })
	if len(keys) > 0 {
		if err := c.source.release(ctx, keys); err != nil {
			return err
		}
		c.worker.log.Info("leases whose answer was lost were released", "leases", len(keys))
	}
	c.lock.Lock()
	c.answerLost = false
	c.lock.Unlock()
	return nil
}

// stop returns once nothing is claimed any more.
func (c *claimer) stop(stopLeasing context.CancelFunc) {
	timer := time.AfterFunc(lastLeaseTime, stopLeasing)
	defer timer.Stop()
	c.helpers.Wait()
	asking, cancel := context.WithTimeout(c.worker.calls, lastLeaseTime)
	defer cancel()
	if err := c.giveBackUnknown(asking); err != nil {
		c.worker.log.Warn("leases that were lost on the way will run out", "error", err)
	}
}
