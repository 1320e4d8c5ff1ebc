//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
)

func init() { register("G16", neverAnother) }

// neverAnother: one tenant never sees another. A world with two tenants and a world with
// one of them alone give that one the same answers.
func neverAnother(r *run) []verdict {
	out := []verdict{twoWorlds(r, "", false)}
	if !*alsoPostgres {
		return out
	}
	return append(out, twoWorlds(r, "rows fenced twice", true), twoWorlds(r, "without the fence of the database", true), rowFence(r))
}

// worlds are the two.
type worlds struct {
	one, two   *hall // in one there is another
	a1, a2, b  *guest
	n1, n2, nb *reader
	dice       *dice
	theirs     *dice // what the other does
	sinks      []*receiver
	seen       map[string]bool // all that is the other's
	public     map[string]bool // IDs in the examples of the API description: nobody's own
	steps      int
	done       int               // of the other's
	faults     map[string]string // answers that nobody should get, by operation
}

func twoWorlds(r *run, how string, postgres bool) verdict {
	v := verdict{
		Guarantee: "G16", What: "a tenant beside another gets the answers of one alone", Detail: map[string]any{},
		Control: "a row of the other moved over, and a request with the other's key: each is seen",
	}
	if postgres {
		v.What += ", Postgres, " + how
	}
	start := time.Now()
	codes, faults := map[int]int{}, map[string]string{}
	n := r.figure(2_000, 50_000)
	for part := 0; part*perWorld < n && v.Failed == 0; part++ {
		t, err := openWorlds(r, postgres, strings.HasPrefix(how, "without"))
		if err == nil {
			err = t.begin(uint64(r.seed) + uint64(part)*10_000)
		}
		if err != nil {
			v.fail("%v", err)
			break
		}
		t.faults = faults
		t.live(&v, min(perWorld, n-part*perWorld), codes)
	}
	v.Detail["answers by hundreds"] = codes
	if len(faults) > 0 {
		v.Detail["faults"] = faults
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

// perWorld is how many requests a pair of worlds gets: in a world that is too full every
// answer is long.
const perWorld = 5_000

// live asks n times, and looks at what came to whom.
func (t *worlds) live(v *verdict, n int, codes map[int]int) {
	for range n {
		v.Tried++
		diff, code := t.step()
		codes[code/100]++
		if diff != "" {
			v.fail("%s", diff)
		}
		if v.Failed >= 10 {
			break
		}
	}
	if what := t.messages(v.Detail); what != "" {
		v.fail("%s", what)
	}
	caught, err := t.controls()
	v.Caught += caught
	if err := errors.Join(err, t.one.close(), t.two.close()); err != nil {
		v.fail("close: %v", err)
	}
	for name, n := range map[string]int{"requests of the other": t.steps, "done": t.done} {
		sum, _ := v.Detail[name].(int)
		v.Detail[name] = sum + n
	}
}

// messages tells what is wrong with those that came: to the one came as many as to one
// alone, and nothing of the other.
func (t *worlds) messages(detail map[string]any) string {
	distinct := func(c *receiver) int {
		ids := map[string]bool{}
		for _, m := range c.all() {
			ids[m.header.Get("webhook-id")] = true
		}
		return len(ids)
	}
	if !t.one.settled() || !t.two.settled() || !await(func() bool { return distinct(t.sinks[0]) == distinct(t.sinks[1]) }) {
		return fmt.Sprintf("%d messages beside another, %d alone", distinct(t.sinks[0]), distinct(t.sinks[1]))
	}
	for _, m := range t.sinks[0].all() {
		if bytes.Contains(m.body, []byte(t.mark())) {
			return fmt.Sprintf("a message tells of the other: %.200s", m.body)
		}
	}
	for name, c := range map[string]*receiver{"messages": t.sinks[0], "messages to the other": t.sinks[2]} {
		sum, _ := detail[name].(int)
		detail[name] = sum + distinct(c)
	}
	return ""
}

// mark is in every text of the other.
func (t *worlds) mark() string { return "bmark" }

func openWorlds(r *run, postgres, unfenced bool) (*worlds, error) {
	t := &worlds{seen: map[string]bool{}, faults: map[string]string{}}
	var at [2]string
	for i := range at {
		if postgres {
			dsn, err := postgresFor(r)
			if err != nil {
				return nil, err
			}
			at[i] = dsn
		}
	}
	for range 3 {
		s, err := newReceiver(nil)
		if err != nil {
			return nil, err
		}
		t.sinks = append(t.sinks, s)
	}
	var err error
	if t.one, err = openHall(r, hallOptions{postgres: at[0]}); err != nil {
		return nil, err
	}
	if t.two, err = openHall(r, hallOptions{postgres: at[1], keys: t.one.dir}); err != nil { // places in lists are sealed by this key
		return nil, err
	}
	if t.b, err = t.one.add("beta"); err != nil {
		return nil, err
	}
	if t.a1, err = t.one.add("alpha"); err != nil {
		return nil, err
	}
	if t.a2, err = t.two.add("alpha"); err != nil {
		return nil, err
	}
	if unfenced {
		if err := t.one.rows.unfence(); err != nil {
			return nil, err
		}
	}
	return t, errors.Join(t.one.rows.enter("alpha"), t.two.rows.enter("alpha"))
}

// begin makes dice, and gives both worlds the same first things.
func (t *worlds) begin(seed uint64) error {
	t.n1, t.n2, t.nb = newReader(t.one.dir, t.sinks[0].url), newReader(t.two.dir, t.sinks[1].url), newReader(t.one.dir, t.sinks[2].url)
	d, err := t.one.describe(t.a1.keys[retake.KeyReader])
	if err != nil {
		return err
	}
	t.public = map[string]bool{}
	for _, form := range idForms {
		for _, id := range form.FindAll(t.one.ask(asked{key: t.a1.keys[retake.KeyReader], method: http.MethodGet, path: describedAt}).body, -1) {
			t.public[string(id)] = true
		}
	}
	if len(t.public) == 0 {
		return errors.New("the API description has no examples")
	}
	if t.dice, err = newDice(seed, d); err != nil {
		return err
	}
	if t.theirs, err = newDice(seed+1000, d); err != nil {
		return err
	}
	t.dice.name, t.theirs.name = t.pool(t.dice, t.n1, "alpha"), t.pool(t.theirs, t.nb, "beta")
	t.other(asked{method: http.MethodGet, path: "/v1/workspaces"}, retake.KeyReader)
	for _, q := range []struct {
		kind retake.KeyKind
		asked
	}{
		{retake.KeyReader, asked{method: http.MethodGet, path: "/v1/workspaces"}},
		{retake.KeyAdmin, asked{method: http.MethodGet, path: "/v1/keys"}},
		{retake.KeyOperator, asked{method: http.MethodPost, path: "/v1/import?name=second", body: smallTar("b.txt", "second\n"), header: map[string]string{"Content-Type": "application/x-tar"}}},
		{retake.KeyAdmin, asked{method: http.MethodPost, path: "/v1/webhooks", body: []byte(`{"url":"Q9sinkQ9"}`)}},
	} {
		q.header = nonNil(q.header)
		if !t.one.settled() || !t.two.settled() { // a webhook is told of what comes after it
			return errors.New("a server does not come to rest")
		}
		if diff, code := t.both("start", q.asked, q.kind); diff != "" || code/100 != 2 {
			return fmt.Errorf("the worlds do not begin alike: %d %s", code, diff)
		}
		t.other(q.asked, q.kind)
	}
	return nil
}

func nonNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// step lets the other do something, and the one ask something in both worlds.
func (t *worlds) step() (string, int) {
	ops := t.dice.d.ops
	if t.theirs.chance(40) {
		op := ops[t.theirs.IntN(len(ops))]
		t.plant(t.one, "beta", t.theirs, t.mark())
		t.other(t.theirs.request(op), kindFor(t.theirs, op))
		t.steps++
	}
	if t.dice.chance(10) {
		x := t.dice.Uint64()
		for _, h := range []*hall{t.one, t.two} {
			_ = plantFile(filepath.Join(h.files("alpha"), "default", fmt.Sprintf("f%d.txt", x%5)), fmt.Sprint(x)) // a save more or less that finds nothing
		}
	}
	op := ops[t.dice.IntN(len(ops))]
	q := t.dice.request(op)
	if op.id == "import" {
		q.body, q.header["Content-Type"] = smallTar("c.txt", "imported\n"), "application/x-tar"
	}
	if op.id == "set-limits" { // others count seconds
		q.body = []byte(fmt.Sprintf(`{"workspaces":%d}`, 500+t.dice.IntN(500)))
	}
	if slices.Contains(settling, op.id) && (!t.one.settled() || !t.two.settled()) {
		return "a server does not come to rest", 0
	}
	return t.both(op.id, q, kindFor(t.dice, op))
}

// settling are operations whose answers, or whose effects, hang on how far messages are.
var settling = []string{"events", "list-deliveries", "delivery", "replay", "audit", "check-audit", "make-webhook", "change-webhook", "drop-webhook", "rotate-webhook", "rebuild"}

// kindFor is mostly a key that may.
func kindFor(c *dice, op operation) retake.KeyKind {
	k := retake.KeyKinds[c.IntN(len(retake.KeyKinds))]
	for range 20 {
		if k.Has(op.power) || c.chance(10) {
			return k
		}
		k = retake.KeyKinds[c.IntN(len(retake.KeyKinds))]
	}
	return k
}

func (t *worlds) plant(h *hall, ns retake.NamespaceID, c *dice, text string) {
	if c.chance(20) {
		_ = plantFile(filepath.Join(h.files(ns), "default", fmt.Sprintf("f%d.txt", c.IntN(5))), fmt.Sprint(text, c.Uint64())) // as above
	}
}

// other is a request of the other, whose answers are looked through for what is its own.
func (t *worlds) other(q asked, kind retake.KeyKind) {
	q = t.nb.fill(q)
	q.key = t.b.keys[kind]
	a := t.one.ask(q)
	if t.nb.answer("", a); a.good() {
		t.done++
	}
	for id := range t.nb.known {
		t.seen[id] = true
	}
}

// pair asks both worlds at once.
func (t *worlds) pair(q1, q2 asked) (a1, a2 answer) {
	var wg sync.WaitGroup
	wg.Go(func() { a1 = t.one.ask(q1) })
	wg.Go(func() { a2 = t.two.ask(q2) })
	wg.Wait()
	return a1, a2
}

// both asks the same in both worlds; "" when the answers are alike.
func (t *worlds) both(op string, q asked, kind retake.KeyKind) (string, int) {
	q1, q2 := t.n1.fill(q), t.n2.fill(q)
	q1.key, q2.key = t.a1.keys[kind], t.a2.keys[kind]
	a1, a2 := t.pair(q1, q2)
	if a1.status >= 500 || a1.status == 0 {
		t.faults[op] = fmt.Sprintf("%s %.200s %.200s: %d %s", q1.method, q1.path, q1.body, a1.status, a1.pick("detail"))
	}
	if what := t.leaks(q1, a1); what != "" {
		return fmt.Sprintf("%s told of the other: %s: %s", op, what, a1.say()), a1.status
	}
	if t.anchored(op) {
		op = "replay" // anchors come by the clock, and each is an entry
	}
	s1, s2 := t.n1.answer(op, a1), t.n2.answer(op, a2)
	if s1 != s2 && narrates(q1) {
		await(func() bool { // until both worlds have told the stories of their checkpoints
			a1, a2 = t.pair(q1, q2)
			s1, s2 = t.n1.answer(op, a1), t.n2.answer(op, a2)
			return s1 == s2
		})
	}
	if s1 == s2 {
		return "", a1.status
	}
	i := 0
	for i < min(len(s1), len(s2)) && s1[i] == s2[i] {
		i++
	}
	from := max(0, i-60)
	return fmt.Sprintf("%s as %s: %s %.300s %.300s: beside another %q, alone %q", op, kind, q1.method, q1.path, q1.body, cutText(s1[from:]), cutText(s2[from:])), a1.status
}

// anchored: an operation tells of the audit log, and a clock has written into it.
func (t *worlds) anchored(op string) bool {
	const text = `SELECT COUNT(*) FROM anchor`
	return strings.HasSuffix(op, "audit") && t.one.rows.count(text)+t.two.rows.count(text) != 0
}

func cutText(s string) string { return fmt.Sprintf("%.220s", s) }

// leaks finds in an answer what is the other's and was not in the request.
func (t *worlds) leaks(q asked, a answer) string {
	if bytes.Contains(a.body, []byte(t.mark())) && !strings.Contains(q.path+string(q.body), t.mark()) {
		return t.mark()
	}
	for _, form := range idForms {
		for _, id := range form.FindAll(a.body, -1) {
			if s := string(id); t.seen[s] && !t.public[s] && !strings.Contains(q.path+string(q.body), s) && t.n1.known[s] == "" {
				return s
			}
		}
	}
	return ""
}
