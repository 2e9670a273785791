package observe

import "github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"

// topic is what may be asked about a group on a shard beside what is asked in every round.
type topic int

// The topics, the first one first where two have waited as long. The size is the shard's.
const (
	topicUnread topic = iota
	topicPending
	topicSize
	topicConsumers
	topicCount
)

const (
	// neverAsked is for how many rounds a topic has waited that was never asked.
	neverAsked = 1 << 20
	// doubtBonus is for how many rounds longer unread entries pass to have waited where only
	// their count tells the lag. The others have every fifth round all the same.
	doubtBonus = 3
	// recheckEvery is after how many rounds is asked for what should be as it was.
	recheckEvery = 10
)

// turns are the rounds in which topics were last asked, 0 for never.
type turns [topicCount]int64

// waits tells for how many rounds a topic that was last asked in a round has not been.
func waits(last, number int64) int64 {
	if last == 0 {
		return neverAsked
	}
	return number - last
}

// wish is a topic that is worth a question.
type wish struct {
	about    topic
	waited   int64
	question question
}

// chosen returns the wish that has waited longest; false for none. So a group on a shard
// costs one question beside the two of the shard, whatever is to be known of it.
func chosen(wishes []wish) (best wish, found bool) {
	for i, w := range wishes {
		if i == 0 || w.waited > best.waited || w.waited == best.waited && w.about < best.about {
			best = w
		}
	}
	return best, len(wishes) > 0
}

// asked is what was asked of a shard in a round.
type asked struct {
	number int64 // of the round
	size   bool
	groups map[string]topic
}

// stands tells whether nothing has happened to a stream between two looks.
func stands(before, now *facts.Shard) bool {
	return before.Node.RunID == now.Node.RunID && before.Length == now.Length &&
		same(before.EntriesAdded, now.EntriesAdded) && same(before.FirstID, now.FirstID) &&
		same(before.LastGeneratedID, now.LastGeneratedID) && same(before.MaxDeletedID, now.MaxDeletedID)
}

// same compares what may be unknown.
func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}
