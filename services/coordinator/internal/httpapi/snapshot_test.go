package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const snapshots = base + "/internal/groups"

func TestSnapshotsAreAnswered304WhenNothingHasChanged(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	a.snapshots.Groups = []protocol.GroupSnapshot{{Group: protocol.GroupResponse{StreamPrefix: "orders", GroupEpoch: 3}, ReadCount: 4}}
	first := a.call(t, "GET", snapshots, "")
	require.Equal(t, 200, first.status)
	tag := first.header.Get("ETag")
	bare := strings.Trim(tag, `"`)
	for _, got := range []said{
		a.call(t, "GET", snapshots, "", "If-None-Match: "+tag),
		a.call(t, "GET", snapshots+"?since="+bare, ""),
		a.call(t, "GET", snapshots+"?since=%22"+bare+"%22", ""),
	} {
		require.Equal(t, 304, got.status)
		require.Empty(t, got.body)
	}
	for _, since := range []string{"", "other", "*", bare + "x", "%22%2C%20" + bare} {
		require.Equal(t, 200, a.call(t, "GET", snapshots+"?since="+since, "").status, since)
	}
	a.snapshots.Groups[0].Group.GroupEpoch++
	require.Equal(t, 200, a.call(t, "GET", snapshots+"?since="+bare, "", "If-None-Match: "+tag).status)
}

func TestSnapshotsHaveNoNullInThePlaceOfAList(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	code := protocol.CodeMetadataCorrupt
	a.snapshots.Groups = []protocol.GroupSnapshot{{Problem: &code}}
	var got struct {
		Groups []struct {
			Group, Assignments  map[string]any
			Members, Migrations []any
			Problem             string
		}
	}
	require.NoError(t, json.Unmarshal(a.call(t, "GET", snapshots, "").body, &got))
	require.Len(t, got.Groups, 1)
	shown := got.Groups[0]
	require.NotNil(t, shown.Members)
	require.NotNil(t, shown.Migrations)
	require.NotNil(t, shown.Group["unassignedShards"])
	require.NotNil(t, shown.Assignments["currentAssignments"])
	require.Equal(t, "METADATA_CORRUPT", shown.Problem)

	a.snapshots.Groups = nil
	require.JSONEq(t, `{"groups":[]}`, string(a.call(t, "GET", snapshots, "").body))
}

func TestRefusedSnapshotsHaveNoTag(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	a.reject = protocol.Errorf(protocol.CodeStoreUnavailable, "away")
	got := a.call(t, "GET", snapshots, "", "If-None-Match: *")
	requireRefusal(t, got, 503, protocol.CodeStoreUnavailable, "")
	require.Empty(t, got.header.Get("ETag"))
}
