package webhook

import (
	"net/netip"
	"slices"
)

// addressBlock is a range of addresses that is not public, and why.
type addressBlock struct {
	prefix netip.Prefix
	why    string
}

func newAddressBlocks(why string, prefixes ...string) []addressBlock {
	var out []addressBlock
	for _, p := range prefixes {
		out = append(out, addressBlock{prefix: netip.MustParsePrefix(p), why: why})
	}
	return out
}

// nonPublicBlocks are the ranges that are not public, from the registries of special-purpose
// addresses. Ranges that embed another address are included, because they may lead anywhere.
// Of IPv6, everything outside 2000::/3 is refused without being listed here.
var nonPublicBlocks = slices.Concat(
	newAddressBlocks("unspecified", "0.0.0.0/8", "::/128"),
	newAddressBlocks("loopback", "127.0.0.0/8", "::1/128"),
	newAddressBlocks("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
	newAddressBlocks("link-local", "169.254.0.0/16", "fe80::/10"),
	newAddressBlocks("shared by a carrier", "100.64.0.0/10"),
	newAddressBlocks("multicast", "224.0.0.0/4", "ff00::/8"),
	newAddressBlocks("reserved", "240.0.0.0/4", "192.0.0.0/24", "2001::/23", "100::/64", "5f00::/16"),
	newAddressBlocks("a name server of private names", "192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48"),
	newAddressBlocks("for documents", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"),
	newAddressBlocks("for benchmarks", "198.18.0.0/15", "2001:2::/48"),
	newAddressBlocks("a relay", "192.88.99.0/24", "192.52.193.0/24", "2002::/16", "2001::/32"),
	newAddressBlocks("an IPv4 address inside an IPv6 one", "::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96", "64:ff9b:1::/48"),
	newAddressBlocks("the inside of a cloud", "168.63.129.16/32", "169.254.169.254/32", "100.100.100.200/32", "fd00:ec2::254/128"),
)

var globalUnicast = netip.MustParsePrefix("2000::/3")

// nonPublicReason returns why an address is not public, and "" if it is.
func nonPublicReason(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "no address"
	case a.Zone() != "":
		return "of one link"
	}
	for _, b := range nonPublicBlocks {
		if b.prefix.Contains(a) {
			return b.why
		}
	}
	if a.Is6() && !globalUnicast.Contains(a) {
		return "not in use"
	}
	return ""
}
