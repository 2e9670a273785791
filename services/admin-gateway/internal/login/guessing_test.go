package login_test

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/address"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

const elsewhere = "198.51.100.7"

func requireLocked(t testing.TB, got said) {
	t.Helper()
	require.Equal(t, http.StatusTooManyRequests, got.status, got.body)
	require.Equal(t, protocol.CodeRateLimitExceeded, got.code(t))
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, seconds)
	require.LessOrEqual(t, seconds, 300)
	require.Contains(t, got.body, fmt.Sprintf("try again in %d s", seconds))
	require.Empty(t, got.header.Get("WWW-Authenticate"))
}

// Reliability, Login and tokens: lock-out.
func TestEleventhGuessIsRefusedWhateverItIsAndForWhomever(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	var bodies []string
	for _, name := range []string{"ops", "nobody"} {
		for range 10 {
			require.Equal(t, http.StatusUnauthorized, g.try(t, name, wrong, elsewhere).status)
		}
		require.Equal(t, 10, g.hashes())
		for _, password := range []string{wrong, right} {
			got := g.try(t, name, password, elsewhere)
			requireLocked(t, got)
			bodies = append(bodies, got.body)
		}
		requireLocked(t, g.ask(t, asked{route: readRoute, from: elsewhere}.basic(name, right)))
		require.Zero(t, g.hashes())
	}
	for _, body := range bodies {
		require.Equal(t, bodies[0], body)
	}
	g.clock.pass(time.Second)
	require.Equal(t, http.StatusOK, g.try(t, "ops", right, elsewhere).status, "it is not for ever")
}

func TestThirtyFirstGuessFromAnAddressIsRefusedAndOtherAddressesAreNot(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for i := range 30 {
		require.Equal(t, http.StatusUnauthorized, g.try(t, fmt.Sprintf("user-%d", i), wrong, elsewhere).status)
	}
	requireLocked(t, g.try(t, "ops", right, elsewhere))
	requireLocked(t, g.ask(t, asked{route: readRoute, from: elsewhere}.basic("ops", right)))
	require.Equal(t, http.StatusOK, g.try(t, "ops", right, home).status)
	token := g.token(t, "ops")
	require.True(t, g.ask(t, asked{route: readRoute, from: elsewhere}.bearer(token)).passed, "tokens are not guessed at")
}

// Reliability, Login and tokens: parallel tries counted atomically.
func TestHundredGuessesAtOnceAreNotMoreThanTen(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(*gate, int) said{
		"login": func(g *gate, i int) said { return g.try(t, "ops", wrong+strconv.Itoa(i), elsewhere) },
		"basic": func(g *gate, i int) said {
			return g.ask(t, asked{route: readRoute, from: elsewhere}.basic("ops", wrong+strconv.Itoa(i)))
		},
		"many addresses": func(g *gate, i int) said { return g.try(t, "ops", wrong+strconv.Itoa(i), numbered(i).String()) },
		"both ways": func(g *gate, i int) said {
			if i%2 == 0 {
				return g.try(t, "ops", wrong+strconv.Itoa(i), elsewhere)
			}
			return g.ask(t, asked{route: readRoute, from: elsewhere}.basic("ops", wrong+strconv.Itoa(i)))
		},
	} {
		g := newGate(t)
		statuses := make(chan int, 100)
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { statuses <- send(g, i).status })
		}
		all.Wait()
		close(statuses)
		count := map[int]int{}
		for status := range statuses {
			count[status]++
		}
		require.Equal(t, map[int]int{http.StatusUnauthorized: 10, http.StatusTooManyRequests: 90}, count, name)
		require.Equal(t, 10, g.hashes(), name)
	}
}

// F37: a lock-out cannot be aimed at another address.
func TestFieldF37LockIsForTheAddressThatIsBelievedAndCannotBeAimed(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	resolver, err := address.New(nil)
	require.NoError(t, err)
	spoofed := func(claimed string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gateway.example/", http.NoBody)
		require.NoError(t, err)
		r.RemoteAddr = elsewhere + ":4711"
		r.Header.Set("X-Forwarded-For", claimed)
		r.Header.Set("X-Real-IP", claimed)
		return resolver.Client(r).Address.String()
	}
	hashed := 0
	for i := range 1000 {
		g.try(t, fmt.Sprintf("user-%d", i), wrong, spoofed(fmt.Sprintf("203.0.113.%d", i%256)))
		g.try(t, fmt.Sprintf("user-%d", i), wrong, spoofed(home))
		hashed += g.hashes()
	}
	require.Equal(t, 30, hashed, "1,000 logins with an address of their own each are from one")
	require.Equal(t, http.StatusOK, g.try(t, "ops", right, home).status, "the address that was named is not locked")
	requireLocked(t, g.try(t, "ops", right, elsewhere))
}

