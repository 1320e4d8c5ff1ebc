package webhook

import (
	"net/netip"
	"slices"
)

// block is a range that is not public, and what it is.
type block struct {
	in  netip.Prefix
	why string
}

func blocks(why string, prefixes ...string) []block {
	var out []block
	for _, p := range prefixes {
		out = append(out, block{in: netip.MustParsePrefix(p), why: why})
	}
	return out
}

// inside are the ranges that are not public, by the registries of special addresses. What
// only carries another address counts too: it may lead anywhere. Of IPv6, all beyond
// 2000::/3 is refused without being named here.
var inside = slices.Concat(
	blocks("unspecified", "0.0.0.0/8", "::/128"),
	blocks("loopback", "127.0.0.0/8", "::1/128"),
	blocks("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
	blocks("link-local", "169.254.0.0/16", "fe80::/10"),
	blocks("shared by a carrier", "100.64.0.0/10"),
	blocks("multicast", "224.0.0.0/4", "ff00::/8"),
	blocks("reserved", "240.0.0.0/4", "192.0.0.0/24", "2001::/23", "100::/64", "5f00::/16"),
	blocks("a name server of private names", "192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48"),
	blocks("for documents", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"),
	blocks("for benchmarks", "198.18.0.0/15", "2001:2::/48"),
	blocks("a relay", "192.88.99.0/24", "192.52.193.0/24", "2002::/16", "2001::/32"),
	blocks("an IPv4 address inside an IPv6 one", "::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96", "64:ff9b:1::/48"),
	blocks("the inside of a cloud", "168.63.129.16/32", "169.254.169.254/32", "100.100.100.200/32", "fd00:ec2::254/128"),
)

var globalUnicast = netip.MustParsePrefix("2000::/3")

// barred answers what keeps a message from an address; "" when it is public.
func barred(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "no address"
	case a.Zone() != "":
		return "of one link"
	}
	for _, b := range inside {
		if b.in.Contains(a) {
			return b.why
		}
	}
	if a.Is6() && !globalUnicast.Contains(a) {
		return "not in use"
	}
	return ""
}
