package httpapi

import (
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// defaultFollowers is how many may follow a feed at once where nothing is said.
	defaultFollowers = 256
	// behind is how many frames a follower may be late before it is dropped: two rounds, and
	// news of groups between them.
	behind = 3
)

// Feed tells those who follow of every round. Each has little room: who does not keep up is
// dropped, comes back and begins with the whole picture, so that nobody slows the rounds
// down and memory stays bounded. It is safe for concurrent use; NewFeed makes one.
type Feed struct {
	most int

	mu        sync.Mutex
	closed    bool
	newest    *frame
	followers map[*follower]struct{}
}

// follower is one who follows. frames is closed when the follower was dropped, or the feed
// has ended.
type follower struct{ frames chan *frame }

// NewFeed returns a feed that at most so many may follow at once; 0 is 256.
func NewFeed(most int) *Feed {
	return &Feed{most: orDefault(most, defaultFollowers), followers: map[*follower]struct{}{}}
}

// Publish hands a look to all who follow. It does not wait for them, and costs nothing where
// nobody follows.
func (f *Feed) Publish(look Look) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.newest = newFrame(look)
	for each := range f.followers {
		select {
		case each.frames <- f.newest:
		default:
			f.drop(each)
		}
	}
}

// Update hands news of groups between rounds to those who have taken all that was before. The
// others learn of it with the next round: for such news nobody is dropped.
func (f *Feed) Update(look Look) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.newest = newFrame(look)
	for each := range f.followers {
		if len(each.frames) == 0 {
			each.frames <- f.newest // only the feed sends, and there is room
		}
	}
}

// Close ends the feed for all who follow, and for those who come later. It may be called
// again.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for each := range f.followers {
		f.drop(each)
	}
}

// follow returns a follower who gets the newest look at once; leave ends it.
func (f *Feed) follow() (*follower, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, protocol.Errorf(protocol.CodeTerminating, "this instance is terminating, ask another one")
	case len(f.followers) >= f.most:
		return nil, protocol.Errorf(protocol.CodeOverloaded, "%d follow already, which is as many as may", f.most)
	}
	made := &follower{frames: make(chan *frame, behind)}
	if f.newest != nil {
		made.frames <- f.newest
	}
	f.followers[made] = struct{}{}
	return made, nil
}

func (f *Feed) leave(who *follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(who)
}

// drop ends a follower, once; the caller holds the lock.
func (f *Feed) drop(who *follower) {
	if _, follows := f.followers[who]; follows {
		delete(f.followers, who)
		close(who.frames)
	}
}
