package address_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/address"
)

func resolver(t testing.TB, trusted ...string) *address.Resolver {
	t.Helper()
	r, err := address.New(trusted)
	require.NoError(t, err)
	return r
}

func request(remote string, forwardedFor ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	r.RemoteAddr = remote
	for _, value := range forwardedFor {
		r.Header.Add("X-Forwarded-For", value)
	}
	return r
}

func TestClientIsTheFirstUntrustedHopSeenFromATrustedPeer(t *testing.T) {
	t.Parallel()
	proxies := resolver(t, "10.0.0.0/8", "192.0.2.7", "2001:db8:1::/48")
	for _, c := range []struct {
		claim  string
		remote string
		header []string
		client string
	}{
		{"no header: the peer", "10.0.0.1:443", nil, "10.0.0.1"},
		{"an untrusted peer is not believed", "198.51.100.1:80", []string{"203.0.113.9"}, "198.51.100.1"},
		{"an untrusted peer is not believed about a proxy", "198.51.100.1:80", []string{"10.0.0.1"}, "198.51.100.1"},
		{"one proxy", "10.0.0.1:80", []string{"203.0.113.9"}, "203.0.113.9"},
		{"what the client put before does not count", "10.0.0.1:80", []string{"203.0.113.1, 203.0.113.9"}, "203.0.113.9"},
		{"nor a proxy's address put before", "10.0.0.1:80", []string{"10.0.0.9, 203.0.113.9"}, "203.0.113.9"},
		{"several proxies", "10.0.0.1:80", []string{"203.0.113.1, 203.0.113.9,192.0.2.7 ,\t10.1.1.1"}, "203.0.113.9"},
		{"several headers are one list", "10.0.0.1:80", []string{"203.0.113.1", "203.0.113.9, 10.0.0.7", "192.0.2.7"}, "203.0.113.9"},
		{"the last header is the nearest", "10.0.0.1:80", []string{"203.0.113.1", "203.0.113.9"}, "203.0.113.9"},
		{"trusted hops only: the farthest", "10.0.0.1:80", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"a bad entry ends the walk", "10.0.0.1:80", []string{"203.0.113.1, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"a bad entry at once", "10.0.0.1:80", []string{"203.0.113.1, "}, "10.0.0.1"},
		{"an empty header", "10.0.0.1:80", []string{"203.0.113.1", ""}, "10.0.0.1"},
		{"a bad entry left of the client", "10.0.0.1:80", []string{"<script>, 203.0.113.9"}, "203.0.113.9"},
		{"an entry with a port", "10.0.0.1:80", []string{"203.0.113.9:51812"}, "203.0.113.9"},
		{"an IPv6 entry with a port", "10.0.0.1:80", []string{"[2001:db8::9]:51812"}, "2001:db8::9"},
		{"an IPv6 entry", "[2001:db8:1::5]:80", []string{"2001:db8:2::1"}, "2001:db8:2::1"},
		{"an entry with a zone is bad", "10.0.0.1:80", []string{"fe80::1%eth0"}, "10.0.0.1"},
		{"the unspecified address is bad", "10.0.0.1:80", []string{"0.0.0.0"}, "10.0.0.1"},
		{"an octal-looking entry is bad", "10.0.0.1:80", []string{"0203.0.113.9"}, "10.0.0.1"},
		{"IPv4-mapped peer", "[::ffff:10.0.0.1]:80", []string{"203.0.113.9"}, "203.0.113.9"},
		{"IPv4-mapped hops", "10.0.0.1:80", []string{"203.0.113.9, ::ffff:10.0.0.2, ::ffff:c000:0207"}, "203.0.113.9"},
		{"IPv4-mapped client", "10.0.0.1:80", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		{"a peer with a zone", "[fe80::1%eth0]:80", nil, "fe80::1"},
	} {
		t.Run(c.claim, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.client, proxies.Client(request(c.remote, c.header...)).Address.String())
		})
	}
}

func TestClientWithoutTrustedProxiesIsThePeer(t *testing.T) {
	t.Parallel()
	client := resolver(t).Client(request("127.0.0.1:80", "203.0.113.9"))
	require.Equal(t, netip.MustParseAddr("127.0.0.1"), client.Address)
}

func TestClientOfAnUnreadablePeerIsNobody(t *testing.T) {
	t.Parallel()
	for _, remote := range []string{"", "@", "pipe", "10.0.0.1", "10.0.0.1:http"} {
		client := resolver(t, "10.0.0.0/8").Client(request(remote, "203.0.113.9"))
		require.False(t, client.Address.IsValid(), remote)
		require.False(t, client.Peer.IsValid(), remote)
		require.Equal(t, "unknown", address.Bucket(client.Address))
	}
}

func TestEveryTrustedProxyThatCannotBeIsNamed(t *testing.T) {
	t.Parallel()
	for text, problem := range map[string]string{
		"":                  "neither an IP address nor a network",
		"proxy.internal":    "neither an IP address nor a network",
		"10.0.0.0/33":       "neither an IP address nor a network",
		"\t10.0.0.1":        "neither an IP address nor a network",
		"fe80::%eth0/64":    "neither an IP address nor a network",
		"fe80::1%eth0":      "zone",
		"10.0.0.7/8":        "10.0.0.0/8?",
		"0.0.0.0/0":         "everybody",
		"::/0":              "everybody",
		"::ffff:0.0.0.0/96": "everybody",
	} {
		_, err := address.New([]string{"192.0.2.1", text, "also wrong"})
		require.ErrorContains(t, err, problem, text)
		require.ErrorContains(t, err, strconv.Quote(text))
		require.ErrorContains(t, err, `"also wrong"`, "all problems at once")
		require.NotContains(t, err.Error(), "192.0.2.1")
	}
}

func TestANetworkOfMappedAddressesIsOneOfIPv4(t *testing.T) {
	t.Parallel()
	r := resolver(t, "::ffff:10.0.0.0/104", "::ffff:192.0.2.1")
	for _, peer := range []string{"10.9.9.9:80", "[::ffff:10.9.9.9]:80", "192.0.2.1:80"} {
		require.Equal(t, "203.0.113.9", r.Client(request(peer, "203.0.113.9")).Address.String(), peer)
	}
	require.Equal(t, "192.0.2.2", r.Client(request("192.0.2.2:80", "203.0.113.9")).Address.String())
}

func TestWhatARequestSaysIsNotedAndCut(t *testing.T) {
	t.Parallel()
	r := request("198.51.100.1:80", "203.0.113.1", "203.0.113.2")
	r.Header.Set("True-Client-IP", "203.0.113.5")
	r.Header.Set("X-Real-IP", "203.0.113.4")
	r.Header.Set("Forwarded", "for=203.0.113.3")
	require.Equal(t, "X-Forwarded-For: 203.0.113.1; X-Forwarded-For: 203.0.113.2; Forwarded: for=203.0.113.3; "+
		"X-Real-Ip: 203.0.113.4; True-Client-Ip: 203.0.113.5", resolver(t).Client(r).Forwarded)

	require.Empty(t, resolver(t).Client(request("198.51.100.1:80")).Forwarded)
	long := resolver(t).Client(request("198.51.100.1:80", strings.Repeat("é", 100_000), "y")).Forwarded
	require.Len(t, long, 255, "cut at 256, which is within a character")
	require.Len(t, resolver(t).Client(request("198.51.100.1:80", strings.Repeat("x", 100_000))).Forwarded, 256)
}
