package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
)

// Wire contract: every handler's answers are checked against the document.
func TestAnswersAreAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	m := serving(t)
	for _, target := range targets() {
		m.get(http.StatusOK, target)
	}
}

func TestBeforeTheFirstRoundNothingIsInvented(t *testing.T) {
	t.Parallel()
	m := start(t, httpapi.Config{}, httpapi.Deps{})
	for _, target := range append(targets(), "/readyz") {
		require.Equal(t, protocol.CodeStoreUnavailable, m.code(503, target), target)
	}
	m.get(http.StatusOK, "/healthz")
	m.publish(roundOf(1))
	m.get(http.StatusOK, "/readyz")
}

// Monitoring, Rates: the first observation is null, then there are rates.
func TestRatesComeWithTheSecondRound(t *testing.T) {
	t.Parallel()
	m := serving(t)
	first := read[protocol.StreamShardOffsetsResponse](m, billing+"/offsets")
	require.Len(t, first.Shards, 2)
	require.Nil(t, first.ProducedPerSecond)
	require.Nil(t, first.Shards[0].ConsumedPerSecond)
	m.publish(roundOf(2))
	second := read[protocol.StreamShardOffsetsResponse](m, billing+"/offsets")
	require.NotNil(t, second.ProducedPerSecond)
	require.InDelta(t, 4, *second.ProducedPerSecond, 0.01, "10 entries in 5 s on each of 2 shards")
	require.InDelta(t, 4, *second.ConsumedPerSecond, 0.01)
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	m := serving(t)
	const nowhere = base + "/streams/orders/groups/nobody"
	for _, below := range []string{"", "/members", "/assignments", "/migrations", "/consumption", "/offsets", "/shards/0/messages", "/shards/0/pending"} {
		require.Equal(t, protocol.CodeGroupNotFound, m.code(404, nowhere+below), below)
	}
	require.Equal(t, protocol.CodeNotFound, m.code(404, billing+"/shards/2/messages"))
	require.Equal(t, protocol.CodeNotFound, m.code(404, billing+"/shards/2/pending"))
	require.Equal(t, protocol.CodeNotFound, m.code(404, base+"/nothing"))
	m.publish(facts.Round{Number: 2})
	require.Equal(t, protocol.CodeGroupNotFound, m.code(404, billing), "it was deleted")
	require.JSONEq(t, `{"groups":[]}`, string(m.get(200, base+"/groups")))
}

// A group whose metadata is broken says so and disturbs no other.
func TestAGroupThatCannotBeShownSaysSo(t *testing.T) {
	t.Parallel()
	m := serving(t)
	require.Equal(t, protocol.CodeMetadataCorrupt, m.code(503, base+"/streams/other/groups/broken"))
	require.Equal(t, protocol.CodeMetadataCorrupt, m.code(503, base+"/streams/other/groups/broken/members"))
	require.Len(t, read[protocol.GroupsResponse](m, base+"/groups").Groups, 2)
	m.get(http.StatusOK, billing)
}

// Metric names, Rules for the endpoints.
func TestRowsFollowTheRulesForEmptyParameters(t *testing.T) {
	t.Parallel()
	m := serving(t)
	rows := func(target string) int { return len(read[[]any](m, rowsOf+target)) }
	require.Equal(t, 4, rows("/shards?streamPrefix=&consumerGroup="))
	require.Equal(t, 2, rows("/shards?streamPrefix=&consumerGroup=billing"))
	require.Equal(t, 4, rows("/shards?streamPrefix=orders&consumerGroup="))
	require.Equal(t, 2, rows("/shards?streamPrefix=orders&consumerGroup=billing"))
	require.Equal(t, 2, rows("/assignments?streamPrefix=orders&consumerGroup=billing"))
	require.Equal(t, 1, rows("/members?streamPrefix=orders&consumerGroup=billing"))
	for _, endpoint := range []string{"/members", "/assignments", "/messages", "/options/shards"} {
		for _, query := range []string{"?streamPrefix=&consumerGroup=", "?streamPrefix=orders&consumerGroup=", "?streamPrefix=&consumerGroup=billing", "?streamPrefix=x&consumerGroup=y"} {
			require.JSONEq(t, "[]", string(m.get(200, rowsOf+endpoint+query)), endpoint+query)
		}
	}
	for _, endpoint := range []string{"/members", "/assignments", "/messages", "/options/shards", "/shards"} {
		for _, query := range []string{"", "?streamPrefix=orders", "?consumerGroup=billing"} {
			require.Equal(t, protocol.CodeInvalidRequest, m.code(400, rowsOf+endpoint+query), endpoint+query)
		}
	}
	require.Contains(t, string(m.get(200, rowsOf+"/options/consumer-groups?streamPrefix=orders")), `{"__text":"orders / billing","__value":"billing"}`)
	require.Equal(t, 2, rows("/options/consumer-groups?streamPrefix=orders"))
	require.GreaterOrEqual(t, rows("/options/consumer-groups"), 2)
	require.Contains(t, string(m.get(200, rowsOf+"/options/streams")), `{"__text":"orders","__value":"orders"}`)
	require.JSONEq(t, `[{"__text":":0","__value":"0"},{"__text":":1","__value":"1"}]`,
		string(m.get(200, rowsOf+"/options/shards?streamPrefix=orders&consumerGroup=billing")))
}

func TestWhatCannotBeANameOrQueryIsRefused(t *testing.T) {
	t.Parallel()
	m := serving(t)
	for _, target := range []string{
		base + "/streams/-x/groups/billing", base + "/streams/orders/groups/a%3Ab", base + "/streams/orders/groups/..%2f",
		base + "/streams/redis-stream:coord/groups/x", base + "/streams/%2525/groups/x", base + "//groups",
		billing + "/shards/x/messages", billing + "/shards/-1/messages", billing + "/shards/01/messages", billing + "/shards/99999999/messages",
		rowsOf + "/shards?streamPrefix=a/b&consumerGroup=", rowsOf + "/shards?streamPrefix=&consumerGroup=a:b",
		rowsOf + "/shards?streamPrefix=a&consumerGroup=&consumerGroup=b", rowsOf + "/shards?streamPrefix=%zz&consumerGroup=",
		rowsOf + "/options/consumer-groups?streamPrefix=-", base + "/stream?streamPrefix=-", billing + "/shards/0/messages?a=1;b=2",
	} {
		require.Equal(t, protocol.CodeInvalidRequest, m.code(400, target), target)
	}
	for _, target := range append(targets(), "/healthz") {
		path, _, _ := strings.Cut(target, "?")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.server.URL+path, http.NoBody)
		require.NoError(t, err)
		answer, err := m.server.Client().Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode)
		require.Equal(t, http.MethodGet, answer.Header.Get("Allow"))
	}
}

func TestAProcessThatEndsRefusesNewWork(t *testing.T) {
	t.Parallel()
	gate := httpx.NewGate()
	m := start(t, httpapi.Config{}, httpapi.Deps{Gate: gate})
	m.publish(roundOf(1))
	require.NoError(t, gate.Close(t.Context()))
	m.feed.Close()
	for _, target := range append(targets(), base+"/stream", "/readyz") {
		require.Equal(t, protocol.CodeTerminating, m.code(503, target), target)
	}
	m.get(http.StatusOK, "/healthz")
}
