package ratelimit_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/ratelimit"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// TestSecurityNoSpellingOfAPathHasACountOfItsOwn sends paths as they may be written through
// the table of routes: each is refused there or counts as the same stream and group.
func TestSecurityNoSpellingOfAPathHasACountOfItsOwn(t *testing.T) {
	t.Parallel()
	var clock dial
	table := route.New(route.Config{})
	const group = "/coord/v1/streams/orders/groups/billing"
	asks := []struct{ method, path, query string }{
		{http.MethodPost, group, ""},
		{http.MethodPost, group, "dryRun=true"},
		{http.MethodPost, group, "x=1&y=2"},
		{http.MethodDelete, group, ""},
		{http.MethodPost, "/coord/v1/streams/%6Frders/groups/billing", ""},
		{http.MethodPost, "/coord/v1/streams/%6f%72%64%65%72%73/groups/%62illing", ""},
		{http.MethodPost, "/%63oord/v1/%73treams/orders/groups/billing", ""},
		{http.MethodPost, group + "/scale", ""},
		{http.MethodPost, group + "/barrier", ""},
		{http.MethodPost, group + "/members/m-1/fence", ""},
		{http.MethodPost, group + "/members/m-2/fence", ""},
		// These are no paths at all.
		{http.MethodPost, group + "/", ""},
		{http.MethodPost, "/" + group, ""},
		{http.MethodPost, "/coord/v1//streams/orders/groups/billing", ""},
		{http.MethodPost, "/coord/v1/streams/./orders/groups/billing", ""},
		{http.MethodPost, "/coord/v1/streams/x/../orders/groups/billing", ""},
		{http.MethodPost, "/coord/v1/streams/orders%2Fgroups%2Fbilling", ""},
		{http.MethodPost, "/coord/v1/streams/%256Frders/groups/billing", ""},
		{http.MethodPost, "/COORD/v1/STREAMS/orders/groups/billing", ""},
		{http.MethodPost, "/coord/v1/streams/orders%00/groups/billing", ""},
		{http.MethodPost, group + ";x=1", ""},
		{"post", group, ""},
		{http.MethodPut, group, ""},
	}
	l := ratelimit.New(ratelimit.Config{Enabled: true, Limit: 1}, ratelimit.NewLocal(time.Minute, 100), clock.now, nil)
	counted, refused := 0, 0
	for _, a := range asks {
		found, err := table.Match(a.method, a.path, a.query)
		if err != nil {
			refused++
			continue
		}
		require.True(t, found.Mutation, a)
		w, _ := send(l, &exchange.Exchange{Principal: auth.Principal{Name: "ops"}, Route: found})
		if counted++; counted == 1 {
			require.Equal(t, http.StatusAccepted, w.Code, a)
		} else {
			require.Equal(t, http.StatusTooManyRequests, w.Code, a)
		}
	}
	require.Equal(t, 11, counted)
	require.Equal(t, len(asks)-11, refused)
}
