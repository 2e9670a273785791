package proxy

import (
	"sync"
	"time"
)

// How long an instance that failed is passed over: at first, and at most, doubling between.
const (
	firstPause = 2 * time.Second
	lastPause  = 30 * time.Second
	// doublings is after how many failures the pause is the longest.
	doublings = 4
)

// health is what requests have found out about an instance; nobody asks it besides. The zero
// value is a healthy one.
type health struct {
	mu       sync.Mutex
	failures int
	until    time.Time // passed over before
	probing  bool      // one request finds out whether it is back
}

// admit tells whether a request may go to the instance, and whether it is the probe. After a
// pause the first one is it, and until it knows more the others go elsewhere.
func (h *health) admit(now time.Time) (may, probe bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.failures == 0:
		return true, false
	case h.probing || now.Before(h.until):
		return false, false
	}
	h.probing = true
	return true, true
}

// succeeded returns whether that is news.
func (h *health) succeeded() (news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	news = h.failures > 0
	h.failures, h.probing = 0, false
	return news
}

// failed begins a pause, and returns it where that is news. Requests that fail together, and
// those that go to an instance in its pause for want of another, begin none.
func (h *health) failed(now time.Time) (pause time.Duration, news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failures > 0 && now.Before(h.until) {
		return 0, false
	}
	pause = min(firstPause<<min(h.failures, doublings), lastPause)
	news = h.failures == 0
	h.failures++
	h.probing = false
	h.until = now.Add(pause)
	return pause, news
}

// probeEnded ends a probe that found out nothing.
func (h *health) probeEnded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.probing = false
}
