//go:build linux

package matrix

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// question is one request, with what must be known to judge its answer.
type question struct {
	who   *caller
	op    *operation
	place string // whose objects it names, and where
	draft *draft
	alien bool // it names an object that is not the caller's: it must not succeed
	odd   bool // the address may be that of another route, or of none
	exact int  // the only status that is right; 0: wrong decides
}

// Report counts what came of all requests.
type Report struct {
	Tried, Allowed, Refused, Failed int
	Busy                            int            // answers of 503, which the documents allow; among the refused
	Places                          map[string]int // requests by whose objects they name
	Done                            map[string]int // successes that were right, by operation and role
	Failures                        []string       // the first ones
}

func (r *Report) String() string {
	return fmt.Sprintf("%d tried, %d allowed, %d refused, %d failed", r.Tried, r.Allowed, r.Refused, r.Failed)
}

// Add adds what another run counted.
func (r *Report) Add(o *Report) {
	r.Tried += o.Tried
	r.Allowed += o.Allowed
	r.Refused += o.Refused
	r.Failed += o.Failed
	r.Busy += o.Busy
}

// fail counts a request that was answered wrongly.
func (r *Report) fail(format string, args ...any) {
	r.Failed++
	if len(r.Failures) < 200 {
		r.Failures = append(r.Failures, fmt.Sprintf(format, args...))
	}
}

// count judges an answer.
func (s *sweep) count(q question, asked serverbed.Asked, a serverbed.Answer) {
	s.Tried++
	place, _, _ := strings.Cut(q.place, " in ")
	s.Places[place]++
	why := s.wrong(q, a)
	if why == "" {
		why = s.leak(q, asked, a)
	}
	switch {
	case why != "":
		for _, id := range idForm.FindAllString(sentText(asked), -1) { // what was stored now is shown again: one fault is enough
			s.spoiled[id] = s.spoiled[id] || a.Good()
		}
		s.fail("%s as %s, %s: %s: %s %s %.300s: %s", q.op.ID, q.who.name, q.place, why, asked.Method, asked.Path, asked.Body, a.Say())
	case a.Good():
		s.Allowed++
		s.Done[q.op.ID+" "+string(q.who.role)]++
	default:
		s.Refused++
	}
}

// wrong tells why the status of an answer is not right.
func (s *sweep) wrong(q question, a serverbed.Answer) string {
	if a.Status == http.StatusServiceUnavailable && (a.Pick("code") == "busy" || a.Pick("code") == "unavailable") {
		s.Busy++
		return ""
	}
	if a.Status >= 500 || a.Status == 0 {
		return "a fault of the server"
	}
	may := s.may(q.who, q.op)
	switch {
	case a.Good() && !may:
		return "a forbidden success"
	case a.Good() && q.alien:
		return "a success with what is not the caller's"
	case q.odd || a.Good():
		return ""
	case q.who.dead && a.Status != http.StatusUnauthorized:
		return "want 401"
	case !q.who.dead && !may && a.Status != http.StatusForbidden:
		return "want 403"
	case q.exact != 0 && a.Status != q.exact:
		return fmt.Sprintf("want %d", q.exact)
	case may && !q.alien && q.place == placeOwn && (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden) && never[q.op.ID] == "":
		return "refused, and the table allows it"
	}
	return ""
}

// leak tells what an answer shows that the caller may not know, and did not send itself.
func (s *sweep) leak(q question, asked serverbed.Asked, a serverbed.Answer) string {
	shown := string(a.Body)
	for _, values := range a.Header {
		shown += "\n" + strings.Join(values, "\n")
	}
	sent := sentText(asked)
	for _, id := range idForm.FindAllString(shown, -1) {
		secret := s.hidden[id] || q.who.limited && s.siblings[id]
		if !secret || s.spoiled[id] || q.op.ID == "audit" && s.told[id] { // the audit log repeats which workspace was asked for
			continue
		}
		if !strings.Contains(sent, id) || a.Good() {
			return "it shows " + id
		}
	}
	words := []string{otherName}
	if q.who.limited {
		words = append(words, vaultName)
	}
	for _, w := range words {
		if strings.Contains(shown, w) && !strings.Contains(sent, w) {
			return "it shows " + w
		}
	}
	for _, id := range idForm.FindAllString(sent, -1) {
		s.told[id] = true
	}
	return ""
}

var base64Form = regexp.MustCompile(`[A-Za-z0-9+/]{4,}={0,2}`)

// sentText is all that a request says, as it is and decoded.
func sentText(q serverbed.Asked) string {
	out := q.Path + "\n" + string(q.Body)
	for _, word := range base64Form.FindAllString(string(q.Body), -1) {
		if b, err := base64.StdEncoding.DecodeString(word); err == nil {
			out += "\n" + string(b)
		}
	}
	at := q.Path
	for range 2 {
		next, err := url.PathUnescape(at)
		if err != nil {
			break
		}
		out += "\n" + next
		at = next
	}
	if _, query, ok := strings.Cut(q.Path, "?"); ok {
		if text, err := url.QueryUnescape(query); err == nil {
			out += "\n" + text
		}
	}
	return out
}

// sameRefusal tells how the answers about an object of another namespace and about one that is
// nowhere differ: who is refused must not learn that something exists.
func sameRefusal(a, b serverbed.Answer, theirs, nowhere string) string {
	say := func(x serverbed.Answer, id string) string {
		text := strings.ReplaceAll(fmt.Sprintf("%d %s %s", x.Status, x.Pick("code"), x.Pick("what")), id, "…")
		return strings.ReplaceAll(text, "/ns/"+otherName+"/", "/ns/nobody/")
	}
	one, two := say(a, theirs), say(b, nowhere)
	if one == two {
		return ""
	}
	return fmt.Sprintf("%q, and of what is nowhere %q", one, two)
}
