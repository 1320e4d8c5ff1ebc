//go:build linux

// Package g19 kills a server that sends webhooks: what was acknowledged must be told, and
// never to the inside.
package g19

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/webhook/ssrftest"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

func init() { harness.Register("G19", messagesArrive) }

// messagesArrive: webhooks are signed, come at least once, and never go to an address of
// the inside.
func messagesArrive(r *harness.Run) []harness.Verdict {
	out := []harness.Verdict{neverInside(r), killedCouriers(r, "")}
	return serverbed.OnPostgres(r, out, killedCouriers)
}

// lure counts who connects to this machine.
type lure struct {
	port  int
	n     atomic.Int64
	lines []net.Listener
}

// newLure listens to one port of both loopback addresses.
func newLure() (*lure, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &lure{port: l.Addr().(*net.TCPAddr).Port, lines: []net.Listener{l}}
	if six, err := net.Listen("tcp", fmt.Sprintf("[::1]:%d", t.port)); err == nil { // not every machine has it
		t.lines = append(t.lines, six)
	}
	for _, l := range t.lines {
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				t.n.Add(1)
				_ = c.Close() // whoever it is
			}
		}()
	}
	return t, nil
}

func (t *lure) close() error {
	var errs []error
	for _, l := range t.lines {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

func neverInside(r *harness.Run) harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G19", What: "addresses of the inside: refused as a webhook, and when one is there all the same", Detail: map[string]any{},
		Control: "a server that is lenient: it connects",
	}
	start := time.Now()
	t, err := newLure()
	if err != nil {
		v.Fail("%v", err)
		return v
	}
	h, g, err := oneGuest(r, serverbed.HallOptions{Strict: true})
	if err != nil {
		v.Fail("%v", err)
		return v
	}
	refuseAll(&v, h, g, t)
	smuggled(&v, h, g, t)
	if n := t.n.Load(); n > 0 {
		v.Fail("%d connections to this machine", n)
	}
	if err := h.Close(); err != nil {
		v.Fail("close: %v", err)
	}
	v.Caught, err = lenientReaches(r, t)
	if err = errors.Join(err, t.close()); err != nil {
		v.Fail("control: %v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

func oneGuest(r *harness.Run, o serverbed.HallOptions) (*serverbed.Hall, *serverbed.Guest, error) {
	h, err := serverbed.OpenHall(r, o)
	if err != nil {
		return nil, nil, err
	}
	g, err := h.Add("alpha")
	return h, g, err
}

// refuseAll asks for a webhook to every address, new and in the place of another.
func refuseAll(v *harness.Verdict, h *serverbed.Hall, g *serverbed.Guest, t *lure) {
	admin := g.Keys[retake.KeyAdmin]
	a, err := h.Must(admin, http.MethodPost, "/v1/webhooks", `{"url":"https://hooks.example.com/a"}`)
	if err != nil {
		v.Fail("%v", err)
		return
	}
	put := "/v1/webhooks/" + a.Pick("webhook.id")
	classes := map[string]int{}
	for _, c := range ssrftest.Cases() {
		if c.Late {
			continue
		}
		body, _ := json.Marshal(map[string]string{"url": c.URLWithPort(t.port)}) // a text
		for _, q := range []serverbed.Asked{{Method: http.MethodPost, Path: "/v1/webhooks"}, {Method: http.MethodPut, Path: put}} {
			v.Tried++
			q.Key, q.Body = admin, body
			if a := h.Ask(q); a.Status/100 != 4 {
				v.Fail("%s %s (%s, %s): %s", q.Method, c.URLWithPort(t.port), c.Class, c.Why, a.Say())
			}
		}
		classes[c.Class]++
	}
	v.Detail["classes"], v.Detail["addresses"] = len(classes), (v.Tried)/2
	if _, err := h.Must(admin, http.MethodDelete, put, ""); err != nil {
		v.Fail("%v", err)
	}
}

const mostHooks = 20

// smuggled puts addresses of the inside past the first fence, into the rows. The second
// one stands where a connection is made.
func smuggled(v *harness.Verdict, h *serverbed.Hall, g *serverbed.Guest, t *lure) {
	var urls []string
	for _, c := range ssrftest.Cases() {
		if c.Reaches && !c.Late && !slices.Contains(urls, c.URLWithPort(t.port)) {
			urls = append(urls, c.URLWithPort(t.port))
		}
	}
	v.Detail["smuggled"] = len(urls)
	for part := range slices.Chunk(urls, mostHooks) {
		if err := smuggle(h, g, part); err != nil {
			v.Fail("%v", err)
			return
		}
		if _, err := h.Must(g.Keys[retake.KeyAgent], http.MethodPost, "/v1/snapshots", `{"label":"told"}`); err != nil {
			v.Fail("%v", err)
			return
		}
		// Every message of this round has been tried once, and waits for its next try.
		if !daemonbed.Await(func() bool {
			return h.Rows.Count(`SELECT COUNT(*) FROM due WHERE queue = 'outbox'`) == 0 && triedAll(h, g)
		}) {
			v.Fail("not every message was tried")
		}
		v.Tried += int64(len(part))
		a := h.Ask(serverbed.Asked{Key: g.Keys[retake.KeyAdmin], Method: http.MethodGet, Path: "/v1/deliveries?limit=1000"})
		if strings.Contains(string(a.Body), `"state":"delivered"`) {
			v.Fail("a message was delivered: %s", a.Say())
		}
		if err := dropHooks(h, g); err != nil {
			v.Fail("%v", err)
		}
	}
}

// smuggle makes webhooks with an address that is fine, and changes their rows.
func smuggle(h *serverbed.Hall, g *serverbed.Guest, urls []string) error {
	for i, u := range urls {
		fine := fmt.Sprintf("https://hooks.example.com/%d", i)
		a, err := h.Must(g.Keys[retake.KeyAdmin], http.MethodPost, "/v1/webhooks", `{"url":"`+fine+`"}`)
		if err != nil {
			return err
		}
		quoted, _ := json.Marshal(u) // a text
		_, err = h.Rows.Conn.ExecContext(context.Background(), `UPDATE hook SET body = CAST(REPLACE(CAST(body AS TEXT), $1, $2) AS BLOB) WHERE id = $3`,
			`"`+fine+`"`, string(quoted), a.Pick("webhook.id"))
		if err != nil {
			return err
		}
	}
	return nil
}

// triedAll: no message is there without a try.
func triedAll(h *serverbed.Hall, g *serverbed.Guest) bool {
	a := h.Ask(serverbed.Asked{Key: g.Keys[retake.KeyAdmin], Method: http.MethodGet, Path: "/v1/deliveries?limit=1000&state=waiting"})
	return a.Good() && !strings.Contains(string(a.Body), `"tries":[]`) && !strings.Contains(string(a.Body), `"tries":null`)
}

func dropHooks(h *serverbed.Hall, g *serverbed.Guest) error {
	a, err := h.Must(g.Keys[retake.KeyAdmin], http.MethodGet, "/v1/webhooks?limit=1000", "")
	if err != nil {
		return err
	}
	var all struct {
		Data []retake.Webhook
	}
	if err := json.Unmarshal(a.Body, &all); err != nil {
		return err
	}
	for _, w := range all.Data {
		if _, err := h.Must(g.Keys[retake.KeyAdmin], http.MethodDelete, "/v1/webhooks/"+string(w.ID), ""); err != nil {
			return err
		}
	}
	return nil
}

// lenientReaches counts connections of a server that may go to this machine.
func lenientReaches(r *harness.Run, t *lure) (int64, error) {
	h, g, err := oneGuest(r, serverbed.HallOptions{})
	if err != nil {
		return 0, err
	}
	for _, u := range []string{fmt.Sprintf("http://127.0.0.1:%d/", t.port), fmt.Sprintf("https://127.0.0.1:%d/", t.port)} {
		if _, err := h.Must(g.Keys[retake.KeyAdmin], http.MethodPost, "/v1/webhooks", `{"url":"`+u+`"}`); err != nil {
			return 0, err
		}
	}
	if _, err := h.Must(g.Keys[retake.KeyAgent], http.MethodPost, "/v1/snapshots", `{"label":"told"}`); err != nil {
		return 0, err
	}
	daemonbed.Await(func() bool { return t.n.Load() >= 2 })
	return t.n.Load(), h.Close()
}
