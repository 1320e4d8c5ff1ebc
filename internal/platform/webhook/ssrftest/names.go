package ssrftest

import (
	"fmt"
	"net/netip"
	"strings"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// resolvedNameCases are ordinary names that resolve to internal addresses.
func resolvedNameCases() []Case {
	var out []Case
	add := func(name, why, class string, answers [][]netip.Addr) {
		out = append(out, Case{
			URL: "https://" + name + ":" + Port + "/", Why: why, Class: class, Answers: answers, Late: true, Reaches: isLocalAddress(answers[0][0].Unmap()),
		})
	}
	for i, t := range append(append([]target{}, targets4...), targets6...) {
		a := netip.MustParseAddr(t.addr)
		add(fmt.Sprintf("n%d.example.com", i), t.why, "name of an inside address", singleAnswer(a))
		if a.Is4() {
			add(fmt.Sprintf("m%d.example.com", i), t.why, "name of a mapped inside address", singleAnswer(netip.AddrFrom16(a.As16())))
			add(strings.ReplaceAll(t.addr, ".", "-")+".dash.example.com", t.why, "name that spells an inside address", singleAnswer(a))
			add(t.addr+".dots.example.com", t.why, "name that spells an inside address", singleAnswer(a))
		}
	}
	for i, t := range targets4 {
		for j, c := range carriers {
			if c.same {
				continue
			}
			a := netip.MustParseAddr(c.host(netip.MustParseAddr(t.addr).As4()))
			add(fmt.Sprintf("c%d-%d.example.com", i, j), t.why, "name of "+c.class, singleAnswer(a))
		}
	}
	add("many.example.com", "loopback", "name of many inside addresses", singleAnswer(loopback, netip.MustParseAddr("10.0.0.1"), netip.IPv6Loopback()))
	add("zone.example.com", "link-local", "name of an address of one link", singleAnswer(netip.MustParseAddr("fe80::1%lo")))
	return out
}

// rebindingCases are names that are public at the first lookup and internal at the second.
func rebindingCases() []Case {
	var out []Case
	for i, t := range append(append([]target{}, targets4[:20]...), targets6[:12]...) {
		a := netip.MustParseAddr(t.addr)
		out = append(out, Case{
			URL: fmt.Sprintf("https://r%d.example.com:%s/", i, Port), Why: t.why, Class: "rebinding",
			Answers: [][]netip.Addr{{PublicAddress}, {a}}, Late: true, Reaches: isLocalAddress(a),
		})
	}
	return out
}

// internalNameCases are internal names, whatever they resolve to.
func internalNameCases() []Case {
	var out []Case
	for _, n := range []string{
		"localhost", "LOCALHOST", "LocalHost", "localhost.", "a.localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "broadcasthost",
		"metadata", "metadata.google.internal", "metadata.google.internal.", "instance-data", "instance-data.ec2.internal", "kubernetes", "kubernetes.default",
		"kubernetes.default.svc.cluster.local", "host.docker.internal", "gateway.docker.internal", "printer.local", "router.lan", "nas.home", "box.home.arpa",
		"wiki.corp", "db.intranet", "vault.private", "db", "postgres", "redis", "minio", "a.onion", "a.alt", "a.invalid", "hooks.example.com.",
	} {
		answers := singleAnswer(loopback)
		out = append(out, Case{URL: "https://" + n + ":" + Port + "/", Why: "name of the inside", Class: "inside name", Answers: answers, Reaches: true})
	}
	return out
}

// redirectCases are public hosts that redirect to internal ones.
func redirectCases() []Case {
	var out []Case
	for _, status := range []int{300, 301, 302, 303, 304, 305, 306, 307, 308} {
		for _, to := range []struct {
			location string
			reaches  bool
		}{
			{"https://127.0.0.1:" + Port + "/", true}, {"http://127.0.0.1:" + Port + "/", true}, {"http://[::1]:" + Port + "/", true},
			{"http://[::ffff:127.0.0.1]:" + Port + "/", true}, {"//127.0.0.1:" + Port + "/", true}, {"http://169.254.169.254/latest/", false}, {"file:///etc/hosts", false},
		} {
			// A client follows these five; the others have no Location that counts.
			followed := status != 300 && (status <= 303 || status >= 307)
			out = append(out, Case{
				URL: "https://" + PublicHost + "/", Why: "redirect to the inside", Class: fmt.Sprintf("redirect %d", status),
				Answers: singleAnswer(PublicAddress), Status: status, Location: to.location, Late: true, Reaches: followed && to.reaches,
			})
		}
	}
	return out
}
