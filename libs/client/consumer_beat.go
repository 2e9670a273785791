package client

import (
	"context"
	"errors"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/member"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// answer is what came back for one heartbeat.
type answer struct {
	sequence int64
	response *protocol.HeartbeatResponse
	err      error
}

// send sends the heartbeat that is due, or the departure. One request is out at a time; its
// time is bounded by a quarter of the client lease (protocol A5).
func (s *session) send(now time.Duration) {
	budget := s.consumer.sub.ClientLease / 4
	load := s.load()
	var (
		request *protocol.HeartbeatRequest
		actions []member.Action
	)
	if s.departing {
		budget = min(budget, s.departBy-now)
		request, actions = s.state.Depart(now, s.consumer.sub.LeaveMode == LeaveForRestart, load)
		s.departSent = true
	} else {
		request, actions = s.state.Heartbeat(now, load)
	}
	s.apply(actions)
	s.sending = true
	ctx, cancel := context.WithTimeout(s.work, budget)
	s.abandon = cancel
	s.running.Go(func() {
		defer cancel()
		response, err := s.consumer.coordinator.Heartbeat(ctx, s.consumer.sub.Stream, s.consumer.sub.Group, request)
		select {
		case s.answers <- answer{sequence: request.Sequence, response: response, err: err}:
		case <-s.done:
		}
	})
}

// load collects what goes with a heartbeat.
func (s *session) load() member.Load {
	load := member.Load{
		RequestID: ulid.Make().String(),
		Free:      cap(s.slots) - len(s.slots),
		InFlight:  make(map[int]int, len(s.grants)),
	}
	for _, shard := range s.state.Shards() {
		if g := s.grants[shard.Grant]; g != nil {
			load.InFlight[shard.Index] = int(g.inFlight.Load())
			load.Progress = append(load.Progress, g.report())
		}
	}
	return load
}

// giveUpCall ends the request that is out, so that the next one need not wait for it.
func (s *session) giveUpCall() {
	if s.sending {
		s.abandon()
	}
}

// answered takes the answer to a heartbeat.
func (s *session) answered(got answer) {
	s.sending = false
	now := s.now()
	s.tick(now)
	if got.err != nil {
		s.apply(s.state.Failed(now, got.sequence))
		if !errors.Is(got.err, context.Canceled) {
			s.unreachable(got.err)
		}
		return
	}
	s.apply(s.state.Answer(now, got.sequence, got.response))
	s.link.answered(s, got.response)
	if s.link.groupUnknown() && s.consumer.sub.FailFast && !s.leaving {
		s.failed = ErrUnknownGroup
	}
}

// unreachable notes a heartbeat without a verdict.
func (s *session) unreachable(err error) {
	code := api.CodeOf(err)
	unknown := code == protocol.CodeGroupNotFound || code == protocol.CodeStreamNotFound
	s.link.failed(s, err, unknown)
	if unknown && s.consumer.sub.FailFast && !s.leaving {
		s.failed = ErrUnknownGroup
	}
}
