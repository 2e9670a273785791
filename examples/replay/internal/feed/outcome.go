package feed

import (
	"errors"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// outcome returns the entry for what came of a publication.
func outcome(seq int64, result client.BatchResult) ledger.Entry {
	if result.Err == nil {
		return ledger.Entry{
			Kind: ledger.Acked, Seq: seq, Shard: result.Shard, ID: result.ID, Version: result.MetadataVersion,
		}
	}
	entry := ledger.Entry{Kind: ledger.Refused, Seq: seq, Error: result.Err.Error(), Cause: cause(result.Err)}
	if errors.Is(result.Err, client.ErrUncertain) {
		entry.Kind = ledger.Unknown
	}
	return entry
}

// cause says in a word what a publication failed with. An uncertain one is that before
// anything else.
func cause(err error) string {
	for _, known := range []struct {
		is   error
		name string
	}{
		{client.ErrUncertain, "UNCERTAIN"},
		{client.ErrPaused, "PAUSED"},
		{client.ErrNoShards, "NO_SHARDS"},
		{client.ErrRoutingExpired, "ROUTING_EXPIRED"},
		{client.ErrStaleRoute, "STALE_ROUTE"},
	} {
		if errors.Is(err, known.is) {
			return known.name
		}
	}
	return "OTHER"
}
