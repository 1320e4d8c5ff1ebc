package ssrftest

import (
	"fmt"
	"net/netip"
	"strings"
)

type target struct{ addr, why string }

// targets4 are internal IPv4 addresses, at the edges of their ranges where that is useful.
var targets4 = []target{
	{"127.0.0.1", "loopback"}, {"127.0.0.2", "loopback"}, {"127.255.255.254", "loopback"},
	{"0.0.0.0", "unspecified"}, {"0.1.2.3", "unspecified"},
	{"10.0.0.1", "private"}, {"10.255.255.255", "private"},
	{"172.16.0.1", "private"}, {"172.31.255.255", "private"},
	{"192.168.0.1", "private"}, {"192.168.255.255", "private"},
	{"169.254.0.1", "link-local"}, {"169.254.169.254", "metadata of a cloud"}, {"169.254.170.2", "metadata of a cloud"},
	{"100.64.0.1", "carrier"}, {"100.127.255.255", "carrier"}, {"100.100.100.200", "metadata of a cloud"},
	{"168.63.129.16", "inside of a cloud"}, {"192.0.0.192", "metadata of a cloud"}, {"192.0.0.1", "reserved"},
	{"192.0.2.1", "documents"}, {"198.51.100.7", "documents"}, {"203.0.113.255", "documents"},
	{"198.18.0.1", "benchmark"}, {"198.19.255.255", "benchmark"},
	{"192.88.99.1", "relay"}, {"192.31.196.1", "name server of private names"}, {"192.175.48.1", "name server of private names"}, {"192.52.193.1", "relay"},
	{"224.0.0.1", "multicast"}, {"239.255.255.255", "multicast"},
	{"240.0.0.1", "reserved"}, {"255.255.255.255", "broadcast"},
}

var targets6 = []target{
	{"::1", "loopback"}, {"::", "unspecified"}, {"0:0:0:0:0:0:0:1", "loopback"}, {"0000::0001", "loopback"},
	{"fe80::1", "link-local"}, {"febf:ffff::1", "link-local"}, {"fec0::1", "site-local"},
	{"fc00::1", "private"}, {"fd00::1", "private"}, {"fdff:ffff::1", "private"}, {"fd00:ec2::254", "metadata of a cloud"}, {"fd20:ce::254", "metadata of a cloud"},
	{"ff02::1", "multicast"}, {"ff05::2", "multicast"}, {"ff0e::1", "multicast"},
	{"2001:db8::1", "documents"}, {"3fff::1", "documents"}, {"3fff:fff:ffff::1", "documents"},
	{"2001:2::1", "benchmark"}, {"2001:10::1", "reserved"}, {"2001:20::1", "reserved"}, {"2001:1ff:ffff::1", "reserved"},
	{"100::1", "discard"}, {"5f00::1", "segment routing"}, {"2620:4f:8000::1", "name server of private names"},
	{"4000::1", "not in use"}, {"8000::1", "not in use"}, {"1::1", "not in use"}, {"0100:0:0:1::1", "not in use"},
}

type octets [4]byte

func (o octets) asUint32() uint32 {
	return uint32(o[0])<<24 | uint32(o[1])<<16 | uint32(o[2])<<8 | uint32(o[3])
}

