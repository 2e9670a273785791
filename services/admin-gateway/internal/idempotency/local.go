package idempotency

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// maxLocalBytes bounds the bodies that a Local keeps, all together.
const maxLocalBytes = 64 << 20

// Local keeps answers in this process: another gateway does not know them, and they are lost
// with it. It may be used from several goroutines.
type Local struct {
	maxEntries int

	mu      sync.Mutex
	entries map[string]*entry
	answers list.List // of the keys that are kept, oldest first
	bytes   int       // of the bodies that are kept
}

// entry is a claim, or with place a kept answer.
type entry struct {
	claim  Claim
	until  time.Time
	answer Answer
	place  *list.Element
}

// NewLocal returns a store of at most maxEntries keys, at least 1, and 64 MiB of answers.
// Where room is needed the oldest answers are forgotten, if need be before their time;
// requests under way are not, and where there is nothing else a claim fails with ErrFull.
func NewLocal(maxEntries int) *Local {
	return &Local{maxEntries: maxEntries, entries: make(map[string]*entry)}
}

// Claim implements Store.
func (l *Local) Claim(_ context.Context, claim Claim, now time.Time) (Found, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, known := l.entries[claim.Key]; known && now.Before(e.until) && (e.place != nil || e.claim.Token != claim.Token) {
		return e.found(), nil
	}
	l.forget(claim.Key)
	if len(l.entries) >= l.maxEntries && !l.forgetOldest() {
		return Found{}, ErrFull
	}
	l.entries[claim.Key] = &entry{claim: claim, until: now.Add(ClaimLife)}
	return Found{State: Claimed}, nil
}

func (e *entry) found() Found {
	if e.place == nil {
		return Found{State: UnderWay, BodyHash: e.claim.BodyHash}
	}
	return Found{State: Kept, BodyHash: e.claim.BodyHash, Answer: e.answer}
}

// Keep implements Store.
func (l *Local) Keep(_ context.Context, claim Claim, answer Answer, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, known := l.entries[claim.Key]
	switch {
	case !known || e.claim.Token != claim.Token || e.place != nil:
	case !now.Before(e.until):
		l.forget(claim.Key)
	default:
		e.answer, e.until, e.place = answer, now.Add(AnswerLife), l.answers.PushBack(claim.Key)
		l.bytes += len(answer.Body)
		for l.bytes > maxLocalBytes && l.forgetOldest() {
		}
	}
	return nil
}

// Drop implements Store.
func (l *Local) Drop(_ context.Context, claim Claim) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, known := l.entries[claim.Key]; known && e.claim.Token == claim.Token && e.place == nil {
		l.forget(claim.Key)
	}
	return nil
}

func (l *Local) forgetOldest() bool {
	first := l.answers.Front()
	if first == nil {
		return false
	}
	key, _ := first.Value.(string)
	l.forget(key)
	return true
}

func (l *Local) forget(key string) {
	e, known := l.entries[key]
	if !known {
		return
	}
	if e.place != nil {
		l.answers.Remove(e.place)
		l.bytes -= len(e.answer.Body)
	}
	delete(l.entries, key)
}
