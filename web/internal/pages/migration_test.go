package pages_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	migrationsAt   = "/console/streams/orders/groups/readers/migrations"
	migrationAt    = migrationsAt + "/R-1"
	migrationAPIAt = "/streams/orders/groups/readers/migrations/R-1"
)

// draining is a resharding from 6 to 4 whose shard 4 is what change makes of it.
func draining(change ...func(*protocol.ShardDrain)) protocol.Migration {
	made := protocol.Migration{
		ReshardingID: "R-1", FromShardCount: 6, ToShardCount: 4, State: protocol.MigrationDraining,
		CreatedAt: protocol.AtMillis(1_750_000_000_000), RequestedBy: new("ops"), Reason: new("less load"), RollbackAllowed: true,
		Progress: &protocol.MigrationProgress{
			Done: 1, Total: 2, Groups: []protocol.GroupProgress{{ConsumerGroup: "readers", Copied: true, Settled: true}},
			Shards: []protocol.ShardDrain{
				{
					ShardIndex: 4, StreamKey: "orders:4", Phase: protocol.DrainReading, Reason: new(protocol.DrainUnread),
					Since: new(protocol.AtMillis(1_750_000_001_000)), Owners: []protocol.ShardOwner{{ConsumerGroup: "readers", MemberID: "m-1"}},
					Pending: new(int64(0)), Lag: new(int64(120)), TailID: new("1-1"), BlockingGroup: new("readers"),
				},
				{
					ShardIndex: 5, StreamKey: "orders:5", Phase: protocol.DrainSealed,
					Proof: new(protocol.ProofLag), RetiredKey: new("coord:retired:{orders:5}:R-1"),
				},
			},
		},
	}
	for _, apply := range change {
		apply(&made.Progress.Shards[0])
	}
	return made
}

func TestMigrationsAreListed(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	evil := `"><script>alert(1)</script>`
	c.answers("GET /monitoring/streams/orders/groups/readers/migrations", protocol.MigrationsResponse{Migrations: []protocol.Migration{
		{ReshardingID: "R-2", FromShardCount: 4, ToShardCount: 6, State: protocol.MigrationDeprecated, Reason: &evil, RequestedBy: &evil},
		{ReshardingID: "R-1", FromShardCount: 6, ToShardCount: 4, State: protocol.MigrationRolledBack},
	}})
	got := c.get(t, reader(), migrationsAt)
	require.Equal(t, http.StatusOK, got.status)
	require.Less(t, strings.Index(got.body, "R-2"), strings.Index(got.body, "R-1"))
	for _, says := range []string{`href="` + migrationAt + `"`, "4 → 6", "done", "rolled back", "&lt;script&gt;", "–"} {
		require.Contains(t, got.body, says)
	}
	require.NotContains(t, got.body, "<script>alert")
	require.NotContains(t, got.body, "Change the shard count", "a reader is offered none")
	require.Contains(t, c.get(t, ops(), migrationsAt+"?done=noop").body, "nothing was changed")
	require.NotContains(t, c.get(t, ops(), migrationsAt+"?done=anything").body, `class="notice good"`)
}

// L10: progress is data.
func TestMigrationSaysHowFarItHasCome(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET "+migrationAPIAt, draining())
	c.answers("GET /monitoring/grafana/streams/orders/groups/readers/shards", []protocol.GrafanaShardRow{
		{ShardIndex: 4, ShardSignals: protocol.ShardSignals{TimeToDrainSeconds: new(12.5)}},
	})
	got := c.get(t, ops(), migrationAt+"?done=scaled")
	require.Equal(t, http.StatusOK, got.status, got.body)
	for _, says := range []string{
		"The shard count is being changed.", "6 → 4 shards", "draining", "1 of 2 shards sealed, 1 of 1 group on the layout", `<progress id="done" max="4" value="2">`,
		"It waits for 1 removed shard to be read to the end",
		"Records were not given to readers yet.", "m-1 for readers", "120", "1-1", "coord:retired:{orders:5}:R-1", "nothing unread, nothing pending",
		"less load", `datetime="2025-06-15T15:06:40Z"`, `href="` + migrationAt + `/rollback"`, "has settled",
	} {
		require.Contains(t, got.body, says)
	}
	require.NotContains(t, got.body, "confirm-drain", "an unread shard cannot be confirmed (L9)")
	reads := c.get(t, reader(), migrationAt)
	require.NotContains(t, reads.body, "/rollback")
}

