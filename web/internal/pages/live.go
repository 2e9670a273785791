package pages

import (
	"context"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/backend"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

// room is what viewers look at together: all groups that the same scopes reach, or with both names
// one of them.
type room struct{ stream, group, scopes string }

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
	// begin starts work that ends with the room, with its token; due is a mark for the one that
	// asks for details, nil where nobody needs any.
	begin func(work func(context.Context))
	due   chan struct{}
}

// detailer asks for what the events of a room do not tell, and returns how a scene learns of it; nil
// where nothing is due.
type detailer func(ctx context.Context, at room, scene *model.Scene) (learn, error)

// learn returns a scene that knows more.
type learn func(*model.Scene) *model.Scene

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
		following = backend.With(following, func() string { return l.tokenOf(in) })
		in.begin = func(work func(context.Context)) { go work(following) }
		go l.run(following, at, in, api)
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

// detail sees to it that details are asked for, once for all viewers of the room.
func (l *live) detail(one *viewer, ask detailer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.rooms[one.room]
	if in == nil || in.due != nil {
		return
	}
	in.due = make(chan struct{}, 1)
	in.due <- struct{}{}
	in.begin(func(ctx context.Context) { l.ask(ctx, one.room, in, ask) })
}

// ask asks for details whenever they are due, until the room is closed. What fails is tried
// again with the next round.
func (l *live) ask(ctx context.Context, at room, in *shared, ask detailer) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-in.due:
		}
		if more, err := ask(ctx, at, l.sceneOf(in)); err == nil && more != nil {
			l.know(in, more)
		}
	}
}

func (l *live) sceneOf(in *shared) *model.Scene {
	l.mu.Lock()
	defer l.mu.Unlock()
	return in.scene
}

// know makes the scene know more and tells the viewers.
func (l *live) know(in *shared, more learn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in.scene = more(in.scene)
	in.tell()
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
		l.learn(in, model.Update(update))
		return nil
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rooms[at] == in {
		l.shut(at, in)
	}
}

// learn makes the next scene of an update and tells the viewers.
func (l *live) learn(in *shared, update model.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in.scene = in.scene.Next(update)
	in.tell()
	mark(in.due)
}

// tell marks news for the viewers; the caller holds the lock.
func (in *shared) tell() {
	for one := range in.viewers {
		mark(one.news)
	}
}

// mark leaves a mark unless there is one that was not looked at since, or nobody looks.
func mark(news chan struct{}) {
	select {
	case news <- struct{}{}:
	default:
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
