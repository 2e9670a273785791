package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// When the answer to a batch is lost the producer cannot know whether it was written: it
// publishes the batch again. Readers lose what Redis was sending to them. Both may make
// duplicates, but no record is lost and each key is first handled in its order.
func TestNothingIsLostOrOutOfOrderWhenConnectionsBreak(t *testing.T) {
	t.Parallel()
	const (
		records = 30_000
		breaks  = 5
	)
	s := startSuite(t)
	s.createStream()
	names := []string{"c1", "c2", "c3"}
	var consumers []*process
	for _, name := range names {
		consumers = append(consumers, s.consume(name))
	}
	s.stable(len(names))
	rdb, err := redisx.New(redisx.Options{URL: s.redis})
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	between := startProxy(t, strings.TrimSuffix(strings.TrimPrefix(s.redis, "redis://"), "/0"))
	direct := s.redis
	s.redis = "redis://" + between.address()
	publisher := s.publish(records, "--rate", "5000")
	s.redis = direct

	broken := 0
	for n := range breaks {
		acked := records * (n + 1) / (breaks + 1)
		s.eventually(func() bool { return len(of("ack", s.ledger("publisher"))) >= acked }, "records are published")
		between.deafen()
		s.eventually(func() bool { return between.lost.Load() > 0 || publisher.ended() }, "the answer to a batch is lost")
		if publisher.ended() {
			break // it was faster than the looks at its ledger
		}
		between.cut()
		require.NoError(t, rdb.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
		broken++
	}
	publisher.wait()
	r := s.finish(records, names, consumers)
	t.Logf("connections broke %d times: %d uncertain publications, %d handled, %d duplicates (%d published twice), "+
		"%d keys, none out of order", broken, r.Uncertain, r.Handled, r.Duplicates.Total, r.Duplicates.Republished, r.Keys)
	require.Positive(t, r.Uncertain)
	require.Positive(t, r.Duplicates.Republished, "records were written although nobody was told")
}
