// Package ssrftest has URLs that try to lead a sender of messages to hosts that its
// customers must not reach (server-side request forgery), and URLs that it must not refuse.
//
// It generates tables and touches nothing: its users bring the sender, the
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

// Port is the placeholder for the port of the listener in a URL.
const Port = "PORT"

// PublicHost is a name, and PublicAddress what it resolves to, for cases that need a public
// host.
const PublicHost = "hooks.example.com"

// PublicAddress is never connected to: a sender under test gets its own dialer.
var PublicAddress = netip.MustParseAddr("93.184.215.14")

// Case is one attempt.
type Case struct {
	URL   string
	Why   string // why it must not be reached
	Class string
	// Answers are the results of consecutive lookups of the host; the last one is
	// repeated. None: there is nothing to resolve. A system that reads numbers as addresses
	// resolves those too.
	Answers [][]netip.Addr
	// Status and Location are the response of the public host that URL leads to, if the
	// case is a redirect.
	Status   int
	Location string
	Late     bool // the URL itself is allowed, but not what it leads to
	Reaches  bool
}

// URLWithPort returns the URL with the port of the listener.
func (c Case) URLWithPort(port int) string {
	return strings.ReplaceAll(c.URL, Port, strconv.Itoa(port))
}

// LocationWithPort returns the redirect target with the port of the listener.
func (c Case) LocationWithPort(port int) string {
	return strings.ReplaceAll(c.Location, Port, strconv.Itoa(port))
}

// Rebinds reports whether a name changes its address between two lookups.
func (c Case) Rebinds() bool { return len(c.Answers) > 1 }

// Resolver returns a resolver that gives the answers of the case. Each resolver counts its own
// lookups.
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

// Cases returns all cases.
func Cases() []Case {
	var out []Case
	for _, make := range []func() []Case{
		ipv4SpellingCases, embeddedIPv4Cases, ipv6Cases, resolvedNameCases, rebindingCases, internalNameCases, schemeCases, ambiguousHostCases, encodedHostCases, zoneCases, portCases, redirectCases,
	} {
		out = append(out, make()...)
	}
	return out
}

// singleAnswer returns answers with the same addresses for every lookup.
func singleAnswer(list ...netip.Addr) [][]netip.Addr { return [][]netip.Addr{list} }