// Reliability, Console, XSS; F38.
func TestFieldF38WhatShardsAndErrorsSayIsInert(t *testing.T) {
	t.Parallel()
	evil := `"><script>alert(1)</script>`
	c := newConsole(t)
	of := draining(func(d *protocol.ShardDrain) {
		d.Reason = new(protocol.DrainLagUnknown)
		d.StreamKey, d.TailID, d.BlockingGroup, d.BlockingConsumer, d.RetiredKey = evil, &evil, &evil, &evil, &evil
		d.Proof, d.Owners = new(protocol.DrainProof(evil)), []protocol.ShardOwner{{ConsumerGroup: evil, MemberID: evil}}
	})
	of.ReshardingID, of.State, of.RequestedBy, of.Reason, of.Progress.LastError = evil, protocol.MigrationState(evil), &evil, &evil, &evil
	of.Progress.Groups = []protocol.GroupProgress{{ConsumerGroup: evil}, {ConsumerGroup: "javascript:alert(1)"}}
	c.answers("GET "+migrationAPIAt, of)
	for _, got := range []said{
		c.get(t, ops(), migrationAt), c.get(t, ops(), migrationAt+"/confirm-drain?shard=4"),
		c.get(t, ops(), migrationAt+"/confirm-drain?shard="+url.QueryEscape(evil)),
		c.post(t, ops(), migrationAt+"/confirm-drain", url.Values{"shard": {evil}, "word": {evil}, "reason": {evil}, "once": {evil}}),
	} {
		require.NotContains(t, strings.ToLower(got.body), "<script>alert")
		require.NotContains(t, got.body, evil)
		require.NotContains(t, got.body, `href="javascript:`)
		require.Contains(t, got.body, "&lt;")
	}
}

func TestMigrationOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.refuses("GET "+migrationAPIAt, protocol.CodeMigrationNotFound, "no such resharding")
	for _, path := range []string{"R-1", "a_b", "%22%3E", strings.Repeat("x", 65)} {
		require.Equal(t, http.StatusNotFound, c.get(t, ops(), migrationsAt+"/"+path).status, path)
		require.Equal(t, http.StatusNotFound, c.get(t, ops(), migrationsAt+"/"+path+"/confirm-drain?shard=4").status, path)
	}
	require.Equal(t, http.StatusNotFound, c.get(t, ops(), migrationsAt+"/a_b/rollback").status)
	require.Equal(t, http.StatusNotFound, c.post(t, ops(), migrationsAt+"/a_b/rollback", url.Values{}).status)
}

// A stream whose name has to be encoded makes the router leave the path as it was written.
func TestPartsOfAPathAreDecodedOnce(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	of := draining()
	c.answers("GET /streams/a:b/groups/readers/migrations/{id}", of)
	require.Equal(t, http.StatusOK, c.get(t, ops(), "/console/streams/a%3Ab/groups/readers/migrations/%52-1").status)
	reads := c.calls("GET")
	require.Equal(t, protocol.BasePath+"/streams/a:b/groups/readers/migrations/R-1", reads[0].path)
	require.Equal(t, http.StatusNotFound, c.get(t, ops(), "/console/streams/a%3Ab/groups/readers/migrations/%2552-1").status)
	require.Equal(t, http.StatusNotFound, c.get(t, ops(), "/console/streams/a%253Ab/groups/readers/migrations/R-1").status)
}

// Reliability, Console: large tables.
func TestAMigrationOfManyShardsIsPaged(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	of := draining()
	of.Progress.Shards = nil
	for at := range 4096 {
		of.Progress.Shards = append(of.Progress.Shards, protocol.ShardDrain{
			ShardIndex: at, StreamKey: "orders:" + strconv.Itoa(at), Phase: protocol.DrainReading, Reason: new(protocol.DrainPending),
			BlockingConsumer: new("consumer-of-a-long-name"),
		})
	}
	c.answers("GET "+migrationAPIAt, of)
	got := c.get(t, ops(), migrationAt)
	require.Less(t, len(got.body), 300_000)
	require.Equal(t, 100, strings.Count(got.body, "are not acknowledged."))
	require.Contains(t, c.get(t, ops(), migrationAt+"?at=41").body, "orders:4095")
}

func newRollback(t *testing.T, plan *protocol.Plan, state protocol.MigrationState) *console {
	t.Helper()
	c := newConsole(t)
	of := draining()
	of.State = state
	c.answers("GET "+migrationAPIAt, of)
	c.api.HandleFunc("POST /coord/v1"+migrationAPIAt+"/rollback", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("dryRun") == "true" {
			_ = json.NewEncoder(w).Encode(plan)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(w).Encode(draining())
	})
	return c
}

