package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
)

// coordinator has one group that no round has seen.
type coordinator struct{ err error }

func (c coordinator) of(stream, group string) error {
	if stream == "orders" && group == "young" {
		return c.err
	}
	return protocol.Errorf(protocol.CodeGroupNotFound, "no")
}

func (c coordinator) Group(_ context.Context, stream, group string) (*protocol.GroupResponse, error) {
	view := groupOf(stream, group).View
	return &view, c.of(stream, group)
}

func (c coordinator) Members(_ context.Context, stream, group string) ([]protocol.MemberMetadata, error) {
	return nil, c.of(stream, group)
}

func (c coordinator) Assignments(_ context.Context, stream, group string) (*protocol.AssignmentsResponse, error) {
	view := groupOf(stream, group).Assignments
	return &view, c.of(stream, group)
}

func (c coordinator) Migrations(_ context.Context, stream, group string) (*protocol.MigrationsResponse, error) {
	return &protocol.MigrationsResponse{Migrations: []protocol.Migration{}}, c.of(stream, group)
}

// Whoever has made a group finds it at once, though no round has seen it.
func TestAGroupThatIsYoungerThanTheRoundIsFound(t *testing.T) {
	t.Parallel()
	m := start(t, httpapi.Config{}, httpapi.Deps{Coordinator: coordinator{}})
	m.publish(roundOf(1))
	const young, nobody = base + "/streams/orders/groups/young", base + "/streams/orders/groups/nobody"
	for _, below := range []string{"", "/members", "/assignments", "/migrations"} {
		m.get(http.StatusOK, young+below)
		require.Equal(t, protocol.CodeGroupNotFound, m.code(404, nobody+below))
	}
	for _, below := range []string{"/offsets", "/consumption", "/shards/0/messages", "/shards/0/pending"} {
		require.Equal(t, protocol.CodeStoreUnavailable, m.code(503, young+below), "it is there, its shards are not known yet")
		require.Equal(t, protocol.CodeGroupNotFound, m.code(404, nobody+below))
	}
	require.JSONEq(t, "[]", string(m.get(200, rowsOf+"/members?streamPrefix=orders&consumerGroup=young")))
}

func TestACoordinatorThatIsAwayIsNoProofThatAGroupIsNotThere(t *testing.T) {
	t.Parallel()
	m := start(t, httpapi.Config{CallTimeout: time.Minute}, httpapi.Deps{Coordinator: coordinator{errors.New("refused")}})
	m.publish(roundOf(1))
	for _, below := range []string{"", "/members", "/assignments", "/migrations", "/offsets", "/consumption"} {
		require.Equal(t, protocol.CodeStoreUnavailable, m.code(503, base+"/streams/orders/groups/young"+below))
	}
	m.get(http.StatusOK, billing+"/members")
}
