package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

const (
	logDefault = 50
	logPage    = 500
)

type logCmd struct {
	*face
	since   string
	limit   int
	good    bool
	path    string
	session string
}

type logAnswer struct {
	V int `json:"v"`
	retake.Timeline
}

func (f *face) logCommand() *cobra.Command {
	c := &logCmd{face: f}
	cmd := &cobra.Command{
		Use: "log", Short: "the timeline, newest on top", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, ws, err := f.here(cmd.Context())
			if err != nil {
				return err
			}
			return c.show(cmd.Context(), s, ws)
		},
	}
	cmd.Flags().BoolVar(&c.good, "good", false, "only moments that are good")
	cmd.Flags().StringVar(&c.since, "since", "", "only moments after `TIME`: 2h, 3d, 10:27, 2026-11-03")
	cmd.Flags().StringVar(&c.path, "path", "", "only moments in which `PATH` changed")
	cmd.Flags().StringVar(&c.session, "session", "", "only moments of one session of an agent, by the beginning of its `ID`")
	cmd.Flags().IntVarP(&c.limit, "limit", "n", 0, "at most `N` moments; without it 50 as text, all as JSON")
	return cmd
}

// chosen reports whether moments in between are left out.
func (c *logCmd) chosen() bool { return c.good || c.path != "" || c.session != "" }

func (c *logCmd) query(ws retake.Workspace) (retake.LogQuery, error) {
	q := retake.LogQuery{Workspace: ws.ID, Good: c.good, Session: c.session}
	var err error
	if c.path != "" {
		if q.Path, err = c.inside(ws, c.path); err != nil {
			return q, err
		}
	}
	if c.since != "" {
		if q.Since, err = c.sinceTime(); err != nil {
			return q, err
		}
	}
	if c.limit < 0 {
		return q, usage("", "The limit is a number of moments, not %d.", c.limit)
	}
	return q, nil
}

func (c *logCmd) show(ctx context.Context, s retake.Service, ws retake.Workspace) error {
	q, err := c.query(ws)
	if err != nil {
		return err
	}
	limit := c.limit
	if limit == 0 && !c.json {
		limit = logDefault
	}
	now := func() *retake.Status { return nil }
	if !c.json && !c.chosen() && c.since == "" {
		now = statusSoon(ctx, s, ws.ID)
	}
	v := picture{tree: !c.chosen()}
	forks := forksOnce(ctx, s, ws)
	if !c.json && v.tree {
		go forks() // while the timeline is read
		defer forks()
	}
	t, err := pages(ctx, s, q, limit)
	if err != nil {
		now()
		return err
	}
	if v.Timeline = t; !c.json {
		v.look(ctx, s, ws, forks)
		v.stand(now())
	}
	err = c.emit(logAnswer{1, t}, func(l look) string { return renderTimeline(l, v) + c.rest(l, t, limit) })
	if err == nil && len(t.Checkpoints) > 0 {
		c.hintLine(v.hints())
	}
	return orWaiting(err, ws)
}

// soon is how long a timeline waits to hear what changed since the newest moment.
const soon = 100 * time.Millisecond

// statusSoon asks how things stand while the timeline is read. No answer in time is no
// answer, and never an error.
func statusSoon(ctx context.Context, s retake.Service, ws retake.WorkspaceID) func() *retake.Status {
	ctx, stop := context.WithTimeout(ctx, soon)
	got := make(chan *retake.Status, 1)
	go func() {
		defer stop()
		st, err := s.Status(ctx, ws)
		if err != nil || ctx.Err() != nil {
			got <- nil
			return
		}
		got <- &st
	}()
	return func() *retake.Status { return <-got }
}

// stand says where the files stand. What was asked while a save went on, or before
// another moment came, is not known.
func (v *picture) stand(st *retake.Status) {
	if len(v.Checkpoints) > 0 {
		v.newest = v.Checkpoints[0].Number
	}
	if st == nil || st.Latest == nil {
		return
	}
	v.level = st.Protection
	if !st.Saving && st.Latest.Number == v.newest {
		v.now = &st.Now
	}
}

// rest tells how much of the timeline is not shown.
func (c *logCmd) rest(l look, t retake.Timeline, limit int) string {
	shown := len(t.Checkpoints)
	switch more := t.Total - int64(shown); {
	case c.since != "":
		return ""
	case c.chosen() && limit > 0 && shown == limit:
		return l.dim(fmt.Sprintf("%s there may be more, older: --limit %d", l.g.Dots, 2*limit)) + "\n"
	case !c.chosen() && more > 0:
		return l.dim(fmt.Sprintf("%s %s more, older: retake log --limit %d", l.g.Dots, screen.Count(more), t.Total)) + "\n"
	}
	return ""
}

// hints lead to the moment that asks to be looked at, and to one worth going back to.
func (v picture) hints() []string {
	newest := v.Checkpoints[0]
	at, back := newest, retake.Checkpoint{}
	for _, c := range v.Checkpoints {
		if f := v.Findings[c.ID]; f.Gist != nil && len(f.Gist.Flags) > 0 || failing(f.Answers) {
			at = c
			break
		}
	}
	if len(v.Checkpoints) > 1 {
		back = v.Checkpoints[1]
	}
	if v.Good != nil && v.Good.ID != newest.ID {
		back = *v.Good
	}
	pairs := []string{"look", fmt.Sprintf("retake show %d", at.Number)}
	if back.Number != 0 {
		pairs = append(pairs, "go back", fmt.Sprintf("retake restore %d", back.Number))
	}
	if v.verified() {
		return append(pairs, "good ones", "retake log --good")
	}
	return append(pairs, "since then", "retake diff")
}

func failing(answers []retake.Answer) bool {
	for _, a := range answers {
		if a.Verdict == retake.Failed && !a.Claim {
			return true
		}
	}
	return false
}

// hintLine is hint in one line: closer together, then fewer, when it is too long.
func (f *face) hintLine(pairs []string) {
	if !f.ErrTTY || f.json {
		return
	}
	l := f.talk()
	for ; len(pairs) > 2; pairs = pairs[:len(pairs)-2] {
		for _, gap := range []string{"     ", "   "} {
			line := strings.ReplaceAll(l.pairs(pairs), "     ", gap)
			if l.shownWidth(line) <= l.width {
				fmt.Fprintf(f.Err, "\n%s\n", line)
				return
			}
		}
	}
	f.hint(pairs...)
}

func (c *logCmd) sinceTime() (time.Time, error) {
	now := c.Clock.Now()
	if d, ok := retake.ParseAge(c.since); ok {
		return now.Add(-d), nil
	}
	ref, err := retake.ParseRef(c.since, now)
	if err != nil || ref.Form != retake.RefTime {
		return time.Time{}, usage("for example: --since 2h     --since 10:27     --since 2026-11-03", "%s is not a time.", "--since "+c.since)
	}
	// As a ref such a time means the end of its minute or day; here it is the start.
	if day, err := time.ParseInLocation("2006-01-02", c.since, now.Location()); err == nil {
		return day, nil
	}
	return ref.Time.Truncate(time.Minute), nil
}