// L8, L11.
func TestRollbackIsPlannedThenConfirmed(t *testing.T) {
	t.Parallel()
	plan := scalePlan(4, 6)
	c := newRollback(t, &plan, protocol.MigrationDraining)
	at, api := migrationAt+"/rollback", "/coord/v1"+migrationAPIAt+"/rollback"
	page := c.get(t, ops(), at)
	require.Equal(t, http.StatusOK, page.status)
	require.Contains(t, page.body, "Plan: 4 → 6 shards")
	require.Equal(t, []call{{"POST", api, "dryRun=true", `{"requestedBy":"ops","reason":"plan shown by the console"}`, "ops"}}, c.calls("POST"))
	good := confirmed(t, page)
	for field, value := range map[string]string{"word": "R-1", "reason": " ", "plan": "another"} {
		values := confirmed(t, page)
		values.Set(field, value)
		got := c.post(t, ops(), at, values)
		require.Contains(t, []int{400, 409}, got.status, field)
		require.Equal(t, values.Get("word"), form(t, got).Get("word"))
	}
	got := c.post(t, ops(), at, good)
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Equal(t, migrationAt+"?done=rolledback", got.header.Get("Location"))
	made := c.calls("POST")
	require.Equal(t, call{"POST", api, "", `{"requestedBy":"ops","reason":"more load"}`, "ops"}, made[len(made)-1])
	require.Len(t, made, 6, "five plans and one rollback")

	c.answers("GET /monitoring/streams/orders/groups/readers/migrations", protocol.MigrationsResponse{})
	reads := c.get(t, reader(), at)
	require.Contains(t, reads.body, "You may look only")
	require.NotContains(t, reads.body, `name="word"`)
	require.Len(t, c.calls("POST"), 6)
}

func TestRollbackThatIsNotAllowedSaysWhy(t *testing.T) {
	t.Parallel()
	plan := scalePlan(4, 4, func(p *protocol.Plan) {
		p.Refusal = &protocol.PlanRefusal{ErrorCode: protocol.CodeRollbackNotAllowed, Message: "it is finished"}
	})
	at := migrationAt + "/rollback"
	c := newRollback(t, &plan, protocol.MigrationDeprecated)
	page := c.get(t, ops(), at)
	require.Contains(t, page.body, "it is finished")
	require.Contains(t, page.body, "scale the stream back instead")
	require.NotContains(t, page.body, `name="word"`)
	filled := url.Values{"word": {"orders"}, "reason": {"r"}, "once": {"k"}, "plan": {"p"}}
	require.Equal(t, http.StatusConflict, c.post(t, ops(), at, filled).status)
	undone := newRollback(t, &plan, protocol.MigrationRollingBack)
	require.Equal(t, migrationAt+"?done=rolledback", undone.post(t, ops(), at, filled).header.Get("Location"), "it was sent before")

	forbidden := newConsole(t)
	forbidden.refuses("GET /monitoring/streams/orders/groups/readers/migrations", protocol.CodeForbidden, "no")
	require.Equal(t, http.StatusForbidden, forbidden.get(t, reader(), at).status, "who may not look sees no page")
	forbidden.refuses("POST "+migrationAPIAt+"/rollback", protocol.CodeForbidden, "no")
	require.Equal(t, http.StatusForbidden, forbidden.post(t, reader(), at, filled).status)
}

