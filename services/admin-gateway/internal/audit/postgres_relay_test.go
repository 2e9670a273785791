package audit

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
)

// lost is the request about which a relay is deaf.
const lost = "2"

// relay stands between a sink and its server. While it is deaf, what a client sends about the
// request lost reaches the server, and the connection ends when the answer comes.
type relay struct {
	address string
	deaf    atomic.Bool

	mu   sync.Mutex
	open []net.Conn
	busy sync.WaitGroup
}

// relayed returns a relay to a server, which ends with the test.
func relayed(t *testing.T, server string) *relay {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{address: listener.Addr().String()}
	r.busy.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(t.Context(), "tcp", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			r.keep(near, far)
			var cut atomic.Bool // tells that the next answer is lost
			r.busy.Go(func() {
				carry(near, far, func(text []byte) bool {
					if r.deaf.Load() && bytes.Contains(text, []byte(`"requestId":"`+lost+`"`)) {
						cut.Store(true)
					}
					return true
				})
			})
			r.busy.Go(func() { carry(far, near, func([]byte) bool { return !cut.Load() }) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		r.mu.Lock()
		for _, one := range r.open {
			_ = one.Close()
		}
		r.mu.Unlock()
		r.busy.Wait()
	})
	return r
}

func (r *relay) keep(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = append(r.open, conns...)
}

// carry copies until passes refuses a text.
func carry(from, to net.Conn, passes func([]byte) bool) {
	defer func() { _ = to.Close() }()
	text := make([]byte, 32<<10)
	for {
		n, err := from.Read(text)
		if err != nil || !passes(text[:n]) {
			return
		}
		if _, err := to.Write(text[:n]); err != nil {
			return
		}
	}
}

func TestARecordWhoseAnswerFromPostgresWasLostIsWrittenOnce(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	lossy := relayed(t, server.Addr())
	sink, other := inPostgres(t, strings.Replace(where, server.Addr(), lossy.address, 1)), inPostgres(t, where)
	write(t, sink, "1")
	lossy.deaf.Store(true)
	require.Error(t, sink.Append(t.Context(), note(lost)))
	records, _ := all(t, other, 10)
	require.Len(t, records, 2, "the server had carried it out before its answer was lost")
	require.Error(t, sink.Append(t.Context(), note(lost)))
	write(t, other, "3") // another gateway goes on meanwhile
	require.Error(t, sink.Append(t.Context(), note(lost)))
	lossy.deaf.Store(false)
	write(t, sink, lost, "4")
	records, head := all(t, sink, 10)
	require.Empty(t, audit.Verify(records, head))
	require.Equal(t, []string{"1", "2", "3", "4"}, idsOf(records))
}
