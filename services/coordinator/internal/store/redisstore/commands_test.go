package redisstore_test

import (
	"bufio"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// calls returns how often the server has run the command, in scripts or out of them.
func calls(t *testing.T, client redis.UniversalClient, command string) int {
	t.Helper()
	stats, err := client.Info(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	found := regexp.MustCompile(`cmdstat_` + command + `:calls=(\d+)`).FindStringSubmatch(stats)
	if found == nil {
		return 0
	}
	number, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return number
}

// monitor returns the lines of MONITOR, whose first word is "client" or "lua", that the
// server prints while act runs.
func monitor(t *testing.T, addr string, client *redis.Client, act func()) []string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	_, err = fmt.Fprint(conn, "MONITOR\r\n")
	require.NoError(t, err)
	lines := bufio.NewScanner(conn)
	require.True(t, lines.Scan())
	require.Equal(t, "+OK", lines.Text())

	act()
	require.NoError(t, client.Echo(t.Context(), "the end").Err())
	var seen []string
	for lines.Scan() {
		line := lines.Text()
		if strings.Contains(line, "the end") {
			return seen
		}
		_, rest, _ := strings.Cut(line, "[")
		source, command, _ := strings.Cut(rest, "] ")
		if strings.HasSuffix(source, " lua") {
			seen = append(seen, "lua "+command)
		} else {
			seen = append(seen, "client "+command)
		}
	}
	require.NoError(t, lines.Err())
	return seen
}

func TestFiftySteadyHeartbeatsAreFiftyScriptCallsThatReadNoAggregate(t *testing.T) {
	t.Parallel()
	server, client, kept, version := start(t)
	touch := func(sequence int64, identity string) {
		_, err := kept.Touch(t.Context(), store.Touch{
			Key: orders(), Version: version, Identity: identity, Beats: []store.Beat{beat("m1", sequence)}, ServedEvery: time.Hour,
		})
		require.NoError(t, err)
	}
	touch(1, store.IdentityUnknown)
	lines := monitor(t, server.Addr(), client, func() {
		for i := range int64(50) {
			touch(i+2, "")
		}
	})
	count := make(map[string]int)
	for _, line := range lines {
		words := strings.SplitN(line, " ", 4)
		count[words[0]+" "+words[1]]++
		if words[0] == "lua" {
			for _, other := range []string{"aggregate", "HGETALL", "INFO", "HKEYS", "HVALS", "HSCAN"} {
				require.NotContains(t, line, other)
			}
		}
		if words[1] == `"HMGET"` {
			require.Equal(t, `"revision" "token" "servedAt" "l:m1"`, words[3])
		}
		if words[1] == `"HSET"` {
			require.Regexp(t, `^"l:m1" "\d+ \d+ `, words[3])
		}
	}
	require.Equal(t, map[string]int{
		`client "evalsha"`: 50, `lua "HMGET"`: 50, `lua "TIME"`: 50, `lua "HSET"`: 50,
	}, count)
}

func TestARepeatWritesNothing(t *testing.T) {
	t.Parallel()
	_, client, kept, version := start(t)
	touch := store.Touch{
		Key: orders(), Version: version, Identity: store.IdentityUnknown, Beats: []store.Beat{beat("m1", 1)}, ServedEvery: time.Hour,
	}
	_, err := kept.Touch(t.Context(), touch)
	require.NoError(t, err)
	before := calls(t, client, "hset")
	_, err = kept.Touch(t.Context(), touch)
	require.NoError(t, err)
	require.Equal(t, before, calls(t, client, "hset"))
}

func TestEveryCallIsOneScriptCall(t *testing.T) {
	t.Parallel()
	server, client, kept, version := start(t)
	full := change(version)
	snapshot, err := kept.Load(t.Context(), orders(), store.Version{})
	require.NoError(t, err)
	lease, err := kept.Lease(t.Context(), orders(), time.Minute)
	require.NoError(t, err)
	full.Identity, full.Lease = snapshot.Identity, lease.Token()
	full.Beats = []store.Beat{beat("m1", 1)}
	full.Unmoved = map[string]store.Observed{"m1": {}}
	full.Forget = []string{"m2"}
	full.Newcomers = []store.Newcomer{{Member: "m3", Incarnation: "x"}}
	next := store.Version{Revision: 2, Token: full.Token}
	create(t, kept) // repeated: it loads the script and writes nothing

	steps := []struct {
		name string
		act  func() error
	}{
		{"load", func() error { _, err := kept.Load(t.Context(), orders(), store.Version{}); return err }},
		{"load of a known version", func() error { _, err := kept.Load(t.Context(), orders(), version); return err }},
		{"history", func() error { _, err := kept.History(t.Context(), orders(), "1-0", 10); return err }},
		{"commit", func() error { _, err := kept.Commit(t.Context(), full); return err }},
		{"delete", func() error { _, err := kept.Delete(t.Context(), orders(), next, nil); return err }},
		{"create", func() error {
			_, err := kept.Create(t.Context(), store.Create{Key: orders(), Token: "t", Event: []byte("e")})
			return err
		}},
	}
	for _, step := range steps {
		var sent []string
		for _, line := range monitor(t, server.Addr(), client, func() { require.NoError(t, step.act()) }) {
			words := strings.SplitN(line, " ", 3)
			switch {
			case words[0] == "lua":
				require.False(t, step.name == "load of a known version" && strings.Contains(line, "aggregate"), line)
			case words[1] == `"evalsha"` || words[1] == `"eval"`:
				sent = append(sent, words[1])
			default:
				require.True(t, strings.Contains(line, index) || words[1] == `"exists"`, "only the index is on another slot: %s", line)
			}
		}
		// A script's first call may have to bring its source.
		require.Contains(t, []string{`"evalsha"`, `"evalsha" "eval"`}, strings.Join(sent, " "), step.name)
	}
}
