//go:build linux

package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// unsafeSnapshot happens only for files that no checkpoint can contain, which this bed does not have.
const unsafeSnapshot = "restore-snapshot 409"

// Report is what was held against the server.
type Report struct {
	Examples int // of requests that were sent, and of responses
	Errors   int // that were caused
	Failures []string
}

func (r *Report) fail(o *operation, what string, err error) {
	if err != nil {
		r.Failures = append(r.Failures, fmt.Sprintf("%s, %s: %v", o.OperationID, what, err))
	}
}

// Run does all of it.
func (b *Bed) Run() *Report {
	r := &Report{}
	all := b.doc.operations()
	for _, o := range all {
		b.checkResponses(r, o)
	}
	for _, o := range all {
		for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
			if strings.HasPrefix(status, "4") && o.OperationID+" "+status != unsafeSnapshot {
				r.Errors++
				r.fail(o, status, b.cause(o, status))
			}
		}
	}
	for _, o := range all {
		for kind, examples := range b.bodies(o) {
			for _, e := range examples {
				r.Examples++
				r.fail(o, "example", b.send(o, kind, e))
			}
		}
	}
	return r
}

// checkResponses checks the examples of responses against their schemas.
func (b *Bed) checkResponses(r *Report, o *operation) {
	for status, res := range o.Responses {
		if res.Ref != "" {
			res = b.doc.Components.Responses[last(res.Ref)]
		}
		for kind, m := range res.Content {
			for _, e := range b.doc.examples(m) {
				r.Examples++
				if strings.HasSuffix(kind, "json") {
					r.fail(o, "example of "+status, b.check(m.Schema, e.Value))
				}
			}
		}
	}
}

// bodies returns the examples of what an operation takes, by media type; one without a body if it takes none.
func (b *Bed) bodies(o *operation) map[string][]example {
	out := map[string][]example{}
	if o.RequestBody == nil {
		return map[string][]example{"": {{}}}
	}
	for kind, m := range o.RequestBody.Content {
		out[kind] = b.doc.examples(m)
	}
	return out
}

// send sends one example. It must be done.
func (b *Bed) send(o *operation, kind string, e example) error {
	q, err := b.request(o, kind, e)
	if err != nil {
		return err
	}
	a := b.ask(o, q)
	if a.Good() == slices.Contains(unmet, o.OperationID) {
		return errors.New(a.Say())
	}
	return b.judge(o, a)
}

// cause makes a request that is answered with an error that an operation lists.
func (b *Bed) cause(o *operation, status string) error {
	var q serverbed.Asked
	var err error
	for kind, examples := range b.bodies(o) {
		q, err = b.request(o, kind, examples[0])
	}
	if err != nil {
		return err
	}
	ask := b.hall.Ask
	switch status {
	case "401":
		q.Key = ""
	case "403":
		q.Key = b.keyWithout(o.Power)
	case "404":
		ask = func(q serverbed.Asked) serverbed.Answer { return b.ask(o, q) }
		if !b.nowhere(&q, o) { // a daemon has no such operation
			ask = func(q serverbed.Asked) serverbed.Answer { return serverbed.AskAt(b.daemon.http.URL, q) }
		}
	case "409":
		ask = func(q serverbed.Asked) serverbed.Answer { return b.ask(o, q) }
		if err := b.conflict(&q, o); err != nil {
			return err
		}
	case "412":
		q.Header["If-Match"] = `"another"`
	case "416":
		q.Header["Range"] = "bytes=1000000-"
	case "422":
		q.Path += map[bool]string{true: "&", false: "?"}[strings.Contains(q.Path, "?")] + "nobody=1"
	}
	a := ask(q)
	if fmt.Sprint(a.Status) != status {
		return errors.New("instead: " + a.Say())
	}
	return b.judge(o, a)
}

// nowhere makes a request about what does not exist. It returns false if it names nothing.
func (b *Bed) nowhere(q *serverbed.Asked, o *operation) bool {
	path, query, _ := strings.Cut(q.Path, "?")
	names, values := strings.Split(o.path, "/"), strings.Split(path, "/")
	at := slices.IndexFunc(names, func(s string) bool { return strings.HasPrefix(s, "{") })
	switch {
	case at >= 0:
		id := values[at]
		values[at] = id[:max(0, len(id)-len(lacking))] + lacking
	case o.OperationID == "estimate" || o.OperationID == "locate":
		query = "dir=" + filepath.Join(b.hall.Files(ownName), "nowhere")
	default:
		return false
	}
	q.Path = strings.Join(values, "/") + "?" + query
	return true
}

// conflict makes a request that needs another state, or a confirmation.
func (b *Bed) conflict(q *serverbed.Asked, o *operation) error {
	switch o.OperationID {
	case "restore":
		q.Body = []byte(`{"course":"restore","ref":"1","digest":"` + strings.Repeat("0", 64) + `"}`)
	case "apply-restore":
		q.Body = []byte(`{"ref":"14"}`)
		return plantLogin(b.realm.Root(), newest+b.realm.Fresh) // edits that are in no checkpoint
	case "attach": // there is a history already
	case "pin":
		_, err := b.hall.Must(q.Key, q.Method, q.Path, `{"ref":"2"}`)
		return err
	default: // a second time it is there already, or over
		if a := b.hall.Ask(*q); !a.Good() {
			return errors.New(a.Say())
		}
	}
	return nil
}

// Unseen is the control: it returns the changed bodies and statuses that nobody objects to.
func (b *Bed) Unseen() []string {
	o := b.doc.Paths["/v1/workspaces/{ws}/find"]["get"]
	good := b.ask(o, must(b.request(o, "", example{})))
	var unseen []string
	for name, change := range map[string]func(a *serverbed.Answer, v map[string]any){
		"a new field":     func(_ *serverbed.Answer, v map[string]any) { v["nobody"] = 1 },
		"a missing field": func(_ *serverbed.Answer, v map[string]any) { delete(v, "number") },
		"another type":    func(_ *serverbed.Answer, v map[string]any) { v["number"] = "14" },
		"a deep field": func(_ *serverbed.Answer, v map[string]any) {
			v["coverage"] = map[string]any{"grade": "complete", "nobody": 1}
		},
		"another status": func(a *serverbed.Answer, _ map[string]any) { a.Status = 418 },
	} {
		v, a := map[string]any{}, good
		if err := json.Unmarshal(good.Body, &v); err != nil {
			return []string{err.Error()}
		}
		change(&a, v)
		a.Body = must(json.Marshal(v))
		if b.judge(o, a) == nil {
			unseen = append(unseen, name)
		}
	}
	if err := b.judge(o, good); err != nil {
		unseen = append(unseen, "nothing is right: "+err.Error())
	}
	return unseen
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
