package client

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/member"
)

// leaveBudget is how long a member that has drained tries to tell the coordinator.
const leaveBudget = time.Second

// session is one member: a loop that owns its protocol state and carries out its actions.
// Heartbeats, reads and handlers run beside the loop, so none of them delays another.
type session struct {
	consumer *Consumer
	id       string
	log      *slog.Logger
	zero     time.Time
	work     context.Context // It is the life of the member's work, which outlasts Run's context.

	// lease is the end of the client lease since zero; 0 when there is none (protocol H5).
	lease   atomic.Int64
	slots   chan struct{} // one for each handler that runs
	acks    *acker
	events  chan event
	answers chan answer
	done    chan struct{}
	running sync.WaitGroup
	clean   bool // after run: nothing of the session runs any more
	link    link

	// grants are those that have not ended, by number. The loop alone changes them, under
	// grantsMu; others read them under it.
	grantsMu sync.Mutex
	grants   map[int64]*grant

	// What follows belongs to the loop.
	state      *member.State
	sending    bool
	abandon    context.CancelFunc
	leaving    bool
	drainBy    time.Duration
	departing  bool
	departSent bool
	departBy   time.Duration
	undrained  int // shards that were dropped while leaving
	failed     error
}

// event is what happened to a grant.
type event struct {
	kind  eventKind
	grant *grant
}

type eventKind int

const (
	readStopped eventKind = iota // no read of a revoked shard is out any more
	workEnded                    // nothing of the grant runs any more
)

func newSession(c *Consumer, id string) *session {
	return &session{
		consumer: c, id: id, log: c.log.With("member", id),
		slots:   make(chan struct{}, c.sub.Workers),
		events:  make(chan event),
		answers: make(chan answer),
		done:    make(chan struct{}),
		grants:  map[int64]*grant{},
	}
}

// run is the life of the member: until ctx ends, then until it has left.
func (s *session) run(ctx context.Context) error {
	s.zero = clock.Now()
	s.state = member.New(member.Config{
		ID: s.id, Name: s.consumer.sub.MemberName, Incarnation: ulid.Make().String(),
		Workers: s.consumer.sub.Workers, ClientLease: s.consumer.sub.ClientLease,
	}, 0)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.work = work
	s.acks = newAcker(s.consumer)
	s.running.Go(s.acks.run)
	defer s.end(cancel)

	timer := clock.NewTimer(0)
	defer timer.Stop()
	asked := ctx.Done()
	for {
		now := s.now()
		s.advance(now) //nolint:contextcheck // heartbeats go on after ctx has ended: the member has to leave.
		if s.over(now) {
			return s.result()
		}
		timer.Reset(s.next(now) - now)
		select {
		case <-timer.C:
		case <-asked:
			asked = nil
			s.leave()
		case got := <-s.answers:
			s.answered(got)
		case got := <-s.events:
			s.happened(got)
		}
	}
}

// now is the time since the member started, on the monotonic clock.
func (s *session) now() time.Duration { return clock.Since(s.zero) }

// leaseLeft returns how long the member may act; it is not above 0 when it may not.
func (s *session) leaseLeft() time.Duration { return time.Duration(s.lease.Load()) - s.now() }

// post hands an event to the loop; after the end it is of no interest.
func (s *session) post(e event) {
	select {
	case s.events <- e:
	case <-s.done:
	}
}

// advance does what is due at now.
func (s *session) advance(now time.Duration) {
	s.tick(now)
	for _, g := range s.grants {
		g.expire(now)
	}
	if s.leaving && !s.departing && (s.state.Idle() || now >= s.drainBy) {
		s.departing, s.departBy = true, now+leaveBudget
		s.giveUpCall()
	}
	if !s.sending && !s.over(now) && (now >= s.state.Due() || s.departing && !s.departSent) {
		s.send(now)
	}
}

