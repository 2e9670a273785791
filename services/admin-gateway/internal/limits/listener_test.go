package limits_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/limits"
)

// script is a listener that hands out connections of given peers.
type script struct {
	net.Listener

	peers chan string
}

// told is a connection that tells whether it was closed.
type told struct {
	net.Conn

	peer   net.Addr
	closed bool
}

func (c *told) RemoteAddr() net.Addr { return c.peer }

func (c *told) Close() error {
	c.closed = true
	return nil
}

func (s *script) Accept() (net.Conn, error) {
	peer, more := <-s.peers
	if !more {
		return nil, net.ErrClosed
	}
	if peer == "" {
		return &told{peer: &net.UnixAddr{}}, nil
	}
	return &told{peer: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(peer), 1))}, nil
}

// accepted returns which of the peers are let in, in their order.
func accepted(t *testing.T, perAddress, total int, exempt []netip.Prefix, peers ...string) []net.Conn {
	t.Helper()
	inner := &script{peers: make(chan string, len(peers))}
	for _, peer := range peers {
		inner.peers <- peer
	}
	close(inner.peers)
	listener := limits.Listener(inner, perAddress, total, exempt...)
	var in []net.Conn
	for {
		conn, err := listener.Accept()
		if err != nil {
			require.Equal(t, net.ErrClosed, err, "as the server knows it")
			return in
		}
		in = append(in, conn)
	}
}

// Reliability section 5, Resources: connection cap per address.
func TestConnectionsOfAnAddressAreCapped(t *testing.T) {
	t.Parallel()
	require.Len(t, accepted(t, 2, 10, nil, "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2"), 3)
	require.Len(t, accepted(t, 2, 10, nil, "10.0.0.1", "::ffff:10.0.0.1", "::ffff:a00:1"), 2, "IPv4-mapped is IPv4")
	require.Len(t, accepted(t, 2, 10, nil, "2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3", "2001:db8:0:1::1"), 3, "a /64 is one peer")
	require.Len(t, accepted(t, 2, 10, nil, "fe80::1%eth0", "fe80::1%eth1", "fe80::1"), 2)
	require.Len(t, accepted(t, 2, 10, nil, "", "", ""), 2)
	require.Len(t, accepted(t, 9, 3, nil, "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"), 3, "all together")
}

func TestTrustedProxiesAreCappedByTheTotalOnly(t *testing.T) {
	t.Parallel()
	exempt := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("2001:db8::5/128")}
	require.Len(t, accepted(t, 1, 4, exempt, "10.0.0.1", "10.0.0.1", "::ffff:10.0.0.9", "10.0.1.1", "10.0.0.1", "10.0.0.1"), 4)
	require.Len(t, accepted(t, 1, 10, exempt, "2001:db8::5", "2001:db8::5", "2001:db8::6", "2001:db8::6"), 2, "a neighbour in the /64 is not the proxy")
}

func TestAClosedConnectionGivesItsPlaceBackOnce(t *testing.T) {
	t.Parallel()
	inner := &script{peers: make(chan string, 10)}
	listener := limits.Listener(inner, 1, 2)
	for range 3 {
		inner.peers <- "10.0.0.1"
		conn, err := listener.Accept()
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.NoError(t, conn.Close())
	}
	inner.peers <- "10.0.0.1"
	_, err := listener.Accept()
	require.NoError(t, err)
	for _, peer := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.3"} {
		inner.peers <- peer
	}
	close(inner.peers)
	conn, err := listener.Accept()
	require.NoError(t, err)
	require.Equal(t, "10.0.0.2:1", conn.RemoteAddr().String(), "the address has no more than its place")
	_, err = listener.Accept()
	require.Equal(t, net.ErrClosed, err, "nor have all together")
}

// Over the cap a caller sees its connection closed at once, and others are served.
func TestAConnectionOverItsCapIsClosed(t *testing.T) {
	t.Parallel()
	inner, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listener := limits.Listener(inner, 1, 10)
	defer listener.Close()
	taken := make(chan net.Conn, 2)
	go func() {
		defer close(taken)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			taken <- conn
		}
	}()
	dial := func() net.Conn {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", inner.Addr().String())
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		return conn
	}
	first := dial()
	defer first.Close()
	server := <-taken
	second := dial()
	defer second.Close()
	_, err = second.Read(make([]byte, 1))
	require.Error(t, err, "it is closed, not kept waiting")
	require.NoError(t, server.Close())
	third := dial()
	defer third.Close()
	require.NoError(t, (<-taken).Close())
}
