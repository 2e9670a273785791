package redisstore

import (
	"context"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Touch implements store.Store: one script call that neither reads nor writes a field
// of the aggregate.
func (s *Store) Touch(ctx context.Context, t store.Touch) (store.Touched, error) {
	if err := t.Check(s.options.KeyPrefix); err != nil {
		return store.Touched{}, err
	}
	args := make([]any, 0, 6+4*len(t.Beats)+2*len(t.Newcomers))
	args = append(args, strconv.FormatInt(t.Version.Revision, 10), t.Version.Token,
		int64(t.ServedEvery/time.Millisecond), t.Identity, len(t.Beats), len(t.Newcomers))
	args = appendHeard(args, t.Beats, t.Newcomers)

	answer, err := s.run(ctx, s.scripts.touch, writes, []string{s.keys.of(t.Key).record}, args...)
	if err != nil {
		return store.Touched{}, s.fault(t.Key, err)
	}
	if answer.word != wordOK {
		return store.Touched{}, answer.refusal(t.Key)
	}
	var done store.Touched
	done.Clock, done.Deadlines, done.Applied, err = answer.times(len(t.Beats))
	return done, err
}