// tick drops everything when the lease has run out. An answer that is still out no longer
// counts, so its request is given up.
func (s *session) tick(now time.Duration) {
	lapsed := s.state.Tick(now)
	if lapsed == nil {
		return
	}
	s.consumer.counters.lapses.Add(1)
	s.log.Warn("lease ran out, everything is dropped", "shards", len(lapsed))
	s.apply(lapsed)
	s.giveUpCall()
}

// next returns when advance is needed again.
func (s *session) next(now time.Duration) time.Duration {
	next := now + time.Minute
	earlier := func(at time.Duration) {
		if at > now {
			next = min(next, at)
		}
	}
	if !s.sending {
		next = min(next, max(s.state.Due(), now))
	}
	if until, leased := s.state.LeaseUntil(); leased {
		earlier(until)
	}
	if s.leaving {
		earlier(s.drainBy)
	}
	if s.departing {
		earlier(s.departBy)
	}
	for _, g := range s.grants {
		earlier(g.expire(now))
	}
	return next
}

// apply carries out actions. Whatever ends, ends before the new lease is seen; whatever
// starts, starts after.
func (s *session) apply(actions []member.Action) {
	lease := time.Duration(0)
	if until, leased := s.state.LeaseUntil(); leased {
		lease = until
	}
	s.lease.Store(min(s.lease.Load(), int64(lease)))
	for _, action := range actions {
		g, running := s.grants[action.Grant]
		if !running { // it is to be started, or it has ended and only its report was still owed
			continue
		}
		switch action.Kind {
		case member.Revoke:
			if reading := g.revoke(s.now() + s.consumer.sub.DrainTimeout); !reading {
				s.state.ReadStopped(g.shard, g.number)
			} else if g.wake != nil {
				s.running.Go(g.wake)
			}
		case member.Drop:
			g.drop()
			if s.leaving {
				s.undrained++
			}
		case member.Start:
		}
	}
	s.lease.Store(int64(lease))
	for _, action := range actions {
		if action.Kind == member.Start {
			s.start(action)
		}
	}
}

func (s *session) start(action member.Action) {
	g := newGrant(s, action)
	w := s.consumer.newWorker(s, g)
	s.grantsMu.Lock()
	s.grants[g.number] = g
	s.grantsMu.Unlock()
	s.running.Go(func() { g.run(w) })
}

// happened takes an event of a grant.
func (s *session) happened(e event) {
	switch e.kind {
	case readStopped:
		s.state.ReadStopped(e.grant.shard, e.grant.number)
	case workEnded:
		s.grantsMu.Lock()
		delete(s.grants, e.grant.number)
		s.grantsMu.Unlock()
		s.state.Drained(s.now(), e.grant.shard, e.grant.number)
	}
}

// leave begins to hand everything over.
func (s *session) leave() {
	s.leaving = true
	s.drainBy = s.now() + s.consumer.sub.DrainTimeout
	s.apply(s.state.Leave())
}

// over tells that the member has left, or has tried long enough.
func (s *session) over(now time.Duration) bool {
	return s.failed != nil || s.departing && (s.state.Done() || now >= s.departBy)
}

// result is what run returns.
func (s *session) result() error {
	if s.failed != nil {
		return fmt.Errorf("member %s: %w", s.id, s.failed)
	}
	if s.undrained > 0 {
		return fmt.Errorf("member %s: %w: %d shards", s.id, ErrNotDrained, s.undrained)
	}
	return nil
}

// end drops what is left and waits for it, but not for a handler that ignores its context;
// then the session is not clean.
func (s *session) end(cancel context.CancelFunc) {
	s.lease.Store(0)
	for _, g := range s.grants {
		g.drop()
	}
	s.giveUpCall()
	cancel()
	close(s.done)
	s.acks.close()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	timer := clock.NewTimer(leaveBudget / 4)
	defer timer.Stop()
	select {
	case <-ended:
		s.clean = true
	case <-timer.C:
	}
}
