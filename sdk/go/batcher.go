package holdfast

import (
	"sync"
	"time"
)

// batcher sends what has gathered while the requests before were under way.
type batcher[T any] struct {
	most  int
	send  func([]T)
	lock  sync.Mutex
	ready *sync.Cond
	items []T
	// underWay is how many are being sent.
	underWay int
	closed   bool
	senders  sync.WaitGroup
}

func newBatcher[T any](most int, send func([]T)) *batcher[T] {
	b := &batcher[T]{most: most, send: send}
	b.ready = sync.NewCond(&b.lock)
	return b
}

func (b *batcher[T]) start(senders int) {
	for range senders {
		b.senders.Add(1)
		go b.loop()
	}
}

func (b *batcher[T]) add(item T) {
	b.lock.Lock()
	b.items = append(b.items, item)
	b.lock.Unlock()
	b.ready.Signal()
}

func (b *batcher[T]) backlog() int {
	b.lock.Lock()
	defer b.lock.Unlock()
	return len(b.items) + b.underWay
}

func (b *batcher[T]) loop() {
	defer b.senders.Done()
	b.lock.Lock()
	defer b.lock.Unlock()
	for {
		for len(b.items) == 0 && !b.closed {
			b.ready.Wait()
		}
		if len(b.items) == 0 {
			return
		}
		some := b.items[:min(len(b.items), b.most)]
		b.items = b.items[len(some):]
		if len(b.items) == 0 {
			b.items = nil
		}
		b.underWay += len(some)
		b.lock.Unlock()
		b.send(some)
		b.lock.Lock()
		b.underWay -= len(some)
	}
}

// close returns true once all is sent, false when that takes longer.
func (b *batcher[T]) close(timeout time.Duration) bool {
	b.lock.Lock()
	b.closed = true
	b.lock.Unlock()
	b.ready.Broadcast()
	done := make(chan struct{})
	go func() {
		b.senders.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(timeout):
		return false
	}
}
