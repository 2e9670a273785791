package browser_test

import (
	"context"
	_ "embed"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// goneWithin is how long after its death a member shows as gone: its lease, and two seconds.
	goneWithin = protocol.DefaultMemberLease + 2*time.Second
	// goneRounds is how many rounds of the monitor may pass between the coordinator's decision and
	// the page.
	goneRounds = 5
	// goneTries is how often a member is killed at most, until one shows in time: a machine that
	// stands still for a moment says nothing about the console.
	goneTries = 3
	// quickAnswer is how long the suite may take for an answer; what goes beyond is the machine's.
	quickAnswer = 250 * time.Millisecond
)

//go:embed testdata/watch.js
var watch string

// Monitoring, Console: a page that is open shows without being loaded again that a member was
// killed, who got its shards and why, within the member's lease and two seconds.
func TestAKilledMemberShowsInTimeOnAPageThatIsOpen(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo=false")
	s.create(t)
	s.consumes(t, "stays")
	w := s.signedIn(t, userOps)
	w.visit(bookingRoom)
	w.until(`document.querySelector("#live").textContent === "live"`)
	w.text("window.stays = 'this document'")
	for try := 1; ; try++ {
		took, allowed := s.kills(t, w, fmt.Sprintf("dies-%d", try))
		if took <= allowed {
			break
		}
		require.Less(t, try, goneTries, "none showed in time")
	}
	require.Equal(t, "this document", w.text("window.stays"), "the page was not loaded again")
	w.blameless()
}

// kills has a member join and be killed, and returns after how long the page showed that, and
// within what it had to.
func (s *suite) kills(t *testing.T, w *window, member string) (took, allowed time.Duration) {
	t.Helper()
	kill := s.consumes(t, member)
	w.until(fmt.Sprintf(`[...document.querySelectorAll("#shardmap tbody tr")].filter((row) =>
		row.children[1].textContent.trim() === %q && row.querySelector(".state.good")).length === %d`, member, paymentShards/2))
	require.True(t, eval[bool](w, fmt.Sprintf("(%s)(%q, %q)", watch, member, "stays")))
	w.until("window.watch.rounds.length > 0")
	slow := s.slowness(t)
	killed := time.Now()
	kill()
	w.until("window.watch.gone > 0 && window.watch.told !== ''")
	held := slow()
	allowed = goneWithin + held
	shown := time.UnixMilli(eval[int64](w, "window.watch.gone"))
	decided := s.expiry(t, member)
	rounds := eval[int](w, fmt.Sprintf("window.watch.rounds.filter((at) => Date.parse(at) > %d && at <= window.watch.told).length", decided.UnixMilli()))
	took = shown.Sub(killed)
	t.Logf("%s: lease %v, decided %v after the kill, shown after %v and %d rounds; the suite answered %v late in all",
		member, protocol.DefaultMemberLease, decided.Sub(killed).Round(time.Millisecond), took.Round(time.Millisecond), rounds, held.Round(time.Millisecond))
	require.LessOrEqual(t, rounds, goneRounds, "the console's part")
	return max(took, decided.Sub(killed)), allowed
}

// expiry returns when the coordinator gave a member up, by its flight recorder.
func (s *suite) expiry(t *testing.T, member string) time.Time {
	t.Helper()
	history, err := s.admin.Events(t.Context(), payments, booking, "", protocol.MaxEvents)
	require.NoError(t, err)
	for _, event := range history.Events {
		if event.Cause == protocol.EventExpire && event.MemberID != nil && *event.MemberID == member {
			return event.At.Time
		}
	}
	require.Fail(t, "the history does not tell of it", member)
	return time.Time{}
}

// slowness asks the suite for the group all the time, and returns what tells by how much its
// answers were late in all. It is a measure of the machine: a quick one is never late.
func (s *suite) slowness(t *testing.T) func() time.Duration {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	late := make(chan time.Duration, 1)
	go func() {
		var sum time.Duration
		for ctx.Err() == nil {
			asked := time.Now()
			_, _ = s.admin.Group(ctx, payments, booking)
			sum += max(0, time.Since(asked)-quickAnswer)
			select {
			case <-ctx.Done():
			case <-time.After(often):
			}
		}
		late <- sum
	}()
	t.Cleanup(stop)
	return func() time.Duration {
		stop()
		return <-late
	}
}
