package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/retake-dev/retake/internal/ui/web"
)

// localGuard is that of a daemon, with known hosts. serverGuard is that of a server, with any host.
var (
	localGuard  = web.OriginGuard{Hosts: []string{"127.0.0.1:4000", "localhost:4000"}}
	serverGuard = web.OriginGuard{PublicURL: "https://retake.example.com"}
)

func TestGuard(t *testing.T) {
	t.Parallel()
	type headers = map[string]string
	for why, x := range map[string]struct {
		g      web.OriginGuard
		host   string
		header headers
		want   int
	}{
		"our page":                              {localGuard, "127.0.0.1:4000", headers{"Origin": "http://127.0.0.1:4000", "Sec-Fetch-Site": "same-origin"}, 0},
		"our page, by its other name":           {localGuard, "localhost:4000", headers{"Origin": "http://localhost:4000"}, 0},
		"a person types the address":            {localGuard, "127.0.0.1:4000", headers{"Sec-Fetch-Site": "none"}, 0},
		"a program":                             {localGuard, "127.0.0.1:4000", nil, 0},
		"a name that was made to lead here":     {localGuard, "evil.example:4000", headers{"Sec-Fetch-Site": "same-origin"}, 421},
		"our name without the port":             {localGuard, "127.0.0.1", nil, 421},
		"our name at another port":              {localGuard, "127.0.0.1:4001", nil, 421},
		"our name with a dot":                   {localGuard, "localhost.:4000", nil, 421},
		"no name":                               {localGuard, "", nil, 421},
		"another site":                          {localGuard, "127.0.0.1:4000", headers{"Origin": "https://evil.example"}, 403},
		"another port of this machine":          {localGuard, "127.0.0.1:4000", headers{"Origin": "http://127.0.0.1:3000"}, 403},
		"one of our names asks the other":       {localGuard, "127.0.0.1:4000", headers{"Origin": "http://localhost:4000"}, 403},
		"a sandboxed frame":                     {localGuard, "127.0.0.1:4000", headers{"Origin": "null"}, 403},
		"an origin that begins like ours":       {localGuard, "127.0.0.1:4000", headers{"Origin": "http://127.0.0.1:4000.evil.example"}, 403},
		"another site, without an origin":       {localGuard, "127.0.0.1:4000", headers{"Sec-Fetch-Site": "cross-site"}, 403},
		"another port, without an origin":       {localGuard, "127.0.0.1:4000", headers{"Sec-Fetch-Site": "same-site"}, 403},
		"the page of a server":                  {serverGuard, "10.0.0.1:8080", headers{"Origin": "http://10.0.0.1:8080"}, 0},
		"the page of a server behind a proxy":   {serverGuard, "backend:8080", headers{"Origin": "https://retake.example.com"}, 0},
		"the public name, but not sealed":       {serverGuard, "backend:8080", headers{"Origin": "http://retake.example.com"}, 403},
		"another site asks a server":            {serverGuard, "retake.example.com", headers{"Origin": "https://evil.example"}, 403},
		"a sibling of a server":                 {serverGuard, "retake.example.com", headers{"Sec-Fetch-Site": "same-site"}, 403},
		"a page of a file asks a server":        {serverGuard, "retake.example.com", headers{"Origin": "null"}, 403},
		"a server that knows no public address": {web.OriginGuard{}, "retake.example.com", headers{"Origin": "https://evil.example"}, 403},
	} {
		r := httptest.NewRequest("GET", "/v1/about", nil)
		r.Host = x.host
		for k, v := range x.header {
			r.Header.Set(k, v)
		}
		status, err := x.g.Check(r)
		if status != x.want || (err == nil) != (x.want == 0) {
			t.Errorf("%s: %d %v, not %d", why, status, err, x.want)
		}
	}
}

func TestTwoOriginsAreNone(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/v1/about", nil)
	r.Host = "127.0.0.1:4000"
	r.Header["Origin"] = []string{"http://127.0.0.1:4000", "https://evil.example"}
	if status, _ := localGuard.Check(r); status != http.StatusForbidden {
		t.Errorf("%d", status)
	}
}
