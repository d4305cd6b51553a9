package holdfast

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	beatTick        = 250 * time.Millisecond
	commandInterval = 500 * time.Millisecond
	toleratedBeats  = 3
)

// keeper extends leases by heartbeats, all that are due in one request, and stops handlers whose time is up. It has two goroutines of
// its own, so that a slow answer does not hold up the clock.
type keeper struct {
	worker *Worker
	lock   sync.Mutex
	held   map[leaseKey]*attempt
	// overdue have lost their lease, and their handler may have to be given up.
	overdue    map[leaseKey]*attempt
	links      map[source]*link
	commandsAt time.Time
	closed     chan struct{}
}

// link is how the heartbeats to one source fare.
type link struct {
	failedInARow int
	retryAt      time.Time
	interval     time.Duration
	degraded     bool
}

func newKeeper(worker *Worker) *keeper {
	return &keeper{
		worker:  worker,
		held:    map[leaseKey]*attempt{},
		overdue: map[leaseKey]*attempt{},
		links:   map[source]*link{},
		closed:  make(chan struct{}),
	}
}

func (k *keeper) start() {
	go k.beatLoop()
	go k.watchLoop()
}

func (k *keeper) close() { close(k.closed) }

func (k *keeper) add(attempts []*attempt) {
	k.lock.Lock()
	defer k.lock.Unlock()
	for _, a := range attempts {
		k.held[a.key] = a
	}
}

func (k *keeper) remove(a *attempt) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.held[a.key] == a {
		delete(k.held, a.key)
	}
}

func (k *keeper) all() []*attempt {
	k.lock.Lock()
	defer k.lock.Unlock()
	found := make([]*attempt, 0, len(k.held))
	for _, a := range k.held {
		found = append(found, a)
	}
	return found
}

func (k *keeper) find(key leaseKey) *attempt {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.held[key]
}

func (k *keeper) beatLoop() {
	for {
		held := k.all()
		tick := beatTick
		for _, a := range held {
			tick = min(tick, a.interval/4)
		}
		select {
		case <-k.closed:
			return
		case <-time.After(max(tick, time.Millisecond)):
		}
		k.beatDue(held)
		k.lookForCommands(held)
	}
}

// beatDue: a server that is away does not hold up the heartbeats to another one.
func (k *keeper) beatDue(held []*attempt) {
	now := time.Now()
	due := map[source][]*attempt{}
	busy := map[source]bool{}
	for _, a := range held {
		busy[a.source] = true
		a.lock.Lock()
		since := now.Sub(a.beatAt)
		a.lock.Unlock()
		if since >= a.interval*3/4 {
			due[a.source] = append(due[a.source], a)
		}
	}
	var all sync.WaitGroup
	for from, attempts := range due {
		to := k.link(from)
		to.interval = attempts[0].interval
		for _, a := range attempts {
			to.interval = min(to.interval, a.interval)
		}
		all.Add(1)
		go func() {
			defer all.Done()
			k.beat(from, to, attempts)
		}()
	}
	all.Wait()
	for from, to := range k.links {
		if to.failedInARow > 0 && !busy[from] {
			k.beat(from, to, nil)
		} else if to.failedInARow == 0 && !busy[from] {
			delete(k.links, from)
		}
	}
}

func (k *keeper) link(to source) *link {
	if k.links[to] == nil {
		k.links[to] = &link{interval: time.Second}
	}
	return k.links[to]
}

// beat without attempts asks whether the server answers again.
func (k *keeper) beat(from source, to *link, attempts []*attempt) {
	now := time.Now()
	if now.Before(to.retryAt) {
		return
	}
	var beats []beat
	var err error
	if len(attempts) > 0 {
		beats, err = from.heartbeat(k.worker.calls, attempts)
	} else {
		_, err = from.commands(k.worker.calls)
	}
	for _, one := range beats {
		k.hear(one, now)
	}
	if err != nil {
		k.failed(to, len(attempts), err, time.Since(now))
		return
	}
	if to.degraded {
		to.degraded = false
		k.worker.log.Info("HEARTBEAT_RECOVERED: heartbeats work again", "failures", to.failedInARow)
	}
	to.failedInARow = 0
}

