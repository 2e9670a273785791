package limits

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// networkOfSix is how many bits of an IPv6 address its holder does not choose freely.
const networkOfSix = 64

// Listener returns a listener that closes connections at once which are one too many: more
// than total together, or more than perAddress of one peer, of one /64 for IPv6. Both are
// above 0. Peers within exempt, trusted proxies, count for the total only: many callers come
// through them.
func Listener(inner net.Listener, perAddress, total int, exempt ...netip.Prefix) net.Listener {
	return &capped{Listener: inner, caps: caps{
		perPeer: perAddress, total: total, exempt: exempt, open: make(map[netip.Prefix]int),
	}}
}

type capped struct {
	net.Listener

	caps caps
}

// Accept implements net.Listener. It never waits for a place: a connection over its cap is
// closed, and the next one is taken.
func (l *capped) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err // as it is: the server looks at its type
		}
		peer := l.caps.peerOf(conn.RemoteAddr())
		if l.caps.enter(peer) {
			return &counted{Conn: conn, leave: sync.OnceFunc(func() { l.caps.leave(peer) })}, nil
		}
		_ = conn.Close()
	}
}

// counted gives its place back when it is closed.
type counted struct {
	net.Conn

	leave func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// caps counts connections. A peer is in the map only while it has one, so that its size is
// bounded by the total.
type caps struct {
	perPeer, total int
	exempt         []netip.Prefix

	mu   sync.Mutex
	all  int
	open map[netip.Prefix]int
}

// peer is who is connected: what its connections are counted by, and whether they have a cap.
type peer struct {
	network netip.Prefix
	trusted bool
}

func (c *caps) enter(p peer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= c.total || c.open[p.network] >= c.perPeer && !p.trusted {
		return false
	}
	c.all++
	c.open[p.network]++
	return true
}

func (c *caps) leave(p peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.open[p.network]--; c.open[p.network] == 0 {
		delete(c.open, p.network)
	}
}

// peerOf reads an address. Those without an IP, as of a pipe, are all one peer.
func (c *caps) peerOf(address net.Addr) peer {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return peer{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = networkOfSix
	}
	network, err := ip.Prefix(bits)
	if err != nil {
		return peer{} // an address of no bits
	}
	within := func(prefix netip.Prefix) bool { return prefix.Contains(ip) }
	return peer{network: network, trusted: slices.ContainsFunc(c.exempt, within)}
}
