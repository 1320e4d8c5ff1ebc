//go:build linux

// Package g16 puts tenants beside each other: each must get the answers of one alone.
package g16

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

func init() { harness.Register("G16", neverAnother) }

// neverAnother: one tenant never sees another. A world with two tenants and a world with
// one of them alone give that one the same answers.
func neverAnother(r *harness.Run) []harness.Verdict {
	out := []harness.Verdict{twoWorlds(r, "", false)}
	if !*serverbed.AlsoPostgres {
		return out
	}
	return append(out, twoWorlds(r, "rows fenced twice", true), twoWorlds(r, "without the fence of the database", true), rowFence(r))
}

// worlds are the two.
type worlds struct {
	one, two   *serverbed.Hall // in one there is another
	a1, a2, b  *serverbed.Guest
	n1, n2, nb *reader
	dice       *serverbed.Dice
	theirs     *serverbed.Dice // what the other does
	sinks      []*serverbed.Receiver
	seen       map[string]bool // all that is the other's
	public     map[string]bool // IDs in the examples of the API description: nobody's own
	steps      int
	done       int               // of the other's
	faults     map[string]string // answers that nobody should get, by operation
}

func twoWorlds(r *harness.Run, how string, postgres bool) harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G16", What: "a tenant beside another gets the answers of one alone", Detail: map[string]any{},
		Control: "a row of the other moved over, and a request with the other's key: each is seen",
	}
	if postgres {
		v.What += ", Postgres, " + how
	}
	start := time.Now()
	codes, faults := map[int]int{}, map[string]string{}
	n := r.Figure(2_000, 50_000)
	for part := 0; part*perWorld < n && v.Failed == 0; part++ {
		t, err := openWorlds(r, postgres, strings.HasPrefix(how, "without"))
		if err == nil {
			err = t.begin(uint64(r.Seed) + uint64(part)*10_000)
		}
		if err != nil {
			v.Fail("%v", err)
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
func (t *worlds) live(v *harness.Verdict, n int, codes map[int]int) {
	for range n {
		v.Tried++
		diff, code := t.step()
		codes[code/100]++
		if diff != "" {
			v.Fail("%s", diff)
		}
		if v.Failed >= 10 {
			break
		}
	}
	if what := t.messages(v.Detail); what != "" {
		v.Fail("%s", what)
	}
	caught, err := t.controls()
	v.Caught += caught
	if err := errors.Join(err, t.one.Close(), t.two.Close()); err != nil {
		v.Fail("close: %v", err)
	}
	for name, n := range map[string]int{"requests of the other": t.steps, "done": t.done} {
		sum, _ := v.Detail[name].(int)
		v.Detail[name] = sum + n
	}
}

// messages tells what is wrong with those that came: to the one came as many as to one
// alone, and nothing of the other.
func (t *worlds) messages(detail map[string]any) string {
	distinct := func(c *serverbed.Receiver) int {
		ids := map[string]bool{}
		for _, m := range c.All() {
			ids[m.Header.Get("webhook-id")] = true
		}
		return len(ids)
	}
	if !t.one.Settled() || !t.two.Settled() || !daemonbed.Await(func() bool { return distinct(t.sinks[0]) == distinct(t.sinks[1]) }) {
		return fmt.Sprintf("%d messages beside another, %d alone", distinct(t.sinks[0]), distinct(t.sinks[1]))
	}
	for _, m := range t.sinks[0].All() {
		if bytes.Contains(m.Body, []byte(t.mark())) {
			return fmt.Sprintf("a message tells of the other: %.200s", m.Body)
		}
	}
	for name, c := range map[string]*serverbed.Receiver{"messages": t.sinks[0], "messages to the other": t.sinks[2]} {
		sum, _ := detail[name].(int)
		detail[name] = sum + distinct(c)
	}
	return ""
}

// mark is in every text of the other.
func (t *worlds) mark() string { return "bmark" }

func openWorlds(r *harness.Run, postgres, unfenced bool) (*worlds, error) {
	t := &worlds{seen: map[string]bool{}, faults: map[string]string{}}
	var at [2]string
	for i := range at {
		if postgres {
			dsn, err := serverbed.PostgresFor(r)
			if err != nil {
				return nil, err
			}
			at[i] = dsn
		}
	}
	for range 3 {
		s, err := serverbed.NewReceiver(nil)
		if err != nil {
			return nil, err
		}
		t.sinks = append(t.sinks, s)
	}
	var err error
	if t.one, err = serverbed.OpenHall(r, serverbed.HallOptions{Postgres: at[0]}); err != nil {
		return nil, err
	}
	if t.two, err = serverbed.OpenHall(r, serverbed.HallOptions{Postgres: at[1], Keys: t.one.Dir}); err != nil { // places in lists are sealed by this key
		return nil, err
	}
	if t.b, err = t.one.Add("beta"); err != nil {
		return nil, err
	}
	if t.a1, err = t.one.Add("alpha"); err != nil {
		return nil, err
	}
	if t.a2, err = t.two.Add("alpha"); err != nil {
		return nil, err
	}
	if unfenced {
		if err := unfence(t.one.Rows); err != nil {
			return nil, err
		}
	}
	return t, errors.Join(t.one.Rows.Enter("alpha"), t.two.Rows.Enter("alpha"))
}

// begin makes dice, and gives both worlds the same first things.
func (t *worlds) begin(seed uint64) error {
	t.n1, t.n2, t.nb = newReader(t.one.Dir, t.sinks[0].URL), newReader(t.two.Dir, t.sinks[1].URL), newReader(t.one.Dir, t.sinks[2].URL)
	d, err := t.one.Describe(t.a1.Keys[retake.KeyReader])
	if err != nil {
		return err
	}
	t.public = map[string]bool{}
	for _, form := range idForms {
		for _, id := range form.FindAll(t.one.Ask(serverbed.Asked{Key: t.a1.Keys[retake.KeyReader], Method: http.MethodGet, Path: serverbed.DescribedAt}).Body, -1) {
			t.public[string(id)] = true
		}
	}
	if len(t.public) == 0 {
		return errors.New("the API description has no examples")
	}
	if t.dice, err = serverbed.NewDice(seed, d); err != nil {
		return err
	}
	if t.theirs, err = serverbed.NewDice(seed+1000, d); err != nil {
		return err
	}
	t.dice.Name, t.theirs.Name = t.pool(t.dice, t.n1, "alpha"), t.pool(t.theirs, t.nb, "beta")
	t.other(serverbed.Asked{Method: http.MethodGet, Path: "/v1/workspaces"}, retake.KeyReader)
	for _, q := range []struct {
		kind retake.KeyKind
		serverbed.Asked
	}{
		{retake.KeyReader, serverbed.Asked{Method: http.MethodGet, Path: "/v1/workspaces"}},
		{retake.KeyAdmin, serverbed.Asked{Method: http.MethodGet, Path: "/v1/keys"}},
		{retake.KeyOperator, serverbed.Asked{Method: http.MethodPost, Path: "/v1/import?name=second", Body: serverbed.SmallTar("b.txt", "second\n"), Header: map[string]string{"Content-Type": "application/x-tar"}}},
		{retake.KeyAdmin, serverbed.Asked{Method: http.MethodPost, Path: "/v1/webhooks", Body: []byte(`{"url":"Q9sinkQ9"}`)}},
	} {
		q.Header = nonNil(q.Header)
		if !t.one.Settled() || !t.two.Settled() { // a webhook is told of what comes after it
			return errors.New("a server does not come to rest")
		}
		if diff, code := t.both("start", q.Asked, q.kind); diff != "" || code/100 != 2 {
			return fmt.Errorf("the worlds do not begin alike: %d %s", code, diff)
		}
		t.other(q.Asked, q.kind)
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
	ops := t.dice.D.Ops
	if t.theirs.Chance(40) {
		op := ops[t.theirs.IntN(len(ops))]
		t.plant(t.one, "beta", t.theirs, t.mark())
		t.other(t.theirs.Request(op), kindFor(t.theirs, op))
		t.steps++
	}
	if t.dice.Chance(10) {
		x := t.dice.Uint64()
		for _, h := range []*serverbed.Hall{t.one, t.two} {
			_ = serverbed.PlantFile(filepath.Join(h.Files("alpha"), "default", fmt.Sprintf("f%d.txt", x%5)), fmt.Sprint(x)) // a save more or less that finds nothing
		}
	}
	op := ops[t.dice.IntN(len(ops))]
	q := t.dice.Request(op)
	if op.ID == "import" {
		q.Body, q.Header["Content-Type"] = serverbed.SmallTar("c.txt", "imported\n"), "application/x-tar"
	}
	if op.ID == "set-limits" { // others count seconds
		q.Body = []byte(fmt.Sprintf(`{"workspaces":%d}`, 500+t.dice.IntN(500)))
	}
	if slices.Contains(settling, op.ID) && (!t.one.Settled() || !t.two.Settled()) {
		return "a server does not come to rest", 0
	}
	return t.both(op.ID, q, kindFor(t.dice, op))
}

// settling are operations whose answers, or whose effects, hang on how far messages are.
var settling = []string{"events", "list-deliveries", "delivery", "replay", "audit", "check-audit", "make-webhook", "change-webhook", "drop-webhook", "rotate-webhook", "rebuild"}

// kindFor is mostly a key that may.
func kindFor(c *serverbed.Dice, op serverbed.Operation) retake.KeyKind {
	k := retake.KeyKinds[c.IntN(len(retake.KeyKinds))]
	for range 20 {
		if k.Has(op.Power) || c.Chance(10) {
			return k
		}
		k = retake.KeyKinds[c.IntN(len(retake.KeyKinds))]
	}
	return k
}

func (t *worlds) plant(h *serverbed.Hall, ns retake.NamespaceID, c *serverbed.Dice, text string) {
	if c.Chance(20) {
		_ = serverbed.PlantFile(filepath.Join(h.Files(ns), "default", fmt.Sprintf("f%d.txt", c.IntN(5))), fmt.Sprint(text, c.Uint64())) // as above
	}
}

// other is a request of the other, whose answers are looked through for what is its own.
func (t *worlds) other(q serverbed.Asked, kind retake.KeyKind) {
	q = t.nb.fill(q)
	q.Key = t.b.Keys[kind]
	a := t.one.Ask(q)
	if t.nb.answer("", a); a.Good() {
		t.done++
	}
	for id := range t.nb.known {
		t.seen[id] = true
	}
}

// pair asks both worlds at once.
func (t *worlds) pair(q1, q2 serverbed.Asked) (a1, a2 serverbed.Answer) {
	var wg sync.WaitGroup
	wg.Go(func() { a1 = t.one.Ask(q1) })
	wg.Go(func() { a2 = t.two.Ask(q2) })
	wg.Wait()
	return a1, a2
}

// both asks the same in both worlds; "" when the answers are alike.
func (t *worlds) both(op string, q serverbed.Asked, kind retake.KeyKind) (string, int) {
	q1, q2 := t.n1.fill(q), t.n2.fill(q)
	q1.Key, q2.Key = t.a1.Keys[kind], t.a2.Keys[kind]
	a1, a2 := t.pair(q1, q2)
	if a1.Status >= 500 || a1.Status == 0 {
		t.faults[op] = fmt.Sprintf("%s %.200s %.200s: %d %s", q1.Method, q1.Path, q1.Body, a1.Status, a1.Pick("detail"))
	}
	if what := t.leaks(q1, a1); what != "" {
		return fmt.Sprintf("%s told of the other: %s: %s", op, what, a1.Say()), a1.Status
	}
	if t.clocked(op) {
		op = "replay" // its status alone is compared
	}
	s1, s2 := t.n1.answer(op, a1), t.n2.answer(op, a2)
	if s1 != s2 && narrates(q1) {
		daemonbed.Await(func() bool { // until both worlds have told the stories of their checkpoints
			a1, a2 = t.pair(q1, q2)
			s1, s2 = t.n1.answer(op, a1), t.n2.answer(op, a2)
			return s1 == s2
		})
	}
	if s1 == s2 {
		return "", a1.Status
	}
	i := 0
	for i < min(len(s1), len(s2)) && s1[i] == s2[i] {
		i++
	}
	from := max(0, i-60)
	return fmt.Sprintf("%s as %s: %s %.300s %.300s: beside another %q, alone %q", op, kind, q1.Method, q1.Path, q1.Body, cutText(s1[from:]), cutText(s2[from:])), a1.Status
}

// clocked: an operation tells of the audit log, and a clock has written into it: anchors, and notes
// about refusals and reads, which are gathered for seconds.
func (t *worlds) clocked(op string) bool {
	if !strings.HasSuffix(op, "audit") {
		return false
	}
	const anchors = `SELECT COUNT(*) FROM anchor`
	return t.one.Rows.Count(anchors)+t.two.Rows.Count(anchors) != 0 || hasNotes(t.one.Rows) || hasNotes(t.two.Rows)
}

var noteForm = regexp.MustCompile(`"verb":"(refused|read content|export|sign in)`)

func hasNotes(rows *serverbed.RowView) bool {
	all, err := rows.List(`SELECT body FROM audit`, 1)
	return err == nil && slices.ContainsFunc(all, noteForm.MatchString) // without the rows a difference shows
}

func cutText(s string) string { return fmt.Sprintf("%.220s", s) }

// leaks finds in an answer what is the other's and was not in the request.
func (t *worlds) leaks(q serverbed.Asked, a serverbed.Answer) string {
	if bytes.Contains(a.Body, []byte(t.mark())) && !strings.Contains(q.Path+string(q.Body), t.mark()) {
		return t.mark()
	}
	for _, form := range idForms {
		for _, id := range form.FindAll(a.Body, -1) {
			if s := string(id); t.seen[s] && !t.public[s] && !strings.Contains(q.Path+string(q.Body), s) && t.n1.known[s] == "" {
				return s
			}
		}
	}
	return ""
}
