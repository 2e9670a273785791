package sdktest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/scriptcoord"
)

// doorkeeper stands before a scripted coordinator and lets by who has logged in.
type doorkeeper struct {
	url string

	mu     sync.Mutex
	logins int
	closed bool // refuses every login
	valid  map[string]bool
}

func startDoorkeeper(t *testing.T, coord *scriptcoord.Coordinator) *doorkeeper {
	t.Helper()
	behind, err := url.Parse(coord.URL())
	require.NoError(t, err)
	d := &doorkeeper{valid: map[string]bool{}}
	forward := httputil.NewSingleHostReverseProxy(behind)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/auth/login"):
			d.login(w)
		case !d.lets(r):
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(protocol.ErrorResponse{ErrorCode: protocol.CodeUnauthorized, Message: "who are you"})
		default:
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

func (d *doorkeeper) lets(r *http.Request) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.valid[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
}

func (d *doorkeeper) login(w http.ResponseWriter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(protocol.ErrorResponse{ErrorCode: protocol.CodeUnauthorized, Message: "no such user"})
		return
	}
	d.logins++
	token := fmt.Sprintf("token-%d", d.logins)
	d.valid[token] = true
	_ = json.NewEncoder(w).Encode(protocol.LoginResponse{AccessToken: token, ExpiresInSeconds: 1})
}

// expel ends all tokens; closed refuses new ones too.
func (d *doorkeeper) expel(closed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.valid, d.closed = map[string]bool{}, closed
}

func (d *doorkeeper) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.logins
}

// Gateway, Authentication: a token that ends or is taken away costs a member nothing, it
// goes on inside its lease.
func TestMembersGoOnWhenTheirTokensChange(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	door := startDoorkeeper(t, s.coord)
	c, err := client.New(client.Options{CoordinatorURL: door.url, Redis: s.rdb, Login: client.WithLogin("worker", "secret")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	s.coord.Assign("a", 0)
	var book ledger
	a := s.runOn(c, subscription("a"), book.acking)
	for round := range 3 {
		before := door.count()
		s.publish(0, round*10, (round+1)*10)
		eventually(t, func() bool { return book.count() == (round+1)*10 && door.count() > before }, "records go on past the token's life")
		if round == 1 {
			door.expel(false)
		}
	}
	eventually(t, func() bool {
		member := a.Status().Members[0]
		return member.Verdict == "OK" && member.Err == nil
	}, "its heartbeats are answered")
	require.Zero(t, a.Status().Counters.Lapses)
	require.Equal(t, upTo(30), book.numbers(0))
	joins := 0
	for _, request := range s.coord.Requests("a") {
		if request.MemberEpoch == 0 {
			joins++
		}
	}
	require.Equal(t, 1, joins, "nobody had to join again")
}

func TestMembersOfAUserWhoWasRemovedSaySoAndComeBack(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	door := startDoorkeeper(t, s.coord)
	c, err := client.New(client.Options{CoordinatorURL: door.url, Redis: s.rdb, Login: client.WithLogin("worker", "secret")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	s.coord.Assign("a", 0)
	var book ledger
	a := s.runOn(c, subscription("a"), book.acking)
	eventually(t, func() bool { return len(a.owns()) == 1 }, "it reads")
	door.expel(true)
	eventually(t, func() bool { return a.Status().Members[0].Verdict == string(protocol.CodeUnauthorized) }, "it says why")
	require.ErrorIs(t, a.Status().Members[0].Err, client.ErrUnauthorized)
	require.ErrorContains(t, a.Status().Members[0].Err, "log in as worker at "+door.url)
	require.NotContains(t, a.Status().Members[0].Err.Error(), "secret")
	door.expel(false)
	s.publish(0, 0, 5)
	eventually(t, func() bool { return book.count() == 5 && a.Status().Members[0].Verdict == "OK" }, "it goes on")
}
