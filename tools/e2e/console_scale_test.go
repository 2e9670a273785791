package e2e_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// operator changes shard counts with nothing but the console's pages and forms.
type operator struct {
	*browser

	room string // the group's page
}

// TestShardCountsAreChangedByFormsOnly: 4 shards become 6, then 3, and a change to 2 that
// something stands in the way of is rolled back, all by forms, under load. Every acknowledged
// record is handled, and kept where its publisher was told (protocol L1 to L8, L11).
func TestShardCountsAreChangedByFormsOnly(t *testing.T) {
	t.Parallel()
	c := startConsoled(t, quickly()...)
	s := scalingOf(c.readSuite())
	c.passes(guardedCall{
		method: http.MethodPost, path: api("/streams/" + stream), token: c.login(userOps),
		body: fmt.Sprintf(`{"initialShardCount": 4, "consumerGroups": [%q], "requestedBy": "e2e"}`, group),
	}, http.StatusCreated)
	s.read(2, "--work", "300us", "--workers", "2")
	s.load("p1", 400)
	s.eventually(func() bool { return s.handled(s.names...) > 500 }, "there is load")
	o := &operator{newBrowser(t, c.gateways[0].url(), opsAddress), "/console/streams/" + stream + "/groups/" + group}
	o.login(userOps, passwordOf(userOps), "/console")

	var form url.Values
	step(t, "4 become 6", func() {
		form = o.confirmed("/scale?to=6", "more load")
		at := o.made("/scale", form)
		o.until(at, "done")
		require.Equal(t, 6, s.shardCount())
		made := o.migrations(s)
		require.Len(t, made, 1)
		require.Equal(t, path.Base(at), made[0].ReshardingID)
		require.Equal(t, userOps, *made[0].RequestedBy)
		require.Equal(t, "more load", *made[0].Reason)
	})
	step(t, "the same form changes nothing more", func() {
		require.Equal(t, http.StatusConflict, o.send(o.room+"/scale", form).status)
		require.Len(t, o.migrations(s), 1)
	})
	step(t, "6 become 3", func() {
		at := o.made("/scale", o.confirmed("/scale?to=3", "less load"))
		shown := o.until(at, "done")
		require.Equal(t, 3, strings.Count(shown.text, `<span class="state good">sealed</span>`))
		require.Contains(t, shown.text, keptKey(5, path.Base(at)))
		require.Equal(t, 3, s.shardCount())
	})
	step(t, "what stands in the way is shown, and rolled back", func() {
		key := routing.StreamKey(stream, 2)
		require.NoError(t, s.rdb.XGroupCreate(t.Context(), key, "foreign", "0").Err())
		at := o.made("/scale", o.confirmed("/scale?to=2", "too few"))
		o.eventually(at, "Records were not given to foreign yet.")
		back := strings.TrimPrefix(at, o.room) + "/rollback"
		o.made(back, o.confirmed(back, "too few indeed"))
		o.until(at, "rolled back")
		require.Equal(t, 3, s.shardCount())
		require.NoError(t, s.rdb.XGroupDestroy(t.Context(), key, "foreign").Err())
	})
	step(t, "a reader has no form, and its change is refused", func() {
		reads := newBrowser(t, o.base, viewerAddress)
		reads.login(userViewer, passwordOf(userViewer), "/console")
		require.Equal(t, 1, reads.shows(o.room+"/scale?to=5").forms(), "that to log out")
		form := o.confirmed("/scale?to=5", "not mine")
		form.Set("csrf", reads.csrf())
		require.Equal(t, http.StatusForbidden, reads.send(o.room+"/scale", form).status)
		require.Equal(t, 3, s.shardCount())
	})
	s.stop("--resharded")
	s.requireKept()
}

// readSuite is what reads the ledgers of a consoled suite, and asks its coordinator.
func (s *consoled) readSuite() *suite {
	s.t.Helper()
	one := s.coordinators[0]
	asks, err := client.New(client.Options{CoordinatorURL: one.url()})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = asks.Close() })
	return &suite{
		t: s.t, redis: s.audited.URL(), address: one.address, front: one.url(), admin: asks.Admin(),
		ledgers: s.t.TempDir(), books: map[string]*growing{},
	}
}

// confirmed returns the form of a page of the group as somebody fills it in who means it.
func (o *operator) confirmed(at, reason string) url.Values {
	o.t.Helper()
	return o.filled(o.shows(o.room+at), reason)
}

func (o *operator) filled(shown page, reason string) url.Values {
	o.t.Helper()
	_, text, found := strings.Cut(shown.text, `<form class="card stack" method="post"`)
	require.True(o.t, found, "no form to confirm:\n%s", shown.text)
	text, _, _ = strings.Cut(text, "</form>")
	form := url.Values{}
	for _, field := range regexp.MustCompile(`name="([a-z]+)" value="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	form.Set("word", stream)
	form.Set("reason", reason)
	return form
}

// made sends a form and returns the address of the resharding that it leads to. A plan that has
// changed meanwhile, as when a member moves, is looked at and confirmed again.
func (o *operator) made(at string, form url.Values) string {
	o.t.Helper()
	var got page
	require.Eventually(o.t, func() bool {
		got = o.send(o.room+at, form)
		if got.status == http.StatusConflict && strings.Contains(got.text, "no longer the one that you confirmed") {
			form = o.filled(got, form.Get("reason"))
			return false
		}
		return true
	}, patience, seldom, "the plan stays as it is")
	require.Equal(o.t, http.StatusSeeOther, got.status, got.text)
	require.Contains(o.t, got.leadsTo(), o.room+"/migrations/")
	require.Contains(o.t, o.shows(got.leadsTo()).text, `class="notice good"`, "it says what was done")
	address, _, _ := strings.Cut(got.leadsTo(), "?")
	return address
}

// until reads the page of a resharding until it says that state.
func (o *operator) until(at, state string) page {
	o.t.Helper()
	return o.eventually(at, ">"+state+"</span>")
}

// eventually reads a page until it says something.
func (o *operator) eventually(at, says string) page {
	o.t.Helper()
	var shown page
	require.Eventually(o.t, func() bool {
		shown = o.get(at)
		return shown.status == http.StatusOK && strings.Contains(shown.text, says)
	}, scaleBudget, seldom, "%s says %s", at, says)
	return shown
}

func (o *operator) migrations(s *scaling) []protocol.Migration {
	o.t.Helper()
	known, err := s.admin.Migrations(o.t.Context(), stream, group)
	require.NoError(o.t, err)
	return known.Migrations
}
