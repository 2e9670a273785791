package address_test

import (
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzForwarded holds that whatever is forwarded, the client is the peer or somebody whom a
// trusted hop has named, that nothing left of an untrusted hop changes it, and that an
// untrusted peer is always the client.
func FuzzForwarded(f *testing.F) {
	for _, seed := range []string{
		"", ",", "203.0.113.9", "203.0.113.9, 10.0.0.1", "10.0.0.1,10.0.0.2", "unknown, 10.0.0.1", "[2001:db8::1]:80",
		"::ffff:10.0.0.1, ::ffff:203.0.113.9", "fe80::1%eth0", "0.0.0.0", "203.0.113.9:80,", "\x00", strings.Repeat(",", 300),
		strings.Repeat("10.0.0.1,", 300), "1.2.3.4\n5.6.7.8", "\xff\xfe", "é",
	} {
		f.Add(seed, "198.51.100.7")
		f.Add("198.51.100.7", seed)
	}
	r := resolver(f, "10.0.0.0/8", "2001:db8::/32")
	f.Fuzz(func(t *testing.T, first, second string) {
		peer := netip.MustParseAddr("10.0.0.1")
		client := r.Client(request("10.0.0.1:80", first, second))
		require.Equal(t, peer, client.Peer)
		require.True(t, client.Address.IsValid())
		require.LessOrEqual(t, len(client.Forwarded), 256)
		require.True(t, utf8.ValidString(client.Forwarded))

		untrusted := r.Client(request("198.51.100.1:80", first, second))
		require.Equal(t, "198.51.100.1", untrusted.Address.String())

		stopped := r.Client(request("10.0.0.1:80", first, second+", 198.51.100.1"))
		require.Equal(t, "198.51.100.1", stopped.Address.String())

		joined := r.Client(request("10.0.0.1:80", first+","+second))
		require.Equal(t, joined.Address, client.Address, "several headers are one list")
		if client.Address != peer {
			require.Contains(t, named(first+","+second), client.Address, "somebody has named the client")
		}
	})
}

// named returns every address of a list, whoever vouches for it.
func named(list string) []netip.Addr {
	var all []netip.Addr
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		if addr, err := netip.ParseAddr(entry); err == nil {
			all = append(all, addr.Unmap())
		}
		if withPort, err := netip.ParseAddrPort(entry); err == nil {
			all = append(all, withPort.Addr().Unmap())
		}
	}
	return all
}
