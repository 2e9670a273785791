package observe

import (
	"cmp"
	"errors"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// errNotAsked is why nothing is known of a shard when a round ends before its turn.
var errNotAsked = errors.New("not asked in this round")

// memorySamples is how many nodes of a stream's tree the server weighs; 0 would be all.
const memorySamples = 5

// look is one look at a shard.
type look struct {
	target

	before                    kept // what is known of it
	sizeEvery, consumersEvery int  // after how many rounds they are asked for again

	stream  *redisx.Stream
	groups  []redisx.Group
	failure error // the first one
}

// first returns what is asked about every shard.
func (l *look) first() []question {
	key := l.shard.Key
	return []question{
		{[]any{"XINFO", "STREAM", key}, 2, l.answer(func(reply any) error {
			stream, err := redisx.ParseStream(reply)
			l.stream = &stream
			return err
		})},
		{[]any{"XINFO", "GROUPS", key}, 2, l.answer(func(reply any) (err error) {
			l.groups, err = redisx.ParseGroups(reply)
			return err
		})},
	}
}

// answer takes an answer without which nothing is known of the shard.
func (l *look) answer(parse func(reply any) error) func(any, error) {
	return func(reply any, err error) {
		if err == nil {
			err = parse(reply)
		}
		l.failure = cmp.Or(l.failure, err)
	}
}

// settle fills in the shard, and returns what is worth asking about its groups. away is why
// it was not asked, if it was not.
func (l *look) settle(at time.Time, away error) []question {
	if l.failure == nil && l.stream == nil {
		l.failure = cmp.Or(away, errNotAsked)
	}
	if l.failure != nil {
		l.shard.Problem, l.shard.Detail, l.shard.Memory = problemOf(l.failure), l.failure.Error(), nil
		if l.shard.Problem != facts.ProblemUnreachable {
			l.shard.At = at
		}
		return nil
	}
	l.shard.At = at
	l.shard.Length, l.shard.EntriesAdded = l.stream.Length, known(l.stream.EntriesAdded)
	l.shard.FirstID, l.shard.LastID = some(l.stream.FirstID), some(l.stream.LastID)
	l.shard.LastGeneratedID, l.shard.MaxDeletedID = someID(l.stream.LastGeneratedID), someID(l.stream.MaxDeletedID)
	return l.settleGroups()
}

// problemOf names an error of Redis for a shard.
func problemOf(err error) facts.Problem {
	switch {
	case redisx.IsNoKey(err):
		return facts.ProblemMissing
	case redisx.StateOf(err) == redisx.StateWrongType:
		return facts.ProblemWrongType
	default:
		return facts.ProblemUnreachable
	}
}

func known(c redisx.Count) *int64 {
	if n, ok := c.Value(); ok {
		return &n
	}
	return nil
}

// someID returns nil for the id that no entry has.
func someID(id string) *string {
	if id == (redisx.EntryID{}).String() {
		return nil
	}
	return some(id)
}
