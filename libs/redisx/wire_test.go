package redisx

import (
	"bufio"
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The wire forms in which servers report one group; %LAG% stands for the fields
// after last-delivered-id.
const (
	resp2Group = "*1\r\n*%COUNT%\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n:1\r\n$7\r\npending\r\n:0\r\n$17\r\nlast-delivered-id\r\n$3\r\n1-0\r\n%LAG%"
	resp3Group = "*1\r\n%%COUNT%\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n:1\r\n$7\r\npending\r\n:0\r\n$17\r\nlast-delivered-id\r\n$3\r\n1-0\r\n%LAG%"
)

func TestFieldF04UnknownLagStaysUnknownOnTheWire(t *testing.T) {
	t.Parallel()
	tails := []struct {
		name, resp2, resp3 string
		pairs              int
		lag, read          Count
	}{
		{"null", "$12\r\nentries-read\r\n$-1\r\n$3\r\nlag\r\n$-1\r\n", "$12\r\nentries-read\r\n_\r\n$3\r\nlag\r\n_\r\n", 6, Count{}, Count{}},
		{"null array", "$12\r\nentries-read\r\n*-1\r\n$3\r\nlag\r\n*-1\r\n", "$12\r\nentries-read\r\n_\r\n$3\r\nlag\r\n_\r\n", 6, Count{}, Count{}},
		{"minus one", "$12\r\nentries-read\r\n:-1\r\n$3\r\nlag\r\n:-1\r\n", "$12\r\nentries-read\r\n:-1\r\n$3\r\nlag\r\n:-1\r\n", 6, Count{}, Count{}},
		{"missing, as before Redis 7", "", "", 4, Count{}, Count{}},
		{"F03: far below zero", "$12\r\nentries-read\r\n:100\r\n$3\r\nlag\r\n:-99\r\n", "$12\r\nentries-read\r\n:100\r\n$3\r\nlag\r\n:-99\r\n", 6, Count{}, KnownCount(100)},
		{"a real zero", "$12\r\nentries-read\r\n:1\r\n$3\r\nlag\r\n:0\r\n", "$12\r\nentries-read\r\n:1\r\n$3\r\nlag\r\n:0\r\n", 6, KnownCount(0), KnownCount(1)},
		{"a field of the future", "$3\r\nnew\r\n*1\r\n$1\r\nx\r\n$3\r\nlag\r\n:5\r\n", "$3\r\nnew\r\n*1\r\n$1\r\nx\r\n$3\r\nlag\r\n:5\r\n", 6, KnownCount(5), Count{}},
	}
	for _, tail := range tails {
		for protocol, wire := range map[int]string{
			2: strings.NewReplacer("%COUNT%", strconv.Itoa(2*tail.pairs), "%LAG%", tail.resp2).Replace(resp2Group),
			3: strings.NewReplacer("%COUNT%", strconv.Itoa(tail.pairs), "%LAG%", tail.resp3).Replace(resp3Group),
		} {
			groups, err := Groups(t.Context(), scripted(t, protocol, wire), "k")
			require.NoError(t, err, "%s, RESP%d", tail.name, protocol)
			require.Equal(t, []Group{{Name: "g", Consumers: 1, LastDeliveredID: "1-0", EntriesRead: tail.read, Lag: tail.lag}},
				groups, "%s, RESP%d", tail.name, protocol)
		}
	}
}

func TestGroupsNamesTheKeyOfAnErrorReply(t *testing.T) {
	t.Parallel()
	_, err := Groups(t.Context(), scripted(t, 3, "-LOADING Redis is loading\r\n"), "orders:3")
	require.ErrorContains(t, err, `"orders:3"`)
	require.Equal(t, StateLoading, StateOf(err))
	_, err = Groups(t.Context(), scripted(t, 3, "+OK\r\n"), "orders:3")
	require.ErrorIs(t, err, ErrReply)
}

// scripted returns a client of a server that gives one fixed answer to everything
// but the handshake.
func scripted(t *testing.T, protocol int, answer string) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{
		Protocol: protocol, MaxRetries: -1, DisableIdentity: true, MaintNotificationsConfig: noMaintenance(),
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			server, client := net.Pipe()
			go serve(server, protocol, answer)
			return client, nil
		},
	})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

func serve(conn net.Conn, protocol int, answer string) {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	for {
		name, err := readCommand(r)
		if err != nil {
			return
		}
		text := answer
		if strings.EqualFold(name, "hello") {
			text = "%1\r\n$5\r\nproto\r\n:3\r\n"
			if protocol == 2 {
				text = "-ERR unknown command\r\n"
			}
		}
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
}

// readCommand reads one command and returns its name.
func readCommand(r *bufio.Reader) (string, error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	parts, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "*")))
	if err != nil {
		return "", err
	}
	var name string
	for i := range parts {
		if _, err := r.ReadString('\n'); err != nil {
			return "", err
		}
		word, err := r.ReadString('\n')
		if err != nil {
			return "", err
		}
		if i == 0 {
			name = strings.TrimSpace(word)
		}
	}
	return name, nil
}