// L9.
func TestAShardIsConfirmedByItsIndexAndAReason(t *testing.T) {
	t.Parallel()
	at, api := migrationAt+"/confirm-drain", "/coord/v1"+migrationAPIAt+"/confirm-drain"
	c := newConsole(t)
	c.answers("GET "+migrationAPIAt, draining(func(d *protocol.ShardDrain) { d.Reason, d.Lag = new(protocol.DrainLagUnknown), nil }))
	c.answers("POST "+migrationAPIAt+"/confirm-drain", draining())
	require.Contains(t, c.get(t, ops(), migrationAt).body, `href="`+at+`?shard=4"`)
	require.NotContains(t, c.get(t, reader(), migrationAt).body, "confirm-drain")
	page := c.get(t, ops(), at+"?shard=4")
	require.Contains(t, page.body, "You vouch that every record of this shard was handled")
	require.Contains(t, page.body, "lag –", "an unknown lag is not 0")
	values := form(t, page)
	values.Set("word", "4")
	values.Set("reason", "entries were deleted by hand")
	for field, value := range map[string]string{"word": "5", "reason": "", "shard": "x"} {
		bad := url.Values{}
		for name := range values {
			bad.Set(name, values.Get(name))
		}
		bad.Set(field, value)
		require.Equal(t, http.StatusBadRequest, c.post(t, ops(), at, bad).status, field)
	}
	require.Empty(t, c.calls("POST"))
	got := c.post(t, ops(), at, values)
	require.Equal(t, migrationAt+"?done=confirmed", got.header.Get("Location"), got.body)
	require.Equal(t, []call{{"POST", api, "", `{"shardIndex":4,"requestedBy":"ops","reason":"entries were deleted by hand"}`, "ops"}}, c.calls("POST"))

	require.Contains(t, c.get(t, ops(), at+"?shard=5").body, "word does not do for this shard")
	require.Contains(t, c.get(t, ops(), at+"?shard=77").body, "removes no shard with that index")
	require.NotContains(t, c.get(t, reader(), at+"?shard=4").body, `name="word"`)
}

func TestAShardThatCannotBeConfirmedKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	at := migrationAt + "/confirm-drain"
	values := url.Values{"shard": {"4"}, "word": {"4"}, "reason": {"because"}, "once": {"k"}}
	c := newConsole(t)
	c.answers("GET "+migrationAPIAt, draining(func(d *protocol.ShardDrain) { d.Reason = new(protocol.DrainLagContradicts) }))
	c.refuses("POST "+migrationAPIAt+"/confirm-drain", protocol.CodeDrainNotConfirmable, "shard 4 is UNREAD")
	got := c.post(t, ops(), at, values)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "shard 4 is UNREAD")
	require.Equal(t, "because", form(t, got).Get("reason"))
	require.NotEqual(t, "k", form(t, got).Get("once"))

	forbidden := newConsole(t)
	forbidden.answers("GET "+migrationAPIAt, draining(func(d *protocol.ShardDrain) { d.Reason = new(protocol.DrainLagUnknown) }))
	forbidden.refuses("POST "+migrationAPIAt+"/confirm-drain", protocol.CodeForbidden, "no")
	require.Equal(t, http.StatusForbidden, forbidden.post(t, reader(), at, values).status)
}

func TestAMigrationIsKeptUpToDateForAllWhoLook(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	var asked, state atomic.Int64
	c.api.HandleFunc("GET /coord/v1"+migrationAPIAt, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		of := draining()
		if state.Load() > 0 {
			of.State, of.RollbackAllowed = protocol.MigrationDeprecated, false
		}
		_ = json.NewEncoder(w).Encode(of)
	})
	c.answers("GET /monitoring/streams/orders/groups/readers/migrations", protocol.MigrationsResponse{})
	c.api.HandleFunc("GET /coord/v1/monitoring/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("event: shards\ndata: {\"shards\":[{\"shardIndex\":4,\"timeToDrainSeconds\":90}]}\n\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	var streams []*bufio.Scanner
	target := "/console/live?page=migration&stream=orders&group=readers&id=R-1"
	for _, who := range []user{ops(), reader(), reader()} {
		answer, err := http.DefaultClient.Do(c.request(t, who, http.MethodGet, target, nil))
		require.NoError(t, err)
		t.Cleanup(func() { _ = answer.Body.Close() })
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		streams = append(streams, lines)
	}
	for at, lines := range streams {
		event := nextEvent(t, lines)
		require.Contains(t, event, "1 min 30 s")
		require.Equal(t, at == 0, strings.Contains(event, "/rollback"), "only who may change it is offered to")
	}
	state.Store(1)
	for _, lines := range streams {
		for event := nextEvent(t, lines); !strings.Contains(event, "DEPRECATED"); {
			event = nextEvent(t, lines)
		}
	}
	over := asked.Load()
	for _, lines := range streams { // rounds go on
		nextEvent(t, lines)
		nextEvent(t, lines)
	}
	require.Equal(t, over, asked.Load(), "what is over is not asked for again")
}

func TestNobodyIsKeptUpToDateOfAMigrationWithoutTheRight(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.refuses("GET /monitoring/streams/orders/groups/readers/migrations", protocol.CodeForbidden, "no")
	require.Equal(t, 403, c.get(t, reader(), "/console/live?page=migration&stream=orders&group=readers&id=R-1").status)
	require.Equal(t, 404, c.get(t, reader(), "/console/live?page=migration&stream=&group=&id=R-1").status)
}
