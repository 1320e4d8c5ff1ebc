package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
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
		Use: "log", Short: "Show the timeline, newest first", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, ws, err := f.here(cmd.Context())
			if err != nil {
				return err
			}
			return c.show(cmd.Context(), s, ws)
		},
	}
	cmd.Flags().BoolVar(&c.good, "good", false, "only checkpoints that are good")
	cmd.Flags().StringVar(&c.since, "since", "", "only checkpoints after `TIME`: 2h, 3d, 10:27, 2026-11-03")
	cmd.Flags().StringVar(&c.path, "path", "", "only checkpoints that changed `PATH`")
	cmd.Flags().StringVar(&c.session, "session", "", "only checkpoints of a session (start of its `ID`) or an agent (name)")
	cmd.Flags().IntVarP(&c.limit, "limit", "n", 0, "show at most `N` checkpoints (default: 50, or all with --json)")
	return cmd
}

// chosen reports whether checkpoints in between are left out.
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
		return q, usage("", "The limit is a number of checkpoints, not %d.", c.limit)
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
	now := func() term.Present { return term.Present{} }
	if !c.json && !c.chosen() && c.since == "" {
		now = term.PresentSoon(ctx, s, ws.ID)
	}
	v := term.View{Tree: !c.chosen()}
	forks := term.ForksOnce(ctx, s, ws)
	if !c.json && v.Tree {
		go forks() // while the timeline is read
		defer forks()
	}
	t, err := pages(ctx, s, q, limit)
	if err != nil {
		now()
		return err
	}
	if v.Timeline = t; !c.json {
		v.Complete(ctx, s, ws, forks)
		v.Stand(c.newest(ctx, s, ws), now())
	}
	err = c.emit(logAnswer{1, t}, func(l term.Look) string {
		return term.RenderTimeline(l, v) + c.sessions(ctx, s, ws, t) + c.rest(l, t, limit)
	})
	switch {
	case err != nil, ws.Interrupted != nil: // its banner says what comes first
	case len(t.Checkpoints) > 0:
		c.hintLine(v.Hints())
	case c.good:
		c.hint("verify one", "retake verify -- npm test", "all of it", "retake log")
	}
	return orWaiting(err, ws)
}

// sessionsNamed is how many sessions are offered to who named another one.
const sessionsNamed = 6

// sessions tells who named one without checkpoints which ones there are, the newest first.
func (c *logCmd) sessions(ctx context.Context, s retake.Service, ws retake.Workspace, found retake.Timeline) string {
	if c.session == "" || len(found.Checkpoints) > 0 {
		return ""
	}
	t, err := s.Log(ctx, retake.LogQuery{Workspace: ws.ID, Limit: logPage})
	if err != nil {
		return ""
	}
	var names []string
	for _, cp := range t.Checkpoints {
		if cp.Turn == nil || cp.Turn.Session == "" {
			continue
		}
		if name := term.SessionName(cp.Turn); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch n := len(names); {
	case n == 0 && int64(len(t.Checkpoints)) < t.Total:
		return fmt.Sprintf("None of the newest %s checkpoints is of an agent.\n", termtext.Count(int64(len(t.Checkpoints))))
	case n == 0:
		return "No agent worked here yet.\n"
	case n > sessionsNamed:
		names = append(names[:sessionsNamed], termtext.Count(int64(n-sessionsNamed))+" more")
	}
	text := fmt.Sprintf("No session begins with %s, and no agent is called so. There are: %s.", termtext.Escape(c.session), strings.Join(names, ", "))
	return strings.Join(term.Wrap(text, c.out().Width), "\n") + "\n"
}

// newest is where the files stand, when the list may begin elsewhere; 0 is not known.
func (c *logCmd) newest(ctx context.Context, s retake.Service, ws retake.Workspace) int64 {
	if !c.chosen() {
		return 0
	}
	cp, err := s.Find(ctx, ws.ID, "latest")
	if err != nil {
		return 0
	}
	return cp.Number
}

// rest tells how much of the timeline is not shown.
func (c *logCmd) rest(l term.Look, t retake.Timeline, limit int) string {
	shown := len(t.Checkpoints)
	switch more := t.Total - int64(shown); {
	case c.since != "":
		return ""
	case c.chosen() && limit > 0 && shown == limit:
		return l.Dim(fmt.Sprintf("%s there may be more, older: --limit %d", l.Glyphs.Dots, 2*limit)) + "\n"
	case !c.chosen() && more > 0:
		return l.Dim(fmt.Sprintf("%s %s more, older: retake log --limit %d", l.Glyphs.Dots, termtext.Count(more), t.Total)) + "\n"
	}
	return ""
}

// hintLine is hint in one line: closer together, then fewer, when it is too long.
func (f *face) hintLine(pairs []string) {
	if !f.ErrTTY || f.json {
		return
	}
	l := f.talk()
	for ; len(pairs) > 2; pairs = pairs[:len(pairs)-2] {
		for _, gap := range []string{"     ", "   "} {
			line := strings.ReplaceAll(l.Pairs(pairs), "     ", gap)
			if l.ShownWidth(line) <= l.Width {
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
