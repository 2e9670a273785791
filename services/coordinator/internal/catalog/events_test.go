package catalog_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// events reads the whole flight recorder of group a.
func (b *bench) events() []protocol.GroupEvent {
	b.t.Helper()
	page, err := b.catalog.Events(b.t.Context(), "orders", "a", "", protocol.MaxEvents)
	require.NoError(b.t, err)
	require.Nil(b.t, page.Next)
	return page.Events
}

// told is what an event says first.
func told(e protocol.GroupEvent) string {
	said := string(e.Cause)
	if e.Action != nil {
		said += " " + string(*e.Action)
	}
	for _, text := range []*string{e.MemberID, e.Actor, e.Reason, e.RequestID} {
		if text != nil {
			said += " " + *text
		}
	}
	return said
}

func toldAll(events []protocol.GroupEvent) []string {
	list := make([]string, len(events))
	for i, e := range events {
		list[i] = told(e)
	}
	return list
}

func TestCreationAndDeletionAreRecordedWithWhoAskedForThem(t *testing.T) {
	t.Parallel()
	b := open(t)
	ask := func(id string, act func(r *http.Request) error) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.Header.Set("X-Request-Id", id)
		var err error
		handler := httpx.Identify(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { err = act(r) }))
		handler.ServeHTTP(httptest.NewRecorder(), r)
		require.NoError(t, err)
	}
	reason := "new service"
	ask("c1", func(r *http.Request) error {
		_, err := b.catalog.CreateGroup(r.Context(), "orders", "a", protocol.CreateGroupRequest{RequestedBy: "ops", Reason: &reason})
		return err
	})
	require.Equal(t, protocol.StatusOK, b.join("a").Status)
	ask("d1", func(r *http.Request) error {
		_, err := b.catalog.DeleteGroup(r.Context(), "orders", "a", protocol.DeleteRequest{RequestedBy: "gitops", Reason: "over", Force: true})
		return err
	})
	events := b.events()
	require.Equal(t, []string{"ADMIN CREATE ops new service c1", "JOIN m r", "ADMIN DELETE gitops over d1"}, toldAll(events))
	require.Equal(t, events[1].Lineage, events[2].Lineage)
	require.Len(t, events[2].Shards, protocol.DefaultInitialShards, "a deletion tells who was reading")
	require.Equal(t, "m", events[2].Shards[0].Hold.Before.MemberID)
	require.Nil(t, events[2].Shards[0].Hold.After)

	require.NoError(t, b.createGroup("a", nil))
	events = b.events()
	require.Len(t, events, 4, "the history goes on with the next group of the name")
	require.NotEqual(t, events[2].Lineage, events[3].Lineage)
}

func TestWorkflowThatIsCompletedLaterIsRecordedOnce(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.data.failing = errors.New("redis is away")
	requireCode(t, b.createGroup("a", new(2)), protocol.CodeProvisioningFailed)
	b.data.failing = nil
	require.NoError(t, b.createGroup("a", new(2)))
	remove := protocol.DeleteRequest{RequestedBy: "ops", Reason: "over", DeleteStreams: true}
	b.data.failing = errors.New("redis is away")
	_, err := b.catalog.DeleteGroup(t.Context(), "orders", "a", remove)
	requireCode(t, err, protocol.CodeProvisioningFailed)
	b.data.failing = nil
	_, err = b.catalog.DeleteGroup(t.Context(), "orders", "a", remove)
	require.NoError(t, err)
	require.Equal(t, []string{"ADMIN CREATE t", "ADMIN DELETE ops over"}, toldAll(b.events()))
}

// M6: that is when the events are needed.
func TestEventsOfLostAndCorruptMetadataCanBeRead(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(2)))
	key := store.Key{Stream: "orders", Group: "a"}
	loaded, err := b.kept.Load(t.Context(), key, store.Version{})
	require.NoError(t, err)
	_, err = b.kept.Delete(t.Context(), key, loaded.Version, nil)
	require.NoError(t, err)
	_, err = b.catalog.Group(t.Context(), "orders", "a")
	requireCode(t, err, protocol.CodeMetadataMissing)
	require.Len(t, b.events(), 1)

	require.NoError(t, b.createGroup("a", nil))
	b.kept.Spoil(key, "revision")
	_, err = b.catalog.Group(t.Context(), "orders", "a")
	requireCode(t, err, protocol.CodeMetadataCorrupt)
	require.Len(t, b.events(), 2)

	require.NoError(t, b.createGroup("a", nil))
	require.Equal(t, []string{"ADMIN CREATE t", "ADMIN CREATE t", "ADMIN DISCARD t", "ADMIN CREATE t"}, toldAll(b.events()))
}

func TestEventsArePagedWithACursorWhileMoreFollow(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(2)))
	b.join("a")
	first, err := b.catalog.Events(t.Context(), "orders", "a", "", 1)
	require.NoError(t, err)
	require.Equal(t, []string{"ADMIN CREATE t"}, toldAll(first.Events))
	require.NotNil(t, first.Next)
	second, err := b.catalog.Events(t.Context(), "orders", "a", *first.Next, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"JOIN m r"}, toldAll(second.Events))
	require.Nil(t, second.Next, "nothing follows yet")
	third, err := b.catalog.Events(t.Context(), "orders", "a", second.Events[0].ID, 1)
	require.NoError(t, err)
	require.NotNil(t, third.Events)
	require.Empty(t, third.Events)
}

func TestEventsOfNoGroupAndOfNoCursorAreRefused(t *testing.T) {
	t.Parallel()
	b := open(t)
	_, err := b.catalog.Events(t.Context(), "orders", "a", "", 1)
	requireCode(t, err, protocol.CodeGroupNotFound)
	require.NoError(t, b.createGroup("b", nil))
	_, err = b.catalog.Events(t.Context(), "orders", "a", "", 1)
	requireCode(t, err, protocol.CodeGroupNotFound)
	_, err = b.catalog.Events(t.Context(), "orders", "b", "99999999999999999999-0", 1)
	requireCode(t, err, protocol.CodeInvalidRequest)
}
