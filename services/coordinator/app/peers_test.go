package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// Storage, Versions; ADR 0018: a record that a newer release wrote is well, and nobody loses
// what they hold because one coordinator is behind.
func TestARecordOfANewerReleaseFencesNobody(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	cfg := settings(redis)
	cfg.Coordination.MemberLeaseTTL, cfg.Coordination.RebalanceTimeout = 2*time.Minute, 5*time.Minute
	c := start(t, cfg, app.Deps{})
	c.createOrders("billing")
	m := newMember("m1", ordersURL)
	settle(c, m)
	rdb := redis.Client(t)
	schema, err := rdb.HGet(t.Context(), ordersKey, "schemaVersion").Int()
	require.NoError(t, err)
	require.NoError(t, rdb.HSet(t.Context(), ordersKey, "schemaVersion", schema+1).Err())

	behind := start(t, cfg, app.Deps{}) // it has seen nothing yet
	code := behind.refused("POST", ordersURL+"/members/m1/heartbeat", m.request(), http.StatusServiceUnavailable)
	require.Equal(t, protocol.CodeStoreUnavailable, code)
	require.Equal(t, protocol.CodeMetadataCorrupt, behind.refused("GET", ordersURL, nil, http.StatusServiceUnavailable))
	require.Eventually(t, func() bool {
		health := behind.health()
		return health.Status == protocol.HealthDegraded && strings.Contains(strings.Join(health.Problems, " "), "billing")
	}, patience, interval)

	require.NoError(t, rdb.HSet(t.Context(), ordersKey, "schemaVersion", schema).Err())
	require.Equal(t, protocol.StatusOK, m.beat(behind).Status)
	healthy(behind)
}

// Settings for a single coordinator beside another one: nobody starts like that.
func TestASingleCoordinatorDoesNotStartBesideAnother(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	alone := settings(redis)
	alone.Coordination.StateMutex.Enabled = false
	first := start(t, alone, app.Deps{})
	_, err := app.New(t.Context(), alone, app.Deps{})
	require.ErrorContains(t, err, "coordination.state-mutex.enabled")
	require.ErrorContains(t, err, first.app.ID())

	first.close()
	start(t, alone, app.Deps{})
}
