package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/metrics"
)

// TestFieldF28AGroupWhoseLastMemberHasGoneIsNotStuck: both epochs are told as they are, so the
// alert on one that stays behind is quiet for a group that is EMPTY.
func TestFieldF28AGroupWhoseLastMemberHasGoneIsNotStuck(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{MemberSeries: true})
	round := roundOf(1)
	round.Groups[0].Members = nil
	view := &round.Groups[0].View
	view.State, view.GroupEpoch, view.AssignmentEpoch, view.UnassignedShards = protocol.GroupEmpty, 6, 6, []int{0, 1}
	s.publish(round)
	s.shows(map[string]float64{
		"group_epoch" + ofGroup: 6, "assignment_epoch" + ofGroup: 6, "unassigned_shards" + ofGroup: 2,
		"members{group=billing,state=total,stream=orders}": 0, "members{group=billing,state=active,stream=orders}": 0,
	})
	s.hides("member_", "consumer_shard_")
}

// TestFieldF32ShardsWithoutAnOwnerAreCounted and are none any more when somebody has them.
func TestFieldF32ShardsWithoutAnOwnerAreCounted(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{})
	round := roundOf(1)
	round.Groups[0].View.UnassignedShards = []int{0, 1, 2, 3, 4, 5}
	s.publish(round)
	s.shows(map[string]float64{"unassigned_shards" + ofGroup: 6})
	s.publish(roundOf(2))
	s.shows(map[string]float64{"unassigned_shards" + ofGroup: 0})
}

// TestFieldF38ANameIsALabelAndNothingElse: markup, quotes, line ends, marks that turn the
// direction of writing, a NUL and a very long name leave the scrape as it is.
func TestFieldF38ANameIsALabelAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{MemberSeries: true})
	s.publish(roundOf(1))
	s.publish(roundOf(2))
	lines := strings.Count(text(t, s), "\n")
	const markup = `<img src=x onerror=alert(1)>`
	for i, name := range []string{markup, "\u202e" + markup, "a\x00b", "\"} 1\nup 1\n", `\`, strings.Repeat("x", 1<<20)} {
		round := roundOf(int64(3 + i))
		round.Groups[0].Members[0].MemberID = name
		s.publish(round)
		shown := text(t, s)
		require.Equal(t, lines, strings.Count(shown, "\n"), "%.40q", name)
		require.NotContains(t, shown, "\nup 1")
		escaped := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(name)
		require.Contains(t, shown, `member="`+escaped+`"`)
	}
}

// text is a scrape as Prometheus reads it.
func text(t *testing.T, s *scene) string {
	t.Helper()
	answer := httptest.NewRecorder()
	telemetry.Handler(s.registry).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	require.Equal(t, http.StatusOK, answer.Code)
	return answer.Body.String()
}
