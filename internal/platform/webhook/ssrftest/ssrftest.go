// Package ssrftest has URLs that try to lead a sender of messages to machines that its
// customers must not reach, and URLs that it must not refuse.
//
// It makes tables from tables and touches nothing: who uses it brings the sender, the
// listener and the count.
//
//	X1  Every case names its reason, and no two have the same URL and answers.
//	X2  Reaches marks the cases with which a careless client gets to a listener on this
//	    machine: without them a test could pass because nothing works at all.
package ssrftest

import (
	"context"
	"net/netip"
	"strconv"
	"strings"
	"sync"
)

// Port stands in a URL where the port of the listener belongs.
const Port = "PORT"

// PublicHost is a name, and PublicAddress what it resolves to, where a case needs a host
// that is fine.
const PublicHost = "hooks.example.com"

// PublicAddress is not connected to by any case: a sender under test gets its own dial.
var PublicAddress = netip.MustParseAddr("93.184.215.14")

// Case is one try.
type Case struct {
	URL   string
	Why   string // it must not be reached
	Class string
	// Answers are what a resolver says of the host, one lookup after the other; the last
	// stays. None: there is nothing to resolve. A system that reads numbers as addresses
	// resolves those too.
	Answers [][]netip.Addr
	// Status and Location are the answer of the public host that URL leads to, when the
	// case is a redirect.
	Status   int
	Location string
	Late     bool // the URL itself is fine; what it leads to is not
	Reaches  bool
}

// URLWithPort answers the URL with a port.
func (c Case) URLWithPort(port int) string {
	return strings.ReplaceAll(c.URL, Port, strconv.Itoa(port))
}

// LocationWithPort answers where the redirect of a case leads.
func (c Case) LocationWithPort(port int) string {
	return strings.ReplaceAll(c.Location, Port, strconv.Itoa(port))
}

// Rebinds reports whether a name changes its address between two lookups.
func (c Case) Rebinds() bool { return len(c.Answers) > 1 }

// Resolver answers as the case says. It counts lookups from its own beginning.
func (c Case) Resolver() func(ctx context.Context, host string) ([]netip.Addr, error) {
	var mu sync.Mutex
	n := 0
	return func(context.Context, string) ([]netip.Addr, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(c.Answers) == 0 {
			return nil, nil
		}
		a := c.Answers[min(n, len(c.Answers)-1)]
		n++
		return a, nil
	}
}

// Cases are all.
func Cases() []Case {
	var out []Case
	for _, make := range []func() []Case{
		ipv4SpellingCases, embeddedIPv4Cases, ipv6Cases, resolvedNameCases, rebindingCases, internalNameCases, schemeCases, ambiguousHostCases, encodedHostCases, zoneCases, portCases, redirectCases,
	} {
		out = append(out, make()...)
	}
	return out
}

// singleAnswer is a resolver's only answer.
func singleAnswer(list ...netip.Addr) [][]netip.Addr { return [][]netip.Addr{list} }
