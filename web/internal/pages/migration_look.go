package pages

import (
	"context"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

const (
	// lookEvery is how often the API is asked at most for one resharding, however many look.
	lookEvery = time.Second
	// maxLooks is how many reshardings are remembered.
	maxLooks = 64
)

// watched names one resharding.
type watched struct {
	at room
	id string
}

// looks remembers for all viewers how far reshardings have come: each answer costs a coordinator
// looks at the shards. It is safe for concurrent use.
type looks struct {
	mu   sync.Mutex
	seen map[watched]*lastLook
}

// lastLook is the last answer; turn has room for the one who asks.
type lastLook struct {
	turn chan struct{}
	at   time.Time
	what *protocol.Migration // nil before the first answer
	err  error               // why the last question got none
}

// look returns how far a resharding has come, at most lookEvery ago, or why nobody could tell.
// One that is over is not asked for again. Everybody who calls it has to be allowed to see the
// group.
func (l *looks) look(ctx context.Context, of watched, now func() time.Time, api migrationAPI) (*protocol.Migration, error) {
	last := l.of(of)
	select {
	case last.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-last.turn }()
	if last.what != nil && last.err == nil && model.Over(last.what.State) {
		return last.what, nil
	}
	if age := now().Sub(last.at); 0 <= age && age < lookEvery {
		return last.what, last.err
	}
	what, err := api.Migration(ctx, of.at.stream, of.at.group, of.id)
	if ctx.Err() != nil { // it is about who asked, not about the resharding
		return nil, ctx.Err()
	}
	last.at, last.what, last.err = now(), what, err
	return what, err
}

// of returns the last look at a resharding. Where too many are remembered all are forgotten.
func (l *looks) of(one watched) *lastLook {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := l.seen[one]; last != nil {
		return last
	}
	if l.seen == nil || len(l.seen) >= maxLooks {
		l.seen = map[watched]*lastLook{}
	}
	last := &lastLook{turn: make(chan struct{}, 1)}
	l.seen[one] = last
	return last
}
