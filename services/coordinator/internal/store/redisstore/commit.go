package redisstore

import (
	"context"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, c store.Commit) (store.Committed, error) {
	if err := c.Check(s.options.KeyPrefix); err != nil {
		return store.Committed{}, err
	}
	identity := c.Identity
	if identity == store.IdentityUnknown {
		identity = ""
	}
	next := store.Version{Revision: c.Prev.Revision + 1, Token: c.Token}
	args := make([]any, 0, 15+3*len(c.Unmoved)+2*len(c.Forget)+4*len(c.Beats)+2*len(c.Newcomers))
	args = append(args,
		strconv.FormatInt(c.Prev.Revision, 10), c.Prev.Token, strconv.FormatInt(next.Revision, 10), next.Token,
		c.Schema, layoutVersion, c.Aggregate, identity, c.Lease, c.Event, s.options.HistoryLength,
		len(c.Unmoved), len(c.Forget), len(c.Beats), len(c.Newcomers))
	for member, seen := range c.Unmoved {
		args = append(args, fieldLiveness+member, int64(seen.Deadline), seen.Sequence)
	}
	for _, member := range c.Forget {
		args = append(args, fieldLiveness+member, fieldSuccessor+member)
	}
	args = appendHeard(args, c.Beats, c.Newcomers)

	keys := s.keys.of(c.Key)
	answer, err := s.run(ctx, s.scripts.commit, writes, []string{keys.record, keys.events, keys.lease}, args...)
	if err != nil {
		return store.Committed{}, s.fault(c.Key, err)
	}
	if answer.word != wordOK {
		return store.Committed{}, answer.refusal(c.Key)
	}
	history, err := answer.takeHistory()
	if err != nil {
		return store.Committed{}, err
	}
	done := store.Committed{Version: next}
	if done.Clock, done.Deadlines, done.Applied, err = answer.times(len(c.Beats)); err != nil {
		return store.Committed{}, err
	}
	if err := s.replicated(ctx, keys.record, history); err != nil {
		return store.Committed{}, err
	}
	return done, nil
}

// appendHeard appends beats and newcomers in the form of hear.lua.
func appendHeard(args []any, beats []store.Beat, newcomers []store.Newcomer) []any {
	for i := range beats {
		forced := "0"
		if beats[i].Forced {
			forced = "1"
		}
		lease := int64(beats[i].Lease / time.Millisecond)
		args = append(args, fieldLiveness+beats[i].Member, told(&beats[i]), lease, forced)
	}
	for _, newcomer := range newcomers {
		args = append(args, fieldSuccessor+newcomer.Member, escape(newcomer.Incarnation))
	}
	return args
}
