package login_test

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/login"
)

var (
	attacker = netip.MustParseAddr("198.51.100.7")
	victim   = netip.MustParseAddr("192.0.2.1")
)

// numbered returns one of many addresses.
func numbered(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}

// fails lets tries fail as long as they are let by, and returns how many were.
func fails(locks *login.Lockout, tries int, account func(int) string, from func(int) netip.Addr) int {
	passed := 0
	for i := range tries {
		if attempt, _ := locks.Begin(account(i), from(i)); attempt != nil {
			attempt.Failed()
			passed++
		}
	}
	return passed
}

func always[T any](value T) func(int) T { return func(int) T { return value } }

func accounts(i int) string { return fmt.Sprintf("user-%d", i) }

func TestAccountHasTenFailuresFromAllAddressesTogether(t *testing.T) {
	t.Parallel()
	clock := newHand()
	locks := login.NewLockout(clock.Now)
	require.Equal(t, 10, fails(locks, 100, always("ops"), numbered))
	require.Equal(t, time.Second, locks.Wait("ops", numbered(3)))
	require.Zero(t, locks.Wait("other", numbered(3)))
}

func TestAddressHasThirtyFailuresForAllAccountsTogether(t *testing.T) {
	t.Parallel()
	clock := newHand()
	locks := login.NewLockout(clock.Now)
	require.Equal(t, 30, fails(locks, 100, accounts, always(attacker)))
	require.Equal(t, time.Second, locks.Wait("somebody", attacker))
	require.Zero(t, locks.Wait("somebody", victim))
}

func TestAddressesOfOneNetworkCountTogether(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]func(i int) netip.Addr{
		"IPv6 /64": func(i int) netip.Addr {
			return netip.MustParseAddr(fmt.Sprintf("2001:db8:1:2:%x:%x::%x", i, i*7, i+1))
		},
		"IPv4-mapped": func(i int) netip.Addr {
			return map[bool]netip.Addr{true: attacker, false: netip.AddrFrom16(attacker.As16())}[i%2 == 0]
		},
		"zones":   func(i int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("fe80::%x%%eth%d", i+1, i)) },
		"unknown": func(int) netip.Addr { return netip.Addr{} },
	} {
		locks := login.NewLockout(newHand().Now)
		require.Equal(t, 30, fails(locks, 100, accounts, from), name)
	}
	locks := login.NewLockout(newHand().Now)
	other := func(i int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("2001:db8:1:%x::1", i)) }
	require.Equal(t, 100, fails(locks, 100, accounts, other), "other networks count for themselves")
}

func TestPausesDoubleFromOneSecondToFiveMinutes(t *testing.T) {
	t.Parallel()
	clock := newHand()
	locks := login.NewLockout(clock.Now)
	fails(locks, 10, always("ops"), always(attacker))
	var pauses []int
	for range 12 {
		wait := locks.Wait("ops", attacker)
		pauses = append(pauses, int(wait.Seconds()))
		clock.pass(wait - time.Nanosecond)
		none, left := locks.Begin("ops", attacker)
		require.Nil(t, none, "the pause lasts to its end")
		require.Equal(t, time.Nanosecond, left)
		clock.pass(left)
		require.Equal(t, 1, fails(locks, 5, always("ops"), always(attacker)), "one try after a pause")
	}
	require.Equal(t, []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300}, pauses)
}

func TestFailureIsForgottenAfterFifteenMinutes(t *testing.T) {
	t.Parallel()
	clock := newHand()
	locks := login.NewLockout(clock.Now)
	fails(locks, 9, always("ops"), always(attacker))
	clock.pass(15*time.Minute - time.Nanosecond)
	require.Equal(t, 1, fails(locks, 5, always("ops"), always(attacker)), "the tenth within the window")
	clock.pass(15 * time.Minute)
	require.Equal(t, 10, fails(locks, 100, always("ops"), always(attacker)))
	clock.pass(15 * time.Minute)
	require.Equal(t, 10, fails(locks, 100, always("ops"), always(attacker)))
	require.Equal(t, time.Second, locks.Wait("ops", attacker), "pauses begin anew too")
}

