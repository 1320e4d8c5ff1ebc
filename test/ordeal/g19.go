//go:build linux

package main

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
)

func init() { register("G19", messagesArrive) }

// messagesArrive: webhooks are signed, come at least once, and never go to an address of
// the inside.
func messagesArrive(r *run) []verdict {
	out := []verdict{neverInside(r), killedCouriers(r, "")}
	return onPostgres(r, out, killedCouriers)
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

func neverInside(r *run) verdict {
	v := verdict{
		Guarantee: "G19", What: "addresses of the inside: refused as a webhook, and when one is there all the same", Detail: map[string]any{},
		Control: "a server that is lenient: it connects",
	}
	start := time.Now()
	t, err := newLure()
	if err != nil {
		v.fail("%v", err)
		return v
	}
	h, g, err := oneGuest(r, hallOptions{strict: true})
	if err != nil {
		v.fail("%v", err)
		return v
	}
	refuseAll(&v, h, g, t)
	smuggled(&v, h, g, t)
	if n := t.n.Load(); n > 0 {
		v.fail("%d connections to this machine", n)
	}
	if err := h.close(); err != nil {
		v.fail("close: %v", err)
	}
	v.Caught, err = lenientReaches(r, t)
	if err = errors.Join(err, t.close()); err != nil {
		v.fail("control: %v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

func oneGuest(r *run, o hallOptions) (*hall, *guest, error) {
	h, err := openHall(r, o)
	if err != nil {
		return nil, nil, err
	}
	g, err := h.add("alpha")
	return h, g, err
}

// refuseAll asks for a webhook to every address, new and in the place of another.
func refuseAll(v *verdict, h *hall, g *guest, t *lure) {
	admin := g.keys[retake.KeyAdmin]
	a, err := h.must(admin, http.MethodPost, "/v1/webhooks", `{"url":"https://hooks.example.com/a"}`)
	if err != nil {
		v.fail("%v", err)
		return
	}
	put := "/v1/webhooks/" + a.pick("webhook.id")
	classes := map[string]int{}
	for _, c := range ssrftest.Cases() {
		if c.Late {
			continue
		}
		body, _ := json.Marshal(map[string]string{"url": c.URLWithPort(t.port)}) // a text
		for _, q := range []asked{{method: http.MethodPost, path: "/v1/webhooks"}, {method: http.MethodPut, path: put}} {
			v.Tried++
			q.key, q.body = admin, body
			if a := h.ask(q); a.status/100 != 4 {
				v.fail("%s %s (%s, %s): %s", q.method, c.URLWithPort(t.port), c.Class, c.Why, a.say())
			}
		}
		classes[c.Class]++
	}
	v.Detail["classes"], v.Detail["addresses"] = len(classes), (v.Tried)/2
	if _, err := h.must(admin, http.MethodDelete, put, ""); err != nil {
		v.fail("%v", err)
	}
}

const mostHooks = 20

// smuggled puts addresses of the inside past the first fence, into the rows. The second
// one stands where a connection is made.
func smuggled(v *verdict, h *hall, g *guest, t *lure) {
	var urls []string
	for _, c := range ssrftest.Cases() {
		if c.Reaches && !c.Late && !slices.Contains(urls, c.URLWithPort(t.port)) {
			urls = append(urls, c.URLWithPort(t.port))
		}
	}
	v.Detail["smuggled"] = len(urls)
	for part := range slices.Chunk(urls, mostHooks) {
		if err := h.smuggle(g, part); err != nil {
			v.fail("%v", err)
			return
		}
		if _, err := h.must(g.keys[retake.KeyAgent], http.MethodPost, "/v1/snapshots", `{"label":"told"}`); err != nil {
			v.fail("%v", err)
			return
		}
		// Every message of this round has been tried once, and waits for its next try.
		if !await(func() bool {
			return h.rows.count(`SELECT COUNT(*) FROM due WHERE queue = 'outbox'`) == 0 && h.triedAll(g)
		}) {
			v.fail("not every message was tried")
		}
		v.Tried += int64(len(part))
		a := h.ask(asked{key: g.keys[retake.KeyAdmin], method: http.MethodGet, path: "/v1/deliveries?limit=1000"})
		if strings.Contains(string(a.body), `"state":"delivered"`) {
			v.fail("a message was delivered: %s", a.say())
		}
		if err := h.dropHooks(g); err != nil {
			v.fail("%v", err)
		}
	}
}

// smuggle makes webhooks with an address that is fine, and changes their rows.
func (h *hall) smuggle(g *guest, urls []string) error {
	for i, u := range urls {
		fine := fmt.Sprintf("https://hooks.example.com/%d", i)
		a, err := h.must(g.keys[retake.KeyAdmin], http.MethodPost, "/v1/webhooks", `{"url":"`+fine+`"}`)
		if err != nil {
			return err
		}
		quoted, _ := json.Marshal(u) // a text
		_, err = h.rows.conn.ExecContext(context.Background(), `UPDATE hook SET body = CAST(REPLACE(CAST(body AS TEXT), $1, $2) AS BLOB) WHERE id = $3`,
			`"`+fine+`"`, string(quoted), a.pick("webhook.id"))
		if err != nil {
			return err
		}
	}
	return nil
}

// triedAll: no message is there without a try.
func (h *hall) triedAll(g *guest) bool {
	a := h.ask(asked{key: g.keys[retake.KeyAdmin], method: http.MethodGet, path: "/v1/deliveries?limit=1000&state=waiting"})
	return a.good() && !strings.Contains(string(a.body), `"tries":[]`) && !strings.Contains(string(a.body), `"tries":null`)
}

func (h *hall) dropHooks(g *guest) error {
	a, err := h.must(g.keys[retake.KeyAdmin], http.MethodGet, "/v1/webhooks?limit=1000", "")
	if err != nil {
		return err
	}
	var all struct {
		Data []retake.Webhook
	}
	if err := json.Unmarshal(a.body, &all); err != nil {
		return err
	}
	for _, w := range all.Data {
		if _, err := h.must(g.keys[retake.KeyAdmin], http.MethodDelete, "/v1/webhooks/"+string(w.ID), ""); err != nil {
			return err
		}
	}
	return nil
}

// lenientReaches counts connections of a server that may go to this machine.
func lenientReaches(r *run, t *lure) (int64, error) {
	h, g, err := oneGuest(r, hallOptions{})
	if err != nil {
		return 0, err
	}
	for _, u := range []string{fmt.Sprintf("http://127.0.0.1:%d/", t.port), fmt.Sprintf("https://127.0.0.1:%d/", t.port)} {
		if _, err := h.must(g.keys[retake.KeyAdmin], http.MethodPost, "/v1/webhooks", `{"url":"`+u+`"}`); err != nil {
			return 0, err
		}
	}
	if _, err := h.must(g.keys[retake.KeyAgent], http.MethodPost, "/v1/snapshots", `{"label":"told"}`); err != nil {
		return 0, err
	}
	await(func() bool { return t.n.Load() >= 2 })
	return t.n.Load(), h.close()
}
