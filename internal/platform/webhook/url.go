package webhook

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
)

const (
	maxURL   = 2048
	maxName  = 253
	maxLabel = 63
)

// internalSuffixes are the ends of names that never lead to a public host.
var internalSuffixes = []string{
	"localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa",
	"default", "svc", "onion", "alt", "invalid",
}

// urlPolicy is which URLs are allowed.
type urlPolicy struct {
	allowHTTP          bool           // besides https
	allowLoopback      bool           // addresses and names of this machine
	allowInternalNames bool           // internal names; their addresses are filtered later
	allowedPrefixes    []netip.Prefix // internal addresses that are allowed
}

// CheckURL returns an error for a URL that no message may be sent to. Success does not mean
// that its name resolves to a public address: that is only known when a message is sent.
// lenient allows http and this machine, for development.
func CheckURL(raw string, lenient bool) error {
	_, err := urlPolicy{allowHTTP: lenient, allowLoopback: lenient}.checkURL(raw)
	return err
}

// checkURL parses and checks a URL. It refuses everything that another parser might read
// differently.
func (f urlPolicy) checkURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, refuseURL("it is longer than %d characters", maxURL)
	}
	// A parser that reads the URL differently must not get another host.
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return nil, refuseURL("it has a character that must be encoded")
	}
	if strings.Contains(raw, "#") {
		return nil, refuseURL("it has a fragment")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, refuseURL("it cannot be read")
	}
	if u.Scheme != "https" && (!f.allowHTTP || u.Scheme != "http") {
		return nil, refuseURL("it does not begin with https")
	}
	if u.User != nil {
		return nil, refuseURL("it has a name or a password before the host")
	}
	if err := checkPort(u); err != nil {
		return nil, err
	}
	return u, f.checkHost(u)
}

func checkPort(u *url.URL) error {
	if u.Opaque != "" || u.Hostname() == "" || strings.HasSuffix(u.Host, ":") {
		return refuseURL("it has no host, or a colon without a port")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != p {
			return refuseURL("its port is no port")
		}
	}
	return nil
}

func (f urlPolicy) checkHost(u *url.URL) error {
	host := strings.ToLower(u.Hostname())
	if strings.HasPrefix(u.Host, "[") {
		a, err := netip.ParseAddr(host)
		if err != nil || !a.Is6() {
			return refuseURL("its address is no address")
		}
		return f.checkAddress(a)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return f.checkAddress(a)
	}
	return f.checkName(host)
}

func (f urlPolicy) checkAddress(a netip.Addr) error {
	if why := f.blockReason(a); why != "" {
		return refuseURL("its address is not public but %s", why)
	}
	return nil
}

// blockReason returns why no message may be sent to an address under this policy, or "".
func (f urlPolicy) blockReason(a netip.Addr) string {
	why := nonPublicReason(a)
	switch {
	case why == "", f.allowLoopback && a.IsLoopback() && !a.Is4In6():
		return ""
	case slices.ContainsFunc(f.allowedPrefixes, func(p netip.Prefix) bool { return p.Contains(a) }):
		return ""
	}
	return why
}

// checkName checks a host name: its syntax, and that it is not an internal name.
func (f urlPolicy) checkName(host string) error {
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if !isLabel(l) {
			return refuseURL("its host is no name")
		}
	}
	// Many parsers read a name whose last label is a number as an address: 127.1, 0x7f000001.
	if last := labels[len(labels)-1]; len(host) > maxName || isNumber(last) {
		return refuseURL("its host is no name")
	}
	if f.allowInternalNames || f.allowLoopback && (host == "localhost" || strings.HasSuffix(host, ".localhost")) {
		return nil
	}
	if len(labels) == 1 {
		return refuseURL("its host is a name of the inside")
	}
	for _, end := range internalSuffixes {
		if strings.HasSuffix("."+host, "."+end) {
			return refuseURL("its host is a name of the inside")
		}
	}
	return nil
}

func isLabel(l string) bool {
	if l == "" || len(l) > maxLabel || l[0] == '-' || l[len(l)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(l, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

func isNumber(l string) bool {
	digits := strings.TrimPrefix(l, "0x")
	if digits != l {
		return !strings.ContainsFunc(digits, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
	}
	return !strings.ContainsFunc(l, func(r rune) bool { return r < '0' || r > '9' })
}

func refuseURL(format string, args ...any) error {
	return &retake.Error{
		Kind: retake.Invalid, What: "no message is sent to this URL: " + fmt.Sprintf(format, args...), Safe: "Nothing was sent.",
		Hint: "Give an https URL of a public host, such as https://hooks.example.com/retake.",
	}
}
