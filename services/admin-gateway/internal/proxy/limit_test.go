package proxy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// Wire contract, Rules: old clients give up for good after 5 s without an answer.
func TestAnOldClientIsAnsweredBeforeItGivesUp(t *testing.T) {
	t.Parallel()
	before, young := []byte(`{"memberId":"m","memberEpoch":7}`), []byte(`{"memberId":"m","incarnation":"01JDXQ5T7Z4M3K2N1P0R9S8T7V"}`)
	p := &Proxy{timeouts: Config{}.withDefaults().Timeouts, legacyRetry: true}
	for _, one := range []struct {
		operation string
		body      []byte
		wait      time.Duration
		limit     time.Duration
	}{
		{route.OperationHeartbeat, before, 0, 4 * time.Second},
		{route.OperationHeartbeat, young, 0, 10 * time.Second},
		{route.OperationHeartbeat, young, 7 * time.Second, 12 * time.Second},
		{route.OperationHeartbeats, before, 0, 10 * time.Second},
		{route.OperationRouting, nil, 0, 10 * time.Second},
	} {
		e := &exchange.Exchange{Route: route.Route{Operation: one.operation}, Body: one.body}
		require.Equal(t, one.limit, p.limitOf(e, one.wait), "%s %s", one.operation, one.body)
	}
	p.legacyRetry = false
	require.Equal(t, 10*time.Second, p.limitOf(&exchange.Exchange{Route: route.Route{Operation: route.OperationHeartbeat}, Body: before}, 0))
}
