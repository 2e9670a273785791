package address_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/address"
)

func TestBucketCountsWhatAClientCannotChange(t *testing.T) {
	t.Parallel()
	for text, bucket := range map[string]string{
		"203.0.113.9":              "203.0.113.9",
		"::ffff:203.0.113.9":       "203.0.113.9",
		"::ffff:cb00:7109":         "203.0.113.9",
		"2001:db8:0:1::1":          "2001:db8:0:1::/64",
		"2001:db8:0:1:ffff::1":     "2001:db8:0:1::/64",
		"2001:db8:0:2::1":          "2001:db8:0:2::/64",
		"fe80::1%eth0":             "fe80::/64",
		"fe80::1%an-invented-zone": "fe80::/64",
	} {
		require.Equal(t, bucket, address.Bucket(netip.MustParseAddr(text)), text)
	}
	require.Equal(t, "unknown", address.Bucket(netip.Addr{}))
}

func TestSecurityRotatingThroughAnIPv6SubnetStaysInOneBucket(t *testing.T) {
	t.Parallel()
	buckets := map[string]bool{}
	addr := netip.MustParseAddr("2001:db8:0:1::").As16()
	for i := range 10_000 {
		addr[8+i%8] += byte(i)
		buckets[address.Bucket(netip.AddrFrom16(addr))] = true
	}
	require.Len(t, buckets, 1)
}
