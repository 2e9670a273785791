package pages

import (
	"context"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/backend"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

// room is what viewers look at together: all groups, or with both names one of them.
type room struct{ stream, group string }

// live keeps pages up to date. Viewers of one room share one stream of events from the monitor,
// so that a further one costs nothing but the rendering. It is safe for concurrent use.
type live struct {
	most int

	mu      sync.Mutex
	closed  bool
	viewers int
	rooms   map[room]*shared
}

// shared is a room with its viewers. The fields below mu are those of live.mu.
type shared struct {
	cancel context.CancelFunc
	// token is that of the viewer who came last; those of viewers live for a minute only.
	token   string
	scene   *model.Scene // nil before the first round
	viewers map[*viewer]struct{}
}

// viewer is one page that is kept up to date. news has room for one mark; it is closed when
// nothing more will come.
type viewer struct {
	room room
	news chan struct{}
}

func newLive(most int) *live { return &live{most: most, rooms: map[room]*shared{}} }

// enter begins to keep a page up to date. The caller has seen to it that the viewer may look at
// the room; leave ends it.
func (l *live) enter(ctx context.Context, at room, token string, api followAPI) (*viewer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, protocol.Errorf(protocol.CodeTerminating, "this console is terminating")
	case l.viewers >= l.most:
		return nil, protocol.Errorf(protocol.CodeOverloaded, "%d pages are kept up to date already, which is as many as may", l.most)
	}
	in := l.rooms[at]
	if in == nil {
		in = &shared{viewers: map[*viewer]struct{}{}}
		var following context.Context
		following, in.cancel = context.WithCancel(context.WithoutCancel(ctx))
		l.rooms[at] = in
		go l.run(backend.With(following, func() string { return l.tokenOf(in) }), at, in, api)
	}
	in.token = token
	one := &viewer{room: at, news: make(chan struct{}, 1)}
	in.viewers[one] = struct{}{}
	l.viewers++
	if in.scene != nil {
		one.news <- struct{}{}
	}
	return one, nil
}

// leave ends what enter began. The last one to leave a room closes it.
func (l *live) leave(one *viewer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.rooms[one.room]
	if in == nil {
		return
	}
	if _, there := in.viewers[one]; !there {
		return
	}
	delete(in.viewers, one)
	l.viewers--
	if len(in.viewers) == 0 {
		l.shut(one.room, in)
	}
}

// scene returns what there is to see for a viewer.
func (l *live) scene(one *viewer) *model.Scene {
	l.mu.Lock()
	defer l.mu.Unlock()
	if in := l.rooms[one.room]; in != nil {
		return in.scene
	}
	return nil
}

func (l *live) tokenOf(in *shared) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return in.token
}

// run follows the monitor for a room until it is closed. Where the stream ends for good the
// viewers are sent away: they come back with tokens of their own.
func (l *live) run(ctx context.Context, at room, in *shared, api followAPI) {
	_ = api.Follow(ctx, client.FollowQuery{Stream: at.stream, Group: at.group}, func(update client.Update) error {
		l.learn(in, update)
		return nil
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rooms[at] == in {
		l.shut(at, in)
	}
}

// learn makes the next scene of an update and tells the viewers.
func (l *live) learn(in *shared, update client.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in.scene = in.scene.Next(update)
	for one := range in.viewers {
		select {
		case one.news <- struct{}{}:
		default: // it has not looked since
		}
	}
}

// shut closes a room; the caller holds the lock.
func (l *live) shut(at room, in *shared) {
	in.cancel()
	for one := range in.viewers {
		close(one.news)
		l.viewers--
	}
	clear(in.viewers)
	delete(l.rooms, at)
}

// close closes all rooms, and lets nobody in any more.
func (l *live) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for at, in := range l.rooms {
		l.shut(at, in)
	}
}
