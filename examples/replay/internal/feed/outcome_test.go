package feed_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/feed"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/libs/client"
)

func TestTheLedgerSaysWhatAPublicationFailedWith(t *testing.T) {
	t.Parallel()
	for want, fault := range map[string]error{
		"refused ROUTING_EXPIRED": fmt.Errorf("publish: %w", client.ErrRoutingExpired),
		"refused STALE_ROUTE":     client.ErrStaleRoute,
		"refused OTHER":           errors.New("LOADING"),
		"unknown UNCERTAIN":       fmt.Errorf("%w: %w", client.ErrUncertain, client.ErrRoutingExpired),
	} {
		to := &stream{fault: func(call, _ int) (error, bool) {
			if call == 0 {
				return fault, false
			}
			return nil, true
		}}
		entries := ledgerOf(t, to, feed.Feed{})
		require.Equal(t, []string{"intent ", want, "intent ", "ack "}, entries)
	}
}

// TestAPatientFeedWaitsForShards: an impatient one has nobody who makes some.
func TestAPatientFeedWaitsForShards(t *testing.T) {
	t.Parallel()
	without := func(call, _ int) (error, bool) {
		if call == 0 {
			return client.ErrNoShards, false
		}
		return nil, true
	}
	require.Equal(t, []string{"intent ", "refused NO_SHARDS", "intent ", "ack "},
		ledgerOf(t, &stream{fault: without}, feed.Feed{Patient: true}))
	require.Equal(t, []string{"intent ", "refused NO_SHARDS"}, ledgerOf(t, &stream{fault: without}, feed.Feed{}))
}

// pausing refuses the first batch as a whole.
type pausing struct {
	stream

	refused bool
}

func (p *pausing) PublishBatch(ctx context.Context, records []client.Record) ([]client.BatchResult, error) {
	if !p.refused {
		p.refused = true
		return nil, client.ErrPaused
	}
	return p.stream.PublishBatch(ctx, records)
}

func TestAPausedProducerIsWaitedFor(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"intent ", "refused PAUSED", "intent ", "ack "}, ledgerOf(t, &pausing{}, feed.Feed{}))
}

// ledgerOf publishes one record and returns the ledger's entries as "kind cause".
func ledgerOf(t *testing.T, to feed.Producer, f feed.Feed) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p"+ledger.Extension)
	w, err := ledger.Create(path, ledger.Publisher, "p")
	require.NoError(t, err)
	f.Producer, f.Ledger, f.Batch, f.Pause, f.Log = to, w, 1, time.Microsecond, slog.New(slog.DiscardHandler)
	_, _ = f.Publish(t.Context(), records(1))
	file, err := ledger.Read(path)
	require.NoError(t, err)
	var entries []string
	for _, entry := range file.Entries {
		entries = append(entries, fmt.Sprint(entry.Kind, " ", entry.Cause))
	}
	return entries
}
