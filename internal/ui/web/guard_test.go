package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/retake-dev/retake/internal/ui/web"
)

// near is a laptop: the hosts are known. far is a server: they are whatever was asked.
var (
	near = web.Guard{Hosts: []string{"127.0.0.1:4000", "localhost:4000"}}
	far  = web.Guard{Public: "https://retake.example.com"}
)

func TestGuard(t *testing.T) {
	t.Parallel()
	type headers = map[string]string
	for why, x := range map[string]struct {
		g      web.Guard
		host   string
		header headers
		want   int
	}{
		"our page":                              {near, "127.0.0.1:4000", headers{"Origin": "http://127.0.0.1:4000", "Sec-Fetch-Site": "same-origin"}, 0},
		"our page, by its other name":           {near, "localhost:4000", headers{"Origin": "http://localhost:4000"}, 0},
		"a person types the address":            {near, "127.0.0.1:4000", headers{"Sec-Fetch-Site": "none"}, 0},
		"a program":                             {near, "127.0.0.1:4000", nil, 0},
		"a name that was made to lead here":     {near, "evil.example:4000", headers{"Sec-Fetch-Site": "same-origin"}, 421},
		"our name without the port":             {near, "127.0.0.1", nil, 421},
		"our name at another port":              {near, "127.0.0.1:4001", nil, 421},
		"our name with a dot":                   {near, "localhost.:4000", nil, 421},
		"no name":                               {near, "", nil, 421},
		"another site":                          {near, "127.0.0.1:4000", headers{"Origin": "https://evil.example"}, 403},
		"another port of this machine":          {near, "127.0.0.1:4000", headers{"Origin": "http://127.0.0.1:3000"}, 403},
		"one of our names asks the other":       {near, "127.0.0.1:4000", headers{"Origin": "http://localhost:4000"}, 403},
		"a sandboxed frame":                     {near, "127.0.0.1:4000", headers{"Origin": "null"}, 403},
		"an origin that begins like ours":       {near, "127.0.0.1:4000", headers{"Origin": "http://127.0.0.1:4000.evil.example"}, 403},
		"another site, without an origin":       {near, "127.0.0.1:4000", headers{"Sec-Fetch-Site": "cross-site"}, 403},
		"another port, without an origin":       {near, "127.0.0.1:4000", headers{"Sec-Fetch-Site": "same-site"}, 403},
		"the page of a server":                  {far, "10.0.0.1:8080", headers{"Origin": "http://10.0.0.1:8080"}, 0},
		"the page of a server behind a proxy":   {far, "backend:8080", headers{"Origin": "https://retake.example.com"}, 0},
		"the public name, but not sealed":       {far, "backend:8080", headers{"Origin": "http://retake.example.com"}, 403},
		"another site asks a server":            {far, "retake.example.com", headers{"Origin": "https://evil.example"}, 403},
		"a sibling of a server":                 {far, "retake.example.com", headers{"Sec-Fetch-Site": "same-site"}, 403},
		"a page of a file asks a server":        {far, "retake.example.com", headers{"Origin": "null"}, 403},
		"a server that knows no public address": {web.Guard{}, "retake.example.com", headers{"Origin": "https://evil.example"}, 403},
	} {
		r := httptest.NewRequest("GET", "/v1/about", nil)
		r.Host = x.host
		for k, v := range x.header {
			r.Header.Set(k, v)
		}
		status, err := x.g.Judge(r)
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
	if status, _ := near.Judge(r); status != http.StatusForbidden {
		t.Errorf("%d", status)
	}
}
