package users_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/argon2"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

// cheap returns a hash with the weakest parameters that are taken.
func cheap(password string) string {
	salt, base := []byte("0123456789abcdef"), base64.RawStdEncoding
	sum := argon2.IDKey([]byte(password), salt, 1, 7168, 1, 32)
	return fmt.Sprintf("$argon2id$v=19$m=7168,t=1,p=1$%s$%s", base.EncodeToString(salt), base.EncodeToString(sum))
}

// counter notes what would be hashed, by parameters; "right" is everybody's password.
type counter struct {
	mu   sync.Mutex
	cost []string
}

func (c *counter) compare(hash auth.PasswordHash, password string) bool {
	c.mu.Lock()
	c.cost = append(c.cost, hash.String())
	c.mu.Unlock()
	return password == "right"
}

func (c *counter) taken() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	cost := c.cost
	c.cost = nil
	return cost
}

func table(t testing.TB, list []users.User, options ...users.Option) *users.Table {
	t.Helper()
	made, err := users.NewTable(list, options...)
	require.NoError(t, err)
	return made
}

func TestRightPasswordNamesTheUserWithItsRights(t *testing.T) {
	t.Parallel()
	ops := users.User{Name: "ops", Hash: cheap("right"), Roles: auth.Read | auth.Write, Scopes: []auth.Scope{"orders*"}}
	made := table(t, []users.User{ops})
	for _, one := range []struct {
		name, password string
		passes         bool
	}{
		{"ops", "right", true},
		{"ops", "Right", false},
		{"ops", "", false},
		{"Ops", "right", false},
		{"ops ", "right", false},
		{"", "", false},
		{"", "right", false},
		{"nobody", "right", false},
	} {
		who, passes, err := made.Check(t.Context(), one.name, one.password)
		require.NoError(t, err)
		require.Equal(t, one.passes, passes, "%+v", one)
		if !passes {
			require.Zero(t, who, "%+v", one)
			continue
		}
		require.Equal(t, auth.Principal{Name: "ops", Roles: auth.Read | auth.Write, Scopes: []auth.Scope{"orders*"}}, who)
	}
	who, known := made.Principal("ops")
	require.True(t, known)
	require.Equal(t, ops.Scopes, who.Scopes)
	_, known = made.Principal("nobody")
	require.False(t, known)
}

func TestKnownAndUnknownUsersAreHashedOnceWithEqualParameters(t *testing.T) {
	t.Parallel()
	count := &counter{}
	usual, err := auth.HashPassword("right")
	require.NoError(t, err)
	for name, list := range map[string][]users.User{
		"hashes":           {{Name: "ops", Hash: usual}},
		"plain password":   {{Name: "ops", Password: "right"}},
		"weaker hash":      {{Name: "ops", Hash: cheap("right")}},
		"nobody but decoy": nil,
	} {
		made := table(t, list, users.WithCompare(count.compare))
		count.taken()
		var costs []string
		for _, who := range []string{"ops", "nobody", ""} {
			for _, password := range []string{"right", "wrong", ""} {
				_, _, err := made.Check(t.Context(), who, password)
				require.NoError(t, err)
				cost := count.taken()
				require.Len(t, cost, 1, "%s: %s/%s", name, who, password)
				costs = append(costs, cost[0])
			}
		}
		require.Len(t, slices.Compact(costs), 1, "%s: %v", name, costs)
	}
}

func TestUnknownNameAlwaysCostsTheSameWhereHashesDiffer(t *testing.T) {
	t.Parallel()
	count := &counter{}
	usual, err := auth.HashPassword("right")
	require.NoError(t, err)
	list := []users.User{{Name: "a", Hash: usual}, {Name: "b", Hash: cheap("right")}}
	made := table(t, list, users.WithCompare(count.compare))
	again := table(t, list, users.WithCompare(count.compare))
	seen := map[string]bool{}
	for i := range 6 {
		name := fmt.Sprintf("nobody-%d", i)
		for _, table := range []*users.Table{made, again} {
			_, _, err := table.Check(t.Context(), name, "right")
			require.NoError(t, err)
		}
		cost := slices.Compact(count.taken())
		require.Len(t, cost, 1, name)
		seen[cost[0]] = true
	}
	require.Len(t, seen, 2, "unknown names look like the known ones: some of each cost")
}

// The figures are for reading; a machine under load says nothing exact.
func TestTimeToCheckIsPrinted(t *testing.T) {
	t.Parallel()
	made := table(t, []users.User{{Name: "ops", Password: "right"}})
	for _, one := range [][2]string{{"ops", "right"}, {"ops", "wrong"}, {"nobody", "wrong"}} {
		least := time.Duration(math.MaxInt64)
		for range 3 {
			began := time.Now()
			_, _, err := made.Check(t.Context(), one[0], one[1])
			require.NoError(t, err)
			least = min(least, time.Since(began))
		}
		t.Logf("%s/%s: %s at least", one[0], one[1], least)
	}
}

