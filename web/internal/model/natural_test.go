package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

func TestNamesAreSortedAsPeopleSortThem(t *testing.T) {
	t.Parallel()
	want := []string{"", "0a", "1", "01", "2", "10", "a", "s", "s-1", "s-2", "s-10", "s-10-2", "s-10-10", "s-100", "s-x", "z99999999999999999998", "z99999999999999999999", "z100000000000000000000"}
	var rows []protocol.GrafanaGroupRow
	for i := range want {
		rows = append(rows, protocol.GrafanaGroupRow{StreamPrefix: want[(i*7)%len(want)]})
	}
	var got []string
	for _, line := range model.NewOverview(rows, model.OverviewQuery{Sort: "name"}, "").Lines {
		got = append(got, line.Stream)
	}
	require.ElementsMatch(t, want, got)
	for i, name := range want {
		if name == "1" || name == "01" { // the same number: as texts
			continue
		}
		require.Equal(t, name, got[i])
	}
}
