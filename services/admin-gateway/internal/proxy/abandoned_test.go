package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
)

// Gateway, Proxy: passive health. Members wait shorter than the gateway, so one who has gone
// away without an answer may be all that tells of an instance that hangs.
func TestAnInstanceThatLeavesMembersWithoutAnAnswerIsPassedOver(t *testing.T) {
	t.Parallel()
	waiting := strings.Replace(newBeat, "}", `},"waitMs":5000`, 1)
	require.Contains(t, waiting, "waitMs")
	for _, one := range []struct {
		what, method, path, body string
		after                    time.Duration
		passedOver               bool
	}{
		{"a member that waited", http.MethodPost, beat, newBeat, time.Second, true},
		{"a member that left soon", http.MethodPost, beat, newBeat, 999 * time.Millisecond, false},
		{"a member that asked to wait", http.MethodPost, beat, waiting, 5 * time.Second, false},
		{"and was left alone", http.MethodPost, beat, waiting, 6 * time.Second, true},
		{"a producer", http.MethodGet, group + "/producer-routing", "", time.Second, true},
		{"a producer that asked to wait", http.MethodGet, group + "/producer-routing?waitMs=20000", "", 20 * time.Second, false},
		{"a read that may take long", http.MethodGet, base + "/streams", "", time.Minute, false},
	} {
		stuck, arrived := hung(t)
		well := startUpstream(t, nil)
		var now clockHand
		now.set(clock.Now())
		g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(well.URL, stuck.URL)}, now: now.now})
		askHung := func() {
			ctx, leave := context.WithCancel(t.Context())
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				r, err := http.NewRequestWithContext(ctx, one.method, "http://"+g.address+one.path, strings.NewReader(one.body))
				if err != nil {
					return
				}
				r.Header.Set("Content-Type", "application/json")
				if answer, err := g.client.Do(r); err == nil {
					_ = answer.Body.Close()
				}
			}()
			<-arrived
			now.add(one.after)
			leave()
			<-gone
		}
		askHung()
		if !one.passedOver {
			require.Equal(t, 200, g.call(t, "POST", beat, newBeat).status)
			askHung() // its turn again
			continue
		}
		require.Eventually(t, func() bool { // the gateway learns of it a little later
			before := stuck.count()
			for range 4 {
				if answer := g.within(t, time.Second, beat, newBeat); answer != http.StatusOK {
					return false
				}
			}
			return stuck.count() == before
		}, patience, time.Millisecond, one.what)
	}
}

// within returns the status of an answer that came in time, else 0.
func (g *gateway) within(t *testing.T, limit time.Duration, path, body string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+g.address+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := g.client.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}
