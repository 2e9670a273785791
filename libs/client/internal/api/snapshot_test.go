package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSnapshotsWithTheirETagMayBeNotModified(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"1"`)
		answer(w, http.StatusOK, `{"groups":[{"group":{"streamPrefix":"`+r.URL.Path+`"},"readCount":4,"problem":"METADATA_CORRUPT"}]}`)
	})
	found, tag, err := client.GroupSnapshots(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, `"1"`, tag)
	require.Equal(t, "/coord/v1/internal/groups", found.Groups[0].Group.StreamPrefix)
	require.Equal(t, 4, found.Groups[0].ReadCount)
	require.EqualValues(t, "METADATA_CORRUPT", *found.Groups[0].Problem)

	found, tag, err = client.GroupSnapshots(t.Context(), tag)
	require.NoError(t, err)
	require.Nil(t, found)
	require.Equal(t, `"1"`, tag)
}