func TestAtMostFourPasswordsAreHashedAtATimeOverAllTables(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	hold := users.WithCompare(func(auth.PasswordHash, string) bool {
		entered <- struct{}{}
		<-leave
		return false
	})
	directory := users.NewDirectory(table(t, nil, hold))
	var all sync.WaitGroup
	defer all.Wait()
	defer close(leave)
	for range 50 {
		all.Go(func() { _, _, _ = directory.Check(context.WithoutCancel(t.Context()), "ops", "x") })
	}
	for range min(4, runtime.GOMAXPROCS(0)) {
		<-entered
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // a place that is free would be taken by one of two such checks
		_, _, err := directory.Check(over, "ops", "x")
		require.Error(t, err, "more are hashed at a time")
		directory.Replace(table(t, nil, users.WithCompare(func(auth.PasswordHash, string) bool { return false })))
	}
}

func TestWhoWaitsTooLongForItsTurnIsToldSo(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	hold := func(auth.PasswordHash, string) bool {
		entered <- struct{}{}
		<-leave
		return true
	}
	made := table(t, []users.User{{Name: "ops", Hash: cheap("right")}}, users.WithCompare(hold))
	ctx, cancel := context.WithCancel(t.Context())
	refused, finished := make(chan error, 20), make(chan struct{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, _, err := made.Check(ctx, "ops", "right"); err != nil {
				refused <- err
			}
		})
	}
	go func() { all.Wait(); close(finished) }()
	<-entered
	cancel()
	err := <-refused
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, protocol.CodeOverloaded, refusal.Code)
	require.ErrorIs(t, err, context.Canceled)
	close(leave)
	<-finished
}

func TestEveryProblemOfEveryUserIsTold(t *testing.T) {
	t.Parallel()
	const canary = "hunter2-canary"
	good := users.User{Name: "good", Hash: cheap("x")}
	_, err := users.NewTable([]users.User{
		good,
		{Name: "", Hash: good.Hash},
		{Name: "nothing"},
		{Name: "both", Hash: good.Hash, Password: canary},
		{Name: "bad", Hash: canary},
		good,
		{Name: "a:b", Hash: good.Hash},
		{Name: "line\nbreak", Hash: good.Hash},
		{Name: "turned\u202earound", Hash: good.Hash},
		{Name: "separated\u2028", Hash: good.Hash},
		{Name: "\xff", Hash: good.Hash},
		{Name: " blank", Hash: good.Hash},
		{Name: strings.Repeat("n", 65), Hash: good.Hash},
		{Name: "scope", Hash: good.Hash, Scopes: []auth.Scope{"a*b"}},
		{Name: "long", Password: config.Secret(strings.Repeat(canary, 100))},
		{Name: "nothing twice", Scopes: []auth.Scope{"*"}},
		{Name: "nothing"},
		{Name: "anonymous", Hash: good.Hash},
		{Name: "wide", Hash: good.Hash, Scopes: []auth.Scope{auth.Scope(strings.Repeat("s", 1024)), auth.Scope(strings.Repeat("s", 1024))}},
	})
	require.Error(t, err)
	for _, want := range []string{
		`user 1 (""): has no name`,
		`user 2 ("nothing"): has neither`,
		`user 3 ("both"): has a password hash and a password`,
		`user 4 ("bad"): password hash has not the form`,
		`user 5 ("good"): is there twice`,
		`user 6 ("a:b"): has a name with a colon`,
		`user 7 ("line\nbreak"): has a name with a control`,
		`user 8 ("turned\u202earound"): has a name with a control`,
		`user 9 ("separated\u2028"): has a name with a control`,
		`user 10 ("\xff"): has a name that is not valid UTF-8`,
		`user 11 (" blank"): has a name that begins or ends`,
		`has a name of 65 bytes`,
		`user 13 ("scope"): scope "a*b"`,
		`user 14 ("long"): has a password of more than 1024 bytes`,
		`user 15 ("nothing twice"): has neither`,
		`scope "*"`,
		`user 16 ("nothing"): has neither`,
		`user 17 ("anonymous"): has the name "anonymous"`,
		`user 18 ("wide"): has scopes of more than 2048 bytes`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "user 0")
	require.NotContains(t, err.Error(), canary)
}

func TestNameOfSixtyFourBytesInAnyScriptIsTaken(t *testing.T) {
	t.Parallel()
	for _, name := range []string{strings.Repeat("n", 64), "Jörg Müller", "работник", "a@b.example", "a b"} {
		made := table(t, []users.User{{Name: name, Hash: cheap("x")}})
		_, passes, err := made.Check(t.Context(), name, "x")
		require.NoError(t, err)
		require.True(t, passes, name)
	}
}