// failed: a heartbeat that took as long as several intervals counts as several failures.
func (k *keeper) failed(to *link, attempts int, err error, took time.Duration) {
	if k.worker.calls.Err() != nil {
		return
	}
	first := to.failedInARow == 0
	to.failedInARow += max(1, int(took/to.interval))
	// Sooner than after a whole interval: leases run out meanwhile.
	pause := time.Duration(float64(to.interval/4) * (0.8 + 0.4*rand.Float64()))
	var refused *Error
	if errors.As(err, &refused) {
		pause = max(pause, refused.retryAfter)
	}
	to.retryAt = time.Now().Add(pause)
	switch {
	case to.failedInARow > toleratedBeats && !to.degraded:
		to.degraded = true
		k.worker.log.Warn("HEARTBEAT_DEGRADED: heartbeats fail; running jobs continue",
			"failures", to.failedInARow, "jobs", attempts, "error", err)
	case isTemporary(err):
		k.worker.log.Debug("a heartbeat failed", "error", err)
	case first:
		// Nothing is known to heal it, so it is told at once.
		k.worker.log.Error("a heartbeat failed", "error", err)
	}
}

func (k *keeper) hear(one beat, askedAt time.Time) {
	a := one.attempt
	if !one.held {
		k.lost(a, "the server gave the job to another attempt, or it has ended")
		return
	}
	a.lock.Lock()
	a.beatAt = askedAt
	a.control = one.control
	a.lock.Unlock()
	if one.cancel != nil {
		a.stop(ErrCancelled, *one.cancel)
	}
}

// lost: an attempt that is about to be suspended may have been, and its answer is on the way.
func (k *keeper) lost(a *attempt, why string) {
	a.lock.Lock()
	ends := a.asking || a.left == suspended
	ended := a.ended
	a.lock.Unlock()
	if ends {
		return
	}
	k.remove(a)
	if ended {
		return
	}
	k.worker.log.Warn("a job is stopped, its lease is lost", "job", a.info.String(), "why", why)
	a.stop(ErrLeaseLost, why)
	k.lock.Lock()
	k.overdue[a.key] = a
	k.lock.Unlock()
}

// lookForCommands learns of cancels sooner than by heartbeats where these are far apart.
func (k *keeper) lookForCommands(held []*attempt) {
	if time.Since(k.commandsAt) < commandInterval {
		return
	}
	slow := map[source]bool{}
	for _, a := range held {
		if a.interval > commandInterval && !a.hasEnded() {
			slow[a.source] = true
		}
	}
	k.commandsAt = time.Now()
	for from := range slow {
		if to := k.links[from]; to != nil && to.failedInARow > 0 {
			continue // heartbeats bring the cancels as well
		}
		asked, err := from.commands(k.worker.calls)
		if err != nil {
			k.worker.log.Debug("no commands", "error", err) // the heartbeat says what is wrong
			continue
		}
		for _, one := range asked {
			a := k.find(one.key)
			if a == nil {
				continue
			}
			a.lock.Lock()
			a.control = one.control
			a.lock.Unlock()
			if one.cancel != nil {
				a.stop(ErrCancelled, *one.cancel)
			}
		}
	}
}

func (k *keeper) watchLoop() {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-k.closed:
			return
		case <-tick.C:
		}
		now := time.Now()
		for _, a := range append(k.all(), k.lostOnes()...) {
			k.watch(a, now)
		}
	}
}

func (k *keeper) lostOnes() []*attempt {
	k.lock.Lock()
	defer k.lock.Unlock()
	var found []*attempt
	for key, a := range k.overdue {
		if a.hasEnded() {
			delete(k.overdue, key)
		} else {
			found = append(found, a)
		}
	}
	return found
}

func (k *keeper) watch(a *attempt, now time.Time) {
	a.lock.Lock()
	ended, giveUp := a.ended, a.giveUpAt
	isOver := func(at time.Time) bool { return !at.IsZero() && !now.Before(at) }
	timedOut, late := isOver(a.timeoutAt), isOver(a.deadlineAt)
	ranOut := a.strict && !now.Before(a.beatAt.Add(a.lease))
	a.lock.Unlock()
	switch {
	case ended:
	case !giveUp.IsZero():
		if isOver(giveUp) {
			k.worker.giveUp(a)
		}
	case timedOut:
		a.stop(ErrAttemptTimeout, "the attempt took longer than "+a.timeout.String())
	case late:
		a.stop(ErrDeadlineExceeded, "the job's deadline has passed")
	case ranOut:
		a.stop(ErrLeaseLost, "no heartbeat was answered for a lease")
	}
}
