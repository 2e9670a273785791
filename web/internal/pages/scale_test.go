package pages_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	scaleAt    = "/console/streams/orders/groups/readers/scale"
	groupAPIAt = "/streams/orders/groups/readers"
	scaleAPIAt = "/coord/v1/streams/orders/scale"
)

// scaling is a console before an API that plans and makes changes of the shard count.
type scaling struct {
	*console

	mu sync.Mutex
	// plan is what the API plans now, refuse what it refuses a change with; empty for nothing.
	plan   protocol.Plan
	refuse protocol.Code
	// busy is how often changes are refused as the first under their key is under way.
	busy int
	// away has something else than the gateway answer changes.
	away bool
	// keys are those that changes came under.
	keys []string
}

func scalePlan(from, to int, change ...func(*protocol.Plan)) protocol.Plan {
	plan := protocol.Plan{
		Action: protocol.PlanScale, StreamPrefix: "orders", FromShardCount: from, ToShardCount: to,
		Groups: []protocol.GroupPlan{{ConsumerGroup: "readers", Moves: []protocol.MemberMove{{MemberID: "m-1", Gains: []int{4, 5}}}}},
	}
	for at := from; at < to; at++ {
		plan.ShardsAdded = append(plan.ShardsAdded, at)
	}
	for at := to; at < from; at++ {
		plan.ShardsRemoved = append(plan.ShardsRemoved, at)
	}
	for _, apply := range change {
		apply(&plan)
	}
	return plan
}

func newScaling(t *testing.T, group protocol.GroupResponse) *scaling {
	t.Helper()
	s := &scaling{console: newConsole(t), plan: scalePlan(4, 6)}
	s.answers("GET "+groupAPIAt, group)
	s.api.HandleFunc("POST "+scaleAPIAt, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.URL.Query().Get("dryRun") == "true" {
			_ = json.NewEncoder(w).Encode(s.plan)
			return
		}
		s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
		if s.away {
			http.Error(w, "<html>bad gateway</html>", http.StatusBadGateway)
			return
		}
		if s.busy > 0 {
			s.busy--
			refuse(w, protocol.CodeIdempotencyKeyInUse, "under way")
			return
		}
		if s.refuse != "" {
			refuse(w, s.refuse, "<i>because</i>")
			return
		}
		w.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(w).Encode(protocol.StreamScaleResponse{Migrations: []protocol.Migration{{ReshardingID: "R-1"}}})
	})
	return s
}

