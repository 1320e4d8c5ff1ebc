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
const Mark = "X-Retake-Console"

// Marked reports whether a request carries it.
func Marked(r *http.Request) bool { return r.Header.Get(Mark) == "1" }

// Guard knows the addresses under which our page is open.
type Guard struct {
	// Hosts are the only values that Host may have, port included; none: any, and the
	// page is wherever the browser says that it asked.
	Hosts []string
	// Public is the address of ours that others know, when a proxy changes Host.
	Public string
}

// Judge answers why a request did not come from our own page, and the status to refuse it
// with; no error: it may have. A browser cannot lie about these headers, and a program that
// can has no cookie to borrow.
func (g Guard) Judge(r *http.Request) (status int, err error) {
	if len(g.Hosts) > 0 && !slices.Contains(g.Hosts, r.Host) {
		return http.StatusMisdirectedRequest, denied("this is not the address of the console") // a name that was made to lead here
	}
	if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && !g.own(origins[0], r.Host) {
		return http.StatusForbidden, denied("another site asks")
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return 0, nil
	}
	return http.StatusForbidden, denied("another site asks")
}

// own reports whether an origin is that of our page.
func (g Guard) own(origin, host string) bool {
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
	public, err := url.Parse(g.Public)
	return err == nil && public.Host != "" && strings.EqualFold(u.Host, public.Host) && u.Scheme == public.Scheme
}

func denied(what string) error {
	return &retake.Error{Kind: retake.Denied, What: what, Safe: unchanged, Hint: "open the console again: retake console"}
}
