package address

import "net/netip"

// subnetBits is the part of an IPv6 address that a network's owner cannot choose: everybody
// gets at least a /64.
const subnetBits = 64

// Bucket returns under which name limits count an address: an IPv4 address by itself, also
// where it comes as an IPv4-mapped one, and an IPv6 address together with its /64, since a
// client changes the rest at will. The zero address counts as "unknown".
func Bucket(addr netip.Addr) string {
	addr = addr.Unmap()
	switch {
	case !addr.IsValid():
		return "unknown"
	case addr.Is4():
		return addr.String()
	default:
		return netip.PrefixFrom(addr.WithZone(""), subnetBits).Masked().String()
	}
}