func TestNoFifteenMinutesHoldMoreThanTenFailuresWithoutAPause(t *testing.T) {
	t.Parallel()
	clock := newHand()
	locks := login.NewLockout(clock.Now)
	for range 3 * 60 { // one every 5 seconds for a quarter of an hour, again and again
		fails(locks, 1, always("ops"), always(attacker))
		clock.pass(5 * time.Second)
	}
	require.Greater(t, locks.Wait("ops", attacker), time.Minute)
}

func TestRightPasswordForgetsTheAccountsFailuresButNotTheAddresses(t *testing.T) {
	t.Parallel()
	locks := login.NewLockout(newHand().Now)
	passed := 0
	for i := range 100 { // whoever has a user of his own guesses at others in between
		if own, _ := locks.Begin("mine", attacker); own != nil {
			own.Passed()
		}
		passed += fails(locks, 1, always(accounts(i)), always(attacker))
	}
	require.Equal(t, 30, passed)

	locks = login.NewLockout(newHand().Now)
	fails(locks, 9, always("ops"), always(victim))
	own, _ := locks.Begin("ops", victim)
	own.Passed()
	require.Equal(t, 10, fails(locks, 20, always("ops"), always(victim)))
}

// Reliability, Login and tokens: not usable to lock out others for ever.
func TestAddressOfTheUserIsNotHeldUpByWhoGuesses(t *testing.T) {
	t.Parallel()
	clock := newHand()
	locks := login.NewLockout(clock.Now)
	locks.Prove("ops", victim)
	fails(locks, 100_000, always("ops"), numbered)
	require.Positive(t, locks.Wait("ops", attacker))
	require.Zero(t, locks.Wait("ops", victim))
	attempt, _ := locks.Begin("ops", victim)
	require.NotNil(t, attempt)
	attempt.Passed()
	require.Positive(t, locks.Wait("ops", attacker), "which gives the others no new tries")
	require.Equal(t, 10, fails(locks, 100, always("ops"), always(victim)), "and has a limit of its own")

	clock.pass(30 * 24 * time.Hour)
	fails(locks, 100, always("ops"), numbered)
	require.Positive(t, locks.Wait("ops", victim), "it is an address like others after a month")
}

func TestNewAddressGetsItsTurnWhileOthersGuessAtEveryChance(t *testing.T) {
	t.Parallel()
	clock := newHand()
	locks := login.NewLockout(clock.Now)
	guesses := func() (passed int) { // from three addresses, at every chance
		for i := range 3 {
			passed += fails(locks, 20, always("ops"), always(numbered(i)))
		}
		return passed
	}
	for range 3600 {
		guesses()
		clock.pass(time.Second)
	}
	for guesses() == 0 { // until they have just had a turn
		clock.pass(time.Second)
	}
	for waited := 1; ; waited++ {
		require.Less(t, waited, 301, "the user waits for one pause at most")
		clock.pass(time.Second)
		guesses() // they are always the first
		if attempt, _ := locks.Begin("ops", victim); attempt != nil {
			attempt.Passed()
			t.Logf("the right password from a new address was taken after %d s", waited)
			break
		}
	}
}

// Reliability, Login and tokens: 100 at once -> at most limit + 0.
func TestTriesUnderWayCountAsFailures(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		account func(int) string
		from    func(int) netip.Addr
		limit   int
	}{
		"account": {always("ops"), numbered, 10},
		"address": {accounts, always(attacker), 30},
		"both":    {always("ops"), always(attacker), 10},
	} {
		locks := login.NewLockout(newHand().Now)
		begun := make(chan *login.Attempt, 100)
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				if attempt, wait := locks.Begin(one.account(i), one.from(i)); attempt != nil {
					begun <- attempt
				} else if wait <= 0 {
					t.Errorf("%s: refused without a time to wait", name)
				}
			})
		}
		all.Wait()
		require.Len(t, begun, one.limit, name)
		close(begun)
		for attempt := range begun {
			attempt.Failed()
		}
		require.Positive(t, locks.Wait(one.account(1), one.from(1)), name)
	}
}

