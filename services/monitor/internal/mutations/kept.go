package mutations

import (
	"context"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// maxKept bounds the groups whose mutations are kept.
const maxKept = 4096

// Kept gives the answers of a Reader again for a while, so that the number of those who look
// costs Redis nothing (monitoring, Observe). It is safe for concurrent use.
type Kept struct {
	reader *Reader
	life   time.Duration
	now    func() time.Time

	mu     sync.Mutex
	groups map[place]*kept
}

type place struct{ stream, group string }

// kept is what was read of one group. Its lock is held while Redis is asked, so that callers who
// come meanwhile get the same answer.
type kept struct {
	mu    sync.Mutex
	until time.Time // zero before the first answer
	heads []protocol.RecentMutation
}

// NewKept returns a Kept that gives an answer again for as long as life, by the clock now.
func NewKept(reader *Reader, life time.Duration, now func() time.Time) *Kept {
	return &Kept{reader: reader, life: life, now: now, groups: map[place]*kept{}}
}

// Recent is that of the Reader, whose errors are not kept. The answer is the callers' to read
// only.
func (k *Kept) Recent(ctx context.Context, stream, group string) ([]protocol.RecentMutation, error) {
	of := k.of(place{stream, group})
	of.mu.Lock()
	defer of.mu.Unlock()
	if k.now().Before(of.until) {
		return of.heads, nil
	}
	heads, err := k.reader.Recent(ctx, stream, group)
	if err != nil {
		return nil, err
	}
	of.heads, of.until = heads, k.now().Add(k.life)
	return heads, nil
}

// of returns what is kept of a group. All others are forgotten where there are too many: they
// cost a read each.
func (k *Kept) of(at place) *kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.groups[at] == nil {
		if len(k.groups) >= maxKept {
			clear(k.groups)
		}
		k.groups[at] = &kept{}
	}
	return k.groups[at]
}
