package address_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/address"
)

// spoofed are headers in which a client, or somebody's proxy, may name an address.
func spoofed() []string {
	return []string{
		"X-Forwarded-For", "X-Real-IP", "Forwarded", "True-Client-IP", "X-Client-IP", "CF-Connecting-IP",
		"X-Forwarded", "Forwarded-For", "X-Cluster-Client-IP", "X_Forwarded_For", "Client-IP", "X-Original-Forwarded-For",
	}
}

// TestFieldF37AClientCannotChooseItsAddress is field case F37: 1,000 requests with another
// address each, then with the victim's address.
func TestFieldF37AClientCannotChooseItsAddress(t *testing.T) {
	t.Parallel()
	behindProxy, alone := resolver(t, "10.0.0.0/8"), resolver(t)
	for i := range 1_000 {
		claimed := fmt.Sprintf("203.0.%d.%d", i/250, i%250+1)
		if i == 999 {
			claimed = "192.0.2.66" // the victim
		}
		for _, header := range spoofed() {
			r := request("198.51.100.1:80")
			r.Header.Set(header, claimed)
			for _, client := range []netip.Addr{
				behindProxy.Client(r).Address, alone.Client(r).Address,
			} {
				require.Equal(t, "198.51.100.1", client.String(), header)
			}
		}
		// The same through a proxy, which adds the peer that it sees.
		r := request("10.0.0.1:80", claimed+", 198.51.100.1")
		require.Equal(t, "198.51.100.1", behindProxy.Client(r).Address.String())
		require.Equal(t, "10.0.0.1", behindProxy.Client(r).Peer.String())
		require.Contains(t, behindProxy.Client(r).Forwarded, claimed, "the audit has what was said")
	}
}

func TestSecurityATrustedProxyIsBelievedInOneHeaderOnly(t *testing.T) {
	t.Parallel()
	r := resolver(t, "10.0.0.0/8")
	for _, header := range spoofed()[1:] {
		req := request("10.0.0.1:80")
		req.Header.Set(header, "203.0.113.9")
		require.Equal(t, "10.0.0.1", r.Client(req).Address.String(), header)
		req.Header.Set("X-Forwarded-For", "198.51.100.1")
		require.Equal(t, "198.51.100.1", r.Client(req).Address.String(), header)
	}
}

func TestSecurityAMappedAddressIsTheSameClient(t *testing.T) {
	t.Parallel()
	r := resolver(t)
	plain, mapped := r.Client(request("203.0.113.9:80")), r.Client(request("[::ffff:203.0.113.9]:80"))
	require.Equal(t, plain, mapped)
	require.Equal(t, address.Bucket(plain.Address), address.Bucket(mapped.Address))
}
