package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAJoinerReadsWithinTwoHeartbeatsAndOnlyItsShareMoves(t *testing.T) {
	t.Parallel()
	const (
		records = 20_000
		// heartbeat is long, so that what else the machine does is little beside it.
		heartbeat = 2500 * time.Millisecond
		// drain is what a hand-over may take beside the heartbeats: the start of the joiner, the
		// read that is out and the records in hand.
		drain = heartbeat
	)
	s := startSuite(t, "--coordination-heartbeat-interval", heartbeat.String(), "--coordination-member-lease-ttl", "60s",
		"--coordination-client-lease", "48s", "--coordination-rebalance-timeout", "2m")
	s.createStream()
	names := []string{"c1", "c2", "c3"}
	var consumers []*process
	for _, name := range names {
		consumers = append(consumers, s.consume(name))
	}
	s.stable(len(names))
	before := s.owners()
	require.Len(t, before, shards)
	publisher := s.publish(records, "--rate", "2000")
	s.eventually(func() bool { return s.handled(names...) > records/10 }, "records are handled")

	consumers = append(consumers, s.consume("joiner"))
	names = append(names, "joiner")
	s.eventually(func() bool { return len(of("start", s.ledger("joiner"))) > 0 }, "the joiner reads")
	s.stable(len(names))
	after := s.owners()
	entries := s.ledger("joiner")
	delay := of("start", entries)[0].at().Sub(entries[0].at())

	moved := 0
	for shard, owner := range after {
		if owner != before[shard] {
			moved++
			require.Equal(t, "joiner", owner, "shard %d moved to another member than the joiner", shard)
		}
	}
	publisher.wait()
	r := s.finish(records, names, consumers)
	t.Logf("the joiner read its first record %s after it had started; %d of %d shards moved; %d duplicates",
		delay.Round(time.Millisecond), moved, shards, r.Duplicates.Total)
	require.Equal(t, (shards+3)/4, moved, "ceil(S/(M+1))")
	require.Less(t, delay, 2*heartbeat+drain)
	require.Zero(t, r.Duplicates.Total, "a planned move makes none (reliability C5)")
}
