package proxy_test

import (
	"sync"
	"time"
)

// clockHand is a clock that stands until it is moved.
type clockHand struct {
	mu sync.Mutex
	at time.Time
}

func (c *clockHand) set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = to
}

func (c *clockHand) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func (c *clockHand) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}