func TestTryThatWasNotComparedCountsForNothing(t *testing.T) {
	t.Parallel()
	locks := login.NewLockout(newHand().Now)
	for range 1000 {
		attempt, _ := locks.Begin("ops", attacker)
		require.NotNil(t, attempt)
		attempt.Dropped()
		attempt.Failed() // it has ended
		attempt.Passed()
	}
	require.Equal(t, 10, fails(locks, 100, always("ops"), always(attacker)))
}

func TestOnlyOneTryAtATimeFollowsAPause(t *testing.T) {
	t.Parallel()
	clock := newHand()
	locks := login.NewLockout(clock.Now)
	fails(locks, 10, always("ops"), always(attacker))
	clock.pass(time.Second)
	first, _ := locks.Begin("ops", attacker)
	require.NotNil(t, first)
	second, wait := locks.Begin("ops", victim)
	require.Nil(t, second)
	require.Equal(t, time.Second, wait)
}

// Whoever has a million names or addresses fills no memory, and does not get rid of the
// lock of the account that is guessed at meanwhile.
func TestMemoryIsBoundedForAMillionNamesAndAddresses(t *testing.T) {
	t.Parallel()
	clock := newHand()
	locks := login.NewLockout(clock.Now)
	fails(locks, 10, always("ops"), always(attacker))
	for i := range 1_000_000 {
		if attempt, _ := locks.Begin(accounts(i), numbered(i)); attempt != nil {
			attempt.Failed()
		}
		if i%1000 == 0 {
			for j := range 50 {
				locks.Prove(accounts(i+j), numbered(i))
			}
			require.Positive(t, locks.Wait("ops", attacker))
		}
	}
	require.LessOrEqual(t, locks.Kept(), 100_000)
}

func TestTryUnderWayIsCountedHoweverManyOthersFailMeanwhile(t *testing.T) {
	t.Parallel()
	locks := login.NewLockout(newHand().Now)
	for i := range 9 {
		attempt, _ := locks.Begin("ops", numbered(i))
		require.NotNil(t, attempt)
	}
	fails(locks, 50_000, accounts, func(i int) netip.Addr { return numbered(i + 100) })
	last, _ := locks.Begin("ops", attacker)
	require.NotNil(t, last)
	over, _ := locks.Begin("ops", victim)
	require.Nil(t, over)
}

// A refusal and a try that was not compared cost no hash, so they may be had by the million.
func TestOnlyFailuresUseRoom(t *testing.T) {
	t.Parallel()
	locks := login.NewLockout(newHand().Now)
	fails(locks, 10, always("ops"), numbered)
	before := locks.Kept()
	var open []*login.Attempt
	for i := range 30 {
		attempt, _ := locks.Begin(accounts(i), attacker)
		require.NotNil(t, attempt)
		open = append(open, attempt)
	}
	for i := range 100_000 {
		refused, _ := locks.Begin(accounts(i), attacker)
		require.Nil(t, refused)
		require.Zero(t, locks.Wait(accounts(i), numbered(i+100)))
	}
	require.Positive(t, locks.Wait("ops", victim))
	require.Equal(t, before+31, locks.Kept())
	for i, attempt := range open {
		if i%2 == 0 {
			attempt.Dropped()
		} else {
			attempt.Passed()
		}
	}
	require.Equal(t, before+15, locks.Kept(), "the pairs that were right")
	for i := range 100_000 {
		if attempt, _ := locks.Begin(accounts(i), numbered(i+100)); attempt != nil {
			attempt.Dropped()
		}
	}
	require.Equal(t, before+15, locks.Kept())
	require.Positive(t, locks.Wait("ops", victim))
}