func TestUserIsNotLockedOutFromItsAddressWhileItsAccountIsGuessedAt(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	token := g.token(t, "ops") // from home
	for i := range 1000 {
		g.try(t, "ops", wrong, numbered(i).String())
	}
	requireLocked(t, g.try(t, "ops", right, elsewhere))
	require.Equal(t, http.StatusOK, g.try(t, "ops", right, home).status)
	require.True(t, g.ask(t, asked{route: readRoute}.basic("ops", right)).passed)
	require.True(t, g.ask(t, asked{route: readRoute, from: elsewhere}.bearer(token)).passed)
}

func TestCallerWhoGoesAwayHasGuessedAllTheSame(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	gone, cancel := canceled(t)
	cancel()
	for range 10 {
		g.ask(t, asked{route: loginRoute, body: credentials("ops", wrong), from: elsewhere, ctx: gone})
	}
	requireLocked(t, g.try(t, "ops", right, elsewhere))
}

// The right password is known from the check before: who is locked must not find it there.
func TestRememberedCheckIsNoWayAroundALock(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	require.True(t, g.ask(t, asked{route: readRoute}.basic("ops", right)).passed)
	for i := range 10 {
		g.ask(t, asked{route: readRoute, from: elsewhere}.basic("ops", wrong+strconv.Itoa(i)))
	}
	requireLocked(t, g.ask(t, asked{route: readRoute, from: elsewhere}.basic("ops", right)))
	require.True(t, g.ask(t, asked{route: readRoute}.basic("ops", right)).passed)
}

// Gateway, Authentication: a successful basic-auth check is remembered 60 s.
func TestBasicCheckIsRememberedForAMinute(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	ask := asked{route: readRoute}.basic("ops", right)
	for range 20 {
		require.True(t, g.ask(t, ask).passed)
	}
	require.Equal(t, 1, g.hashes())
	g.clock.pass(time.Minute - time.Nanosecond)
	require.True(t, g.ask(t, ask).passed)
	require.Zero(t, g.hashes())
	g.clock.pass(time.Nanosecond)
	require.True(t, g.ask(t, ask).passed)
	require.Equal(t, 1, g.hashes(), "use does not make it longer")

	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.basic("ops", wrong)).status)
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.basic("reader", wrong)).status)
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.basic("op", "s"+right)).status)
	require.Equal(t, 3, g.hashes(), "what is wrong is never remembered")

	g.users.Replace(g.table(t, users.User{Name: "ops", Hash: cheap()}))
	g.ask(t, ask)
	require.Equal(t, 1, g.hashes(), "a new table forgets")
	g.try(t, "ops", right, "")
	require.Equal(t, 1, g.hashes(), "a login always hashes")
}

// A dashboard asks with all its panels at once, and processes start together.
func TestEqualChecksAtOnceAreOne(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(*gate, int) said{
		"panels":    func(g *gate, _ int) said { return g.ask(t, asked{route: readRoute}.basic("ops", right)) },
		"processes": func(g *gate, i int) said { return g.try(t, "ops", right, numbered(i).String()) },
	} {
		g := newGate(t)
		entered, leave := make(chan struct{}, 200), make(chan struct{})
		g.hold = func() { entered <- struct{}{}; <-leave }
		statuses := make(chan int, 100)
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { statuses <- send(g, i).status })
		}
		<-entered
		close(leave)
		all.Wait()
		close(statuses)
		for status := range statuses {
			require.Equal(t, http.StatusOK, status, name)
		}
		if name == "panels" { // logins that come later hash again
			require.Equal(t, 1, g.hashes())
		}
	}
}

// Whoever guesses from many addresses must not fill the gateway with waiting requests.
func TestNoMoreThanSixtyFourChecksAreUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		token := g.token(t, "reader")
		entered, leave := make(chan struct{}, 200), make(chan struct{})
		g.hold = func() { entered <- struct{}{}; <-leave }
		statuses := make(chan int, 200)
		began := time.Now()
		var all sync.WaitGroup
		defer all.Wait()
		defer close(leave)
		for i := range 200 {
			all.Go(func() { statuses <- g.try(t, fmt.Sprintf("user-%d", i), wrong, numbered(i).String()).status })
		}
		<-entered
		for range 200 - 64 {
			require.Equal(t, http.StatusServiceUnavailable, <-statuses)
		}
		got := g.try(t, "ops", right, "")
		require.Zero(t, time.Since(began), "at once, not after 5 seconds of waiting")
		require.Equal(t, protocol.CodeOverloaded, got.code(t))
		require.Equal(t, "1", got.header.Get("Retry-After"))
		require.True(t, g.ask(t, asked{route: readRoute}.bearer(token)).passed)
	})
}