// spellings are how the C library and browsers read an IPv4 address.
var spellings = []struct {
	class string
	host  func(o octets) string
}{
	{"dotted", func(o octets) string { return fmt.Sprintf("%d.%d.%d.%d", o[0], o[1], o[2], o[3]) }},
	{"decimal", func(o octets) string { return fmt.Sprintf("%d", o.asUint32()) }},
	{"hex", func(o octets) string { return fmt.Sprintf("0x%08x", o.asUint32()) }},
	{"hex in capitals", func(o octets) string { return fmt.Sprintf("0X%08X", o.asUint32()) }},
	{"octal", func(o octets) string { return fmt.Sprintf("0%o", o.asUint32()) }},
	{"dotted hex", func(o octets) string { return fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", o[0], o[1], o[2], o[3]) }},
	{"dotted octal", func(o octets) string { return fmt.Sprintf("0%o.0%o.0%o.0%o", o[0], o[1], o[2], o[3]) }},
	{"two parts", func(o octets) string { return fmt.Sprintf("%d.%d", o[0], o.asUint32()&0xffffff) }},
	{"three parts", func(o octets) string { return fmt.Sprintf("%d.%d.%d", o[0], o[1], o.asUint32()&0xffff) }},
	{"mixed", func(o octets) string { return fmt.Sprintf("0%o.%d.0x%x.%d", o[0], o[1], o[2], o[3]) }},
	{"padded", func(o octets) string { return fmt.Sprintf("%03d.%03d.%03d.%03d", o[0], o[1], o[2], o[3]) }},
	{"trailing dot", func(o octets) string { return fmt.Sprintf("%d.%d.%d.%d.", o[0], o[1], o[2], o[3]) }},
}

func ipv4SpellingCases() []Case {
	var out []Case
	for _, t := range targets4 {
		a := netip.MustParseAddr(t.addr)
		for _, s := range spellings {
			host := s.host(a.As4())
			if host == t.addr && s.class != "dotted" {
				continue // the same as dotted
			}
			out = append(out, Case{
				URL: "https://" + host + ":" + Port + "/", Why: t.why, Class: "IPv4, " + s.class, Answers: singleAnswer(a), Reaches: isLocalAddress(a),
			})
		}
	}
	return out
}

// isLocalAddress reports whether the kernel connects an address to this machine.
func isLocalAddress(a netip.Addr) bool { return a.IsLoopback() || a.IsUnspecified() }

// carriers are the forms of IPv6 addresses that embed an IPv4 address.
var carriers = []struct {
	class string
	host  func(o octets) string
	same  bool // the system connects to the IPv4 address itself
}{
	{"mapped", func(o octets) string { return fmt.Sprintf("::ffff:%d.%d.%d.%d", o[0], o[1], o[2], o[3]) }, true},
	{"mapped in hex", func(o octets) string { return fmt.Sprintf("::ffff:%02x%02x:%02x%02x", o[0], o[1], o[2], o[3]) }, true},
	{"mapped, long", func(o octets) string {
		return fmt.Sprintf("0:0:0:0:0:ffff:%02x%02x:%02x%02x", o[0], o[1], o[2], o[3])
	}, true},
	{"mapped in capitals", func(o octets) string { return fmt.Sprintf("::FFFF:%d.%d.%d.%d", o[0], o[1], o[2], o[3]) }, true},
	{"compatible", func(o octets) string { return fmt.Sprintf("::%d.%d.%d.%d", o[0], o[1], o[2], o[3]) }, false},
	{"translated", func(o octets) string { return fmt.Sprintf("::ffff:0:%02x%02x:%02x%02x", o[0], o[1], o[2], o[3]) }, false},
	{"NAT64", func(o octets) string { return fmt.Sprintf("64:ff9b::%d.%d.%d.%d", o[0], o[1], o[2], o[3]) }, false},
	{"NAT64 of a network", func(o octets) string {
		return fmt.Sprintf("64:ff9b:1::%02x%02x:%02x%02x", o[0], o[1], o[2], o[3])
	}, false},
	{"6to4", func(o octets) string { return fmt.Sprintf("2002:%02x%02x:%02x%02x::1", o[0], o[1], o[2], o[3]) }, false},
	{"Teredo", func(o octets) string {
		return fmt.Sprintf("2001:0:102:304:8000:63bf:%02x%02x:%02x%02x", ^o[0], ^o[1], ^o[2], ^o[3])
	}, false},
	{"ISATAP", func(o octets) string { return fmt.Sprintf("fe80::5efe:%02x%02x:%02x%02x", o[0], o[1], o[2], o[3]) }, false},
}

func embeddedIPv4Cases() []Case {
	var out []Case
	for _, t := range targets4 {
		a := netip.MustParseAddr(t.addr)
		for _, c := range carriers {
			out = append(out, Case{
				URL: "https://[" + c.host(a.As4()) + "]:" + Port + "/", Why: t.why, Class: "IPv6 with IPv4, " + c.class, Reaches: c.same && isLocalAddress(a),
			})
		}
	}
	return out
}

func ipv6Cases() []Case {
	var out []Case
	for _, t := range targets6 {
		a := netip.MustParseAddr(t.addr)
		out = append(out, Case{URL: "https://[" + t.addr + "]:" + Port + "/", Why: t.why, Class: "IPv6", Reaches: isLocalAddress(a)})
		if a.String() == t.addr { // once for several spellings of one address
			out = append(out, Case{URL: "https://[" + strings.ToUpper(a.StringExpanded()) + "]:" + Port + "/", Why: t.why, Class: "IPv6, long", Reaches: isLocalAddress(a)})
		}
	}
	return out
}

// Public returns URLs of public hosts, many at the edges of ranges that are not public.
func Public() []string {
	out := []string{
		"https://" + PublicHost + "/", "https://" + PublicHost, "https://" + PublicHost + ":8443/a/b?c=d&e=%20", "HTTPS://Hooks.Example.COM/",
		"https://xn--bcher-kva.example.com/", "https://a_b.example.com/", "https://1.example.com/", "https://10.0.0.1.example.com/", "https://0x7f.example.com/",
		"https://localhost.example.com/", "https://internal.example.com/", "https://mylocal.example.org/", "https://hooks.example.com/?url=http://127.0.0.1/", "https://hooks.example.com/@127.0.0.1/",
	}
	for _, a := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "168.63.129.15", "168.63.129.17",
		"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0",
		"198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
	} {
		out = append(out, "https://"+a+"/")
	}
	for _, a := range []string{
		"2606:4700:4700::1111", "2001:4860:4860::8888", "2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2003::1", "2400::1", "2a00:1450::1", "2620:4f:7fff::1", "3ffe:ffff::1",
	} {
		out = append(out, "https://["+a+"]/")
	}
	return out
}
