// Package address tells who a request comes from (gateway, Rate limit; F37). It believes the
// connected peer and, where that is a configured proxy, the X-Forwarded-For that the proxy
// has written; nothing else of what a request says about itself.
//
// It is arithmetic: no I/O, no state.
package address

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// mappedBits is how many bits of an IPv4-mapped IPv6 address come before the IPv4 address.
const mappedBits = 96

var (
	errNotNetwork = errors.New("neither an IP address nor a network such as 10.0.0.0/8")
	errZone       = errors.New("an address with a zone holds on one machine only")
	errEverybody  = errors.New("a network of everybody trusts every client")
)

// Resolver finds the client of a request. It may be used from several goroutines.
type Resolver struct {
	trusted []netip.Prefix
}

// New returns a resolver that believes the proxies at the addresses and in the networks
// (CIDR) given; with none it believes nobody but the peer. Every element that is neither an
// address nor a network is named in the error, as are networks with bits behind their mask
// and those of everybody, which would let every client choose its address.
//
// A trusted network is one of proxies only: who is in it may say to be anybody.
func New(trusted []string) (*Resolver, error) {
	r := &Resolver{}
	var problems []error
	for _, text := range trusted {
		network, err := parseNetwork(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("trusted proxy %q: %w", text, err))
			continue
		}
		r.trusted = append(r.trusted, network)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return r, nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		if addr.Zone() != "" {
			return netip.Prefix{}, errZone
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, errNotNetwork
	}
	if network != network.Masked() {
		return netip.Prefix{}, fmt.Errorf("its bits behind the mask are not 0, which network is meant: %s?", network.Masked())
	}
	return unmapNetwork(network)
}

// unmapNetwork turns a network of IPv4-mapped addresses into the one of IPv4.
func unmapNetwork(network netip.Prefix) (netip.Prefix, error) {
	bits := network.Bits()
	if network.Addr().Is4In6() && bits >= mappedBits {
		bits -= mappedBits
		network = netip.PrefixFrom(network.Addr().Unmap(), bits)
	}
	if bits == 0 {
		return netip.Prefix{}, errEverybody
	}
	return network, nil
}

// Trusted returns the networks of the proxies that are believed. The caller does not change
// it.
func (r *Resolver) Trusted() []netip.Prefix { return r.trusted }

// Client returns who the request comes from. Peer is who is connected, without a zone and as
// IPv4 where it is an IPv4-mapped one; it is the zero address where the server does not say.
// Address is the peer, or the first untrusted hop of X-Forwarded-For seen from a trusted peer.
// X-Real-IP, Forwarded and True-Client-IP are never believed, only noted.
func (r *Resolver) Client(req *http.Request) exchange.Client {
	peer := peerOf(req.RemoteAddr)
	return exchange.Client{
		Address:   r.walk(peer, req.Header[headerFor]),
		Peer:      peer,
		Forwarded: said(req.Header),
	}
}

func peerOf(remote string) netip.Addr {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

// walk follows the hops from the last to the first as long as they are trusted. Each hop is
// vouched for by the one after it, so what stands left of an untrusted or unreadable one
// means nothing.
func (r *Resolver) walk(peer netip.Addr, headers []string) netip.Addr {
	client := peer
	for _, header := range slices.Backward(headers) {
		rest, more := header, true
		for more {
			if !r.trusts(client) {
				return client
			}
			var entry string
			rest, entry, more = cutLast(rest)
			hop, ok := parseHop(entry)
			if !ok {
				return client
			}
			client = hop
		}
	}
	return client
}

func (r *Resolver) trusts(addr netip.Addr) bool {
	for _, network := range r.trusted {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// cutLast cuts a list before its last comma.
func cutLast(list string) (rest, last string, more bool) {
	at := strings.LastIndexByte(list, ',')
	if at < 0 {
		return "", list, false
	}
	return list[:at], list[at+1:], true
}

// parseHop reads an entry of X-Forwarded-For: an address, to which some proxies add a port.
func parseHop(entry string) (netip.Addr, bool) {
	entry = strings.Trim(entry, " \t")
	addr, err := netip.ParseAddr(entry)
	if err != nil {
		withPort, err := netip.ParseAddrPort(entry)
		if err != nil {
			return netip.Addr{}, false
		}
		addr = withPort.Addr()
	}
	if addr.Zone() != "" || addr.IsUnspecified() {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}