func TestPasswordChangedByATableIsTheOneThatCounts(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	require.True(t, g.ask(t, asked{route: readRoute}.basic("ops", right)).passed)
	g.users.Replace(g.table(t, users.User{Name: "ops", Password: "another one"}))
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.basic("ops", right)).status)
}

// Whoever was removed while the password was hashed is not let in.
func TestUserRemovedDuringACheckIsOut(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]asked{
		"login": {route: loginRoute, body: credentials("ops", right)},
		"basic": asked{route: readRoute}.basic("ops", right),
	} {
		g := newGate(t)
		nobody := g.table(t)
		g.hold = func() { g.users.Replace(nobody) }
		require.Equal(t, http.StatusUnauthorized, g.ask(t, ask).status, name)
	}
}

// Reliability, Login and tokens: timing printed. The figures are for reading; a machine
// under load says nothing exact.
func TestTimeOfALoginIsPrinted(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	slow, err := users.NewTable([]users.User{{Name: "ops", Password: right}})
	require.NoError(t, err)
	g.users.Replace(slow)
	for _, one := range [][2]string{{"ops", right}, {"ops", wrong}, {"nobody", wrong}} {
		least := time.Duration(math.MaxInt64)
		for range 3 {
			began := time.Now()
			g.try(t, one[0], one[1], "")
			least = min(least, time.Since(began))
		}
		t.Logf("%s with %s: %s at least", one[0], one[1], least)
	}
}

// Reliability, Audit and logs: no password, no token (canaries of C9).
func TestNoPasswordAndNoTokenIsLoggedOrEchoed(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	token := g.token(t, "ops")
	cookie, id := g.cookieOf(t, "ops")
	canaries := []string{"canary", token, token[:40], token[len(token)-40:], cookie, g.session.CSRF(id)}
	var answers []said
	note := func(ask asked) { answers = append(answers, g.ask(t, ask)) }
	for _, name := range []string{"ops", "nobody", wrong} { // a password in the wrong place too
		note(asked{route: loginRoute, body: credentials(name, wrong)})
		note(asked{route: readRoute}.basic(name, wrong))
	}
	note(asked{route: loginRoute, body: `{"username":"ops","password":"` + wrong})
	note(asked{route: loginRoute, body: `{"username":"ops","password":{"x":"` + wrong + `"}}`})
	note(asked{route: loginRoute, body: `{"username":"` + wrong + `\ud800","password":"x"}`})
	note(asked{route: readRoute}.with("Authorization", wrong))
	note(asked{route: readRoute}.with("Authorization", "Bearer "+wrong))
	note(asked{route: readRoute}.bearer(token[:len(token)-1]))
	note(asked{route: readRoute}.bearer(token + "x"))
	note(asked{route: readRoute}.bearer(token).bearer(token))
	note(asked{route: readRoute}.cookie(cookie[1:]))
	note(asked{route: readRoute}.cookie(token))
	note(asked{route: changeRoute}.cookie(cookie).with("X-CSRF-Token", wrong))
	note(asked{route: changeRoute}.bearer(g.token(t, "reader")))
	note(asked{route: readRoute}.basic("ops", right))
	note(asked{route: logoutRoute}.bearer(token))
	note(asked{route: readRoute}.bearer(token))
	for i := range 40 {
		note(asked{route: readRoute}.basic("ops", wrong+strconv.Itoa(i)))
	}
	g.mu.Lock()
	g.hold = func() { panic("hash with " + "nothing to hide") }
	g.mu.Unlock()
	require.Panics(t, func() { g.try(t, "reader", right, elsewhere) })
	lines := g.log.String()
	require.NotEmpty(t, lines)
	for _, canary := range canaries {
		require.NotContains(t, lines, canary)
		for _, one := range answers {
			require.NotContains(t, one.body, canary)
			require.NotContains(t, strings.Join(one.header.Values("Set-Cookie"), ""), canary)
			require.NotContains(t, strings.Join(one.header.Values("WWW-Authenticate"), ""), canary)
		}
	}
}

func TestPanicOfAHashLeavesNothingUnderWay(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	g.hold = func() { panic("broken") }
	for range 100 {
		require.Panics(t, func() { g.try(t, "ops", right, "") })
	}
	g.hold = nil
	require.Equal(t, http.StatusOK, g.try(t, "ops", right, "").status)
}
