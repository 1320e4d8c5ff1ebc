package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// Mark is the header that the console sends with every request to the API. A page of
// another site cannot send it: the browser asks first, and nobody says yes.
const ConsoleHeader = "X-Retake-Console"

// HasConsoleHeader reports whether a request carries it.
func HasConsoleHeader(r *http.Request) bool { return r.Header.Get(ConsoleHeader) == "1" }

// OriginGuard knows the addresses under which our page is open.
type OriginGuard struct {
	// Hosts are the only values that Host may have, port included; none: any, and the
	// page is wherever the browser says that it asked.
	Hosts []string
	// Public is the address of ours that others know, when a proxy changes Host.
	PublicURL string
}

// Check answers why a request did not come from our own page, and the status to refuse it
// with; no error: it may have. A browser cannot lie about these headers, and a program that
// can has no cookie to borrow.
func (g OriginGuard) Check(r *http.Request) (status int, err error) {
	if len(g.Hosts) > 0 && !slices.Contains(g.Hosts, r.Host) {
		return http.StatusMisdirectedRequest, deniedError("this is not the address of the console") // a name that was made to lead here
	}
	if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && !g.isOwnOrigin(origins[0], r.Host) {
		return http.StatusForbidden, deniedError("another site asks")
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return 0, nil
	}
	return http.StatusForbidden, deniedError("another site asks")
}

// isOwnOrigin reports whether an origin is that of our page.
func (g OriginGuard) isOwnOrigin(origin, host string) bool {
	if len(g.Hosts) > 0 {
		return origin == "http://"+host
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	if strings.EqualFold(u.Host, host) {
		return true
	}
	public, err := url.Parse(g.PublicURL)
	return err == nil && public.Host != "" && strings.EqualFold(u.Host, public.Host) && u.Scheme == public.Scheme
}

func deniedError(what string) error {
	return &retake.Error{Kind: retake.Denied, What: what, Safe: unchanged, Hint: "open the console again: retake console"}
}