func (s *scaling) set(change func(s *scaling)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// changes are the changes that the API was asked for, without plans.
func (s *scaling) changes() []call {
	var made []call
	for _, each := range s.calls("POST") {
		if each.query == "" {
			made = append(made, each)
		}
	}
	return made
}

// form reads the form that confirms a change out of a page.
func form(t *testing.T, page said) url.Values {
	t.Helper()
	_, html, found := strings.Cut(page.body, `<form class="card stack"`)
	require.True(t, found, "the page has the form:\n%s", page.body)
	html, _, _ = strings.Cut(html, "</form>")
	values := url.Values{}
	for _, field := range regexp.MustCompile(`name="([a-z]+)" value="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		values.Set(field[1], field[2])
	}
	require.Equal(t, formToken, values.Get("csrf"))
	return values
}

// confirmed returns a page's form as somebody fills it in who means it.
func confirmed(t *testing.T, page said) url.Values {
	t.Helper()
	values := form(t, page)
	values.Set("word", "orders")
	values.Set("reason", "more load")
	return values
}

func readers() protocol.GroupResponse {
	return protocol.GroupResponse{StreamPrefix: "orders", ConsumerGroup: "readers", ShardCount: 4}
}

// Monitoring, Console: plan first, confirmed by typing the name.
func TestScaleIsPlannedThenConfirmedThenMadeOnce(t *testing.T) {
	t.Parallel()
	s := newScaling(t, readers())
	s.plan.Warnings = []string{"producers that cannot bear duplicates should pause"}
	page := s.get(t, ops(), scaleAt)
	require.Equal(t, http.StatusOK, page.status)
	require.Contains(t, page.body, `name="to"`)
	require.Contains(t, page.body, "The stream has 4 shards.")
	require.NotContains(t, page.body, `name="word"`)
	require.Empty(t, s.calls("POST"), "nothing was asked for")

	page = s.get(t, ops(), scaleAt+"?to=6")
	require.Equal(t, http.StatusOK, page.status)
	for _, says := range []string{"Plan: 4 → 6 shards", "4–5", "readers / ", "m-1", "cannot bear duplicates", "Shards 4–5 are made first", `pattern="orders"`} {
		require.Contains(t, page.body, says)
	}
	plans := s.calls("POST")
	require.Len(t, plans, 1)
	require.Equal(t, call{"POST", scaleAPIAt, "dryRun=true", `{"targetShardCount":6,"requestedBy":"ops","reason":"plan shown by the console"}`, "ops"}, plans[0])

	values := confirmed(t, page)
	require.Len(t, values.Get("once"), 26)
	done := s.post(t, ops(), scaleAt, values)
	require.Equal(t, http.StatusSeeOther, done.status, done.body)
	require.Equal(t, "/console/streams/orders/groups/readers/migrations/R-1?done=scaled", done.header.Get("Location"))
	require.Equal(t, []call{{"POST", scaleAPIAt, "", `{"targetShardCount":6,"requestedBy":"ops","reason":"more load"}`, "ops"}}, s.changes())

	s.post(t, ops(), scaleAt, values)
	require.Equal(t, []string{values.Get("once"), values.Get("once")}, s.keys, "a form that is sent again says that it is the same")
	require.NotEqual(t, values.Get("once"), form(t, s.get(t, ops(), scaleAt+"?to=6")).Get("once"), "each page has its own key")
}

func TestScaleIsNotMadeWithoutNameReasonAndPlan(t *testing.T) {
	t.Parallel()
	s := newScaling(t, readers())
	good := confirmed(t, s.get(t, ops(), scaleAt+"?to=6"))
	for _, want := range []struct {
		field, value string
		status       int
		says         string
	}{
		{"word", "", 400, "Type exactly orders"},
		{"word", "Orders", 400, "Type exactly orders"},
		{"word", "order.", 400, "Type exactly orders"},
		{"reason", "", 400, "Say why"},
		{"reason", " \t ", 400, "Say why"},
		{"reason", strings.Repeat("r", 501), 400, "too long"},
		{"reason", strings.Repeat("\u20ac", 342), 400, "too long"},
		{"to", "", 400, "Type a whole number"},
		{"to", "-1", 400, "Type a whole number"},
		{"to", "+6", 400, "Type a whole number"},
		{"to", "six", 400, "Type a whole number"},
		{"to", "6.5", 400, "Type a whole number"},
		{"to", strings.Repeat("9", 30), 400, "Type a whole number"},
		{"plan", "", 409, "the plan is no longer the one"},
		{"plan", "0123", 409, "the plan is no longer the one"},
		{"once", "", 400, "the key of a change has 1 to 128 characters"},
		{"once", "a\nb", 400, "printable ASCII"},
	} {
		values := url.Values{}
		for name := range good {
			values.Set(name, good.Get(name))
		}
		values.Set(want.field, want.value)
		got := s.post(t, ops(), scaleAt, values)
		require.Equal(t, want.status, got.status, "%s=%q", want.field, want.value)
		require.Contains(t, got.body, want.says, "%s=%q", want.field, want.value)
		require.Equal(t, want.field == "word" || want.field == "reason", strings.Contains(got.body, `href="#word"`), "%s=%q", want.field, want.value)
		if want.field != "to" {
			again := form(t, got)
			require.Equal(t, strings.TrimSpace(values.Get("reason")), again.Get("reason"), "what was typed is kept")
			require.Equal(t, values.Get("word"), again.Get("word"))
			require.Equal(t, "6", again.Get("to"))
			require.NotEmpty(t, again.Get("plan"), "what is shown can be confirmed")
		}
	}
	require.Empty(t, s.changes(), "nothing was changed")
	broken := s.request(t, ops(), http.MethodPost, scaleAt, url.Values{"to": {"6"}})
	broken.Body = http.NoBody
	broken.ContentLength = 0
	require.Equal(t, http.StatusBadRequest, send(t, broken).status)
	require.Equal(t, http.StatusBadRequest, s.post(t, ops(), scaleAt, url.Values{"to": {"6"}, "reason": {strings.Repeat("x", 70<<10)}}).status)
	require.Empty(t, s.changes())
}

func TestScaleToTheCountThereIsSaysThatNothingChanges(t *testing.T) {
	t.Parallel()
	s := newScaling(t, readers())
	s.plan = scalePlan(4, 4)
	page := s.get(t, ops(), scaleAt+"?to=4")
	require.Contains(t, page.body, "nothing would change")
	require.NotContains(t, page.body, `name="word"`)
	s.post(t, ops(), scaleAt, url.Values{"to": {"4"}, "word": {"orders"}, "reason": {"r"}, "once": {"k"}})
	require.Empty(t, s.changes())
}

func TestScaleWithAPlanThatHasChangedShowsTheNewOne(t *testing.T) {
	t.Parallel()
	s := newScaling(t, readers())
	values := confirmed(t, s.get(t, ops(), scaleAt+"?to=6"))
	s.set(func(s *scaling) { s.plan = scalePlan(5, 6) })
	got := s.post(t, ops(), scaleAt, values)
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.body, "the plan is no longer the one that you confirmed")
	require.Contains(t, got.body, "Plan: 5 → 6 shards")
	require.Empty(t, s.changes())
	again := form(t, got)
	require.Equal(t, "more load", again.Get("reason"))
	require.Equal(t, http.StatusSeeOther, s.post(t, ops(), scaleAt, again).status, "the new one can be confirmed")
	require.Len(t, s.changes(), 1)
}

func TestScaleWhileAnotherIsUnderWayLeadsToThat(t *testing.T) {
	t.Parallel()
	group := readers()
	group.ActiveMigration = &protocol.Migration{ReshardingID: "R-9", ToShardCount: 6, RequestedBy: new("ops"), Reason: new("more load")}
	s := newScaling(t, group)
	values := confirmed(t, s.get(t, ops(), scaleAt+"?to=6"))
	s.set(func(s *scaling) {
		s.plan = scalePlan(4, 6, func(p *protocol.Plan) {
			p.Refusal = &protocol.PlanRefusal{ErrorCode: protocol.CodeActiveMigrationExists, Message: "R-9 is under way"}
		})
	})
	page := s.get(t, ops(), scaleAt+"?to=6")
	require.Contains(t, page.body, "R-9 is under way")
	require.Contains(t, page.body, "ACTIVE_MIGRATION_EXISTS")
	require.Contains(t, page.body, `href="/console/streams/orders/groups/readers/migrations/R-9"`)
	require.NotContains(t, page.body, `name="word"`)

	got := s.post(t, ops(), scaleAt, values)
	require.Equal(t, "/console/streams/orders/groups/readers/migrations/R-9?done=same", got.header.Get("Location"), "the same form has begun it")
	values.Set("reason", "another reason")
	got = s.post(t, ops(), scaleAt, values)
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.body, "R-9 is under way")
	require.NotContains(t, got.body, "no longer the one that you confirmed", "it was begun by somebody else")
	require.Empty(t, s.changes())
}

func TestScaleThatTheAPIRefusesKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		code   protocol.Code
		advice string
		same   bool // the form may be sent again under its key
	}{
		{protocol.CodeActiveMigrationExists, "wait until it is over, or roll it back", true},
		{protocol.CodeMetadataSyncInProgress, "Try again in some seconds", true},
		{protocol.CodeMetadataMissing, "repaired first", false},
		{protocol.CodeRedisNotConfigured, "without provisioning", false},
		{protocol.CodeRateLimitExceeded, "Wait a minute", true},
		{protocol.CodeIdempotencyKeyReused, "not carried out a second time", false},
		{protocol.CodeIdempotencyKeyInUse, "is being carried out", true},
		{protocol.CodeAuditUnavailable, "Try again in a few seconds", true},
		{protocol.CodeInternal, "Try again in a few seconds", true},
		{protocol.CodeInvalidRequest, "INVALID_REQUEST", false},
	} {
		code := want.code
		s := newScaling(t, readers())
		s.refuse = code
		values := confirmed(t, s.get(t, ops(), scaleAt+"?to=6"))
		got := s.post(t, ops(), scaleAt, values)
		require.Equal(t, protocol.FaultOf(code).Status, got.status, code)
		require.Contains(t, got.body, want.advice, code)
		require.Contains(t, got.body, string(code))
		require.Contains(t, got.body, "&lt;i&gt;because&lt;/i&gt;", code)
		require.Contains(t, got.body, `role="alert"`)
		again := form(t, got)
		require.Equal(t, "more load", again.Get("reason"), code)
		require.Equal(t, "orders", again.Get("word"), code)
		require.Equal(t, want.same, again.Get("once") == values.Get("once"), code)
	}
}

func TestScaleWithoutAnAnswerCanBeSentAgain(t *testing.T) {
	t.Parallel()
	s := newScaling(t, readers())
	values := confirmed(t, s.get(t, ops(), scaleAt+"?to=6"))
	s.set(func(s *scaling) { s.away = true })
	got := s.post(t, ops(), scaleAt, values)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Contains(t, got.body, "may have been made or not")
	s.set(func(s *scaling) { s.away = false })
	again := form(t, got)
	require.Equal(t, values.Get("once"), again.Get("once"))
	require.Equal(t, http.StatusSeeOther, s.post(t, ops(), scaleAt, again).status)
	require.Equal(t, []string{values.Get("once"), values.Get("once")}, s.keys)
}

func TestScaleThatIsSentTwiceWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	s := newScaling(t, readers())
	values := confirmed(t, s.get(t, ops(), scaleAt+"?to=6"))
	s.set(func(s *scaling) { s.busy = 2 })
	got := s.post(t, ops(), scaleAt, values)
	require.Equal(t, "/console/streams/orders/groups/readers/migrations/R-1?done=scaled", got.header.Get("Location"))
	require.Len(t, s.keys, 3)
}

// Gateway, Authorise: the API decides, the console shows no form that would be refused.
func TestReadersSeeNoFormAndTheirChangesAreRefused(t *testing.T) {
	t.Parallel()
	s := newScaling(t, readers())
	values := confirmed(t, s.get(t, ops(), scaleAt+"?to=6"))
	before := len(s.calls("POST"))
	page := s.get(t, reader(), scaleAt+"?to=6")
	require.Equal(t, http.StatusOK, page.status)
	require.Contains(t, page.body, "You may look only")
	require.NotContains(t, page.body, `name="to"`)
	require.NotContains(t, page.body, `name="word"`)
	require.Len(t, s.calls("POST"), before, "nothing is asked that would be refused")

	forbidden := newConsole(t)
	forbidden.answers("GET "+groupAPIAt, readers())
	forbidden.refuses("POST /streams/orders/scale", protocol.CodeForbidden, "WRITE is needed")
	got := forbidden.post(t, reader(), scaleAt, values)
	require.Equal(t, http.StatusForbidden, got.status)
	require.Contains(t, got.body, "Not allowed")
	require.Equal(t, "reader", forbidden.calls("POST")[0].subject)
	require.Equal(t, "/console/login", s.post(t, user{}, scaleAt, values).header.Get("Location"))
}

func TestScaleOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.refuses("GET "+groupAPIAt, protocol.CodeGroupNotFound, "no such group")
	require.Equal(t, http.StatusNotFound, c.get(t, ops(), scaleAt+"?to=6").status)
	for _, path := range []string{"a%2Fb/groups/g", "%22%3E/groups/g", "s/groups/a:b", "..%2f/groups/g", "s/groups/%00"} {
		require.Equal(t, http.StatusNotFound, c.get(t, ops(), "/console/streams/"+path+"/scale").status, path)
		require.Equal(t, http.StatusNotFound, c.post(t, ops(), "/console/streams/"+path+"/scale", url.Values{}).status, path)
	}
	d := newConsole(t)
	d.answers("GET "+groupAPIAt, readers())
	d.refuses("POST /streams/orders/scale", protocol.CodeInvalidRequest, "targetShardCount must be between 0 and 4096")
	page := d.get(t, ops(), scaleAt+"?to=5000")
	require.Equal(t, http.StatusBadRequest, page.status)
	require.Contains(t, page.body, "must be between 0 and 4096")
	require.Contains(t, page.body, `value="5000"`)
}

// Reliability, Console, XSS; F38.
func TestFieldF38PlansAndReasonsAreInert(t *testing.T) {
	t.Parallel()
	evil := `"><script>alert(1)</script>`
	s := newScaling(t, readers())
	s.plan.Groups = []protocol.GroupPlan{{ConsumerGroup: evil, Moves: []protocol.MemberMove{{MemberID: evil, Gains: []int{4}}}}}
	s.plan.Warnings = []string{evil}
	page := s.get(t, ops(), scaleAt+"?to=6")
	values := confirmed(t, page)
	values.Set("word", evil)
	values.Set("reason", evil)
	values.Set("once", evil)
	for _, got := range []said{
		page, s.post(t, ops(), scaleAt, values), s.get(t, ops(), scaleAt+"?to="+url.QueryEscape(evil)),
		s.get(t, ops(), scaleAt+"?to=6&done="+url.QueryEscape(evil)), s.post(t, ops(), scaleAt, url.Values{"to": {evil}}),
	} {
		require.NotContains(t, got.body, "<script>alert")
		require.NotContains(t, got.body, evil)
	}
	require.Empty(t, s.changes())
}

func TestScaleOfEveryNameThatAStreamMayHave(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	const name = "shop:orders@eu.1+a_b-c"
	c.answers("GET /streams/"+name+"/groups/g+1", protocol.GroupResponse{ShardCount: 4})
	c.answers("POST /streams/"+name+"/scale", scalePlan(4, 6))
	for _, spelled := range []string{name, url.PathEscape(name), "shop%3Aorders%40eu.1%2Ba_b-c"} {
		page := c.get(t, ops(), "/console/streams/"+spelled+"/groups/g%2B1/scale?to=6")
		require.Equal(t, http.StatusOK, page.status, spelled)
		require.Contains(t, page.body, `action="/console/streams/`+name+`/groups/g+1/scale"`, spelled)
		require.Contains(t, page.body, `pattern="shop:orders@eu\.1\+a_b-c"`)
	}
}

// Reliability, Console: large tables.
func TestAPlanOfManyMembersIsPaged(t *testing.T) {
	t.Parallel()
	s := newScaling(t, readers())
	s.plan = scalePlan(0, 4096)
	s.plan.Groups[0].Moves = nil
	for range 10_000 {
		s.plan.Groups[0].Moves = append(s.plan.Groups[0].Moves, protocol.MemberMove{MemberID: "member", Gains: []int{1, 3, 5, 7}})
	}
	page := s.get(t, ops(), scaleAt+"?to=4096")
	require.Less(t, len(page.body), 300_000)
	require.Equal(t, 100, strings.Count(page.body, `<span class="id">member</span>`))
	require.Contains(t, page.body, `?at=2&amp;to=4096"`)
	require.Contains(t, s.get(t, ops(), scaleAt+"?to=4096&at=100").body, "9\u202f901–10\u202f000 of 10\u202f000")
}
