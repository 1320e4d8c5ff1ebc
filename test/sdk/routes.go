package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
)

// routes are the operations of the description, to tell which of them were asked for.
type routes []route

type route struct {
	method    string
	path      *regexp.Regexp
	operation string
}

var (
	pathLine  = regexp.MustCompile(`^  (/v1/\S+):$`)
	verbLine  = regexp.MustCompile(`^    (get|post|put|delete):$`)
	nameLine  = regexp.MustCompile(`^      operationId: (\S+)$`)
	parameter = regexp.MustCompile(`\\\{[^}]*\\\}`)
)

func readRoutes(file string) (routes, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out routes
	var path, method string
	for _, line := range strings.Split(string(text), "\n") {
		if m := pathLine.FindStringSubmatch(line); m != nil {
			path = "^" + parameter.ReplaceAllString(regexp.QuoteMeta(m[1]), "[^/]+") + "$"
		} else if m := verbLine.FindStringSubmatch(line); m != nil {
			method = strings.ToUpper(m[1])
		} else if m := nameLine.FindStringSubmatch(line); m != nil {
			out = append(out, route{method, regexp.MustCompile(path), m[1]})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s tells of no operation", file)
	}
	return out, nil
}

func (rs routes) operation(r *http.Request) string {
	for _, x := range rs {
		if x.method == r.Method && x.path.MatchString(r.URL.EscapedPath()) {
			return x.operation
		}
	}
	return ""
}

// reached tells how many operations a language asked for, and which it did not.
func (p *proxy) reached() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var not []string
	for _, x := range p.routes {
		if !p.hit[x.operation] {
			not = append(not, x.operation)
		}
	}
	slices.Sort(not)
	return fmt.Sprintf("%d of %d operations asked; not: %s", len(p.routes)-len(not), len(p.routes), strings.Join(not, ", "))
}

func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }
