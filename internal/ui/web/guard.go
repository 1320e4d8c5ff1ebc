package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// ConsoleHeader is the header that the console sends with every request to the API. A page of
// another site cannot send it: the browser would need permission, which is never given.
const ConsoleHeader = "X-Retake-Console"

// HasConsoleHeader reports whether a request has the header of the console.
func HasConsoleHeader(r *http.Request) bool { return r.Header.Get(ConsoleHeader) == "1" }

// OriginGuard decides whether a request comes from our own page.
type OriginGuard struct {
	// Hosts are the only allowed values of the Host header, including the port. If there are
	// none, any host is allowed and the page's origin must match it.
	Hosts []string
	// PublicURL is the URL of the page if a proxy changes the Host header.
	PublicURL string
}

// Check returns an error, and the status to refuse a request with, if the request comes from
// another site. A browser cannot forge these headers, and a program that can has no cookie of
// the user.
func (g OriginGuard) Check(r *http.Request) (status int, err error) {
	if len(g.Hosts) > 0 && !slices.Contains(g.Hosts, r.Host) {
		return http.StatusMisdirectedRequest, deniedError("this is not the address of the console") // DNS rebinding
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
