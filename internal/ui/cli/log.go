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
	*commandLine
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

func newLogCommand(f *commandLine) *cobra.Command {
	c := &logCmd{commandLine: f}
	cmd := &cobra.Command{
		Use: "log", Short: "Show the timeline, newest first", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			return c.printTimeline(cmd.Context(), s, ws)
		},
	}
	cmd.Flags().BoolVar(&c.good, "good", false, "only checkpoints that are good")
	cmd.Flags().StringVar(&c.since, "since", "", "only checkpoints after `TIME`: 2h, 3d, 10:27, 2026-11-03")
	cmd.Flags().StringVar(&c.path, "path", "", "only checkpoints that changed `PATH`")
	cmd.Flags().StringVar(&c.session, "session", "", "only checkpoints of a session (start of its `ID`) or an agent (name)")
	cmd.Flags().IntVarP(&c.limit, "limit", "n", 0, "show at most `N` checkpoints (default: 50, or all with --json)")
	return cmd
}

func (c *logCmd) parseQuery(ws retake.Workspace) (retake.LogQuery, error) {
	q := retake.LogQuery{Workspace: ws.ID, Good: c.good, Session: c.session}
	var err error
	if c.path != "" {
		if q.Path, err = c.workspacePath(ws, c.path); err != nil {
			return q, err
		}
	}
	if c.since != "" {
		if q.Since, err = c.parseSince(); err != nil {
			return q, err
		}
	}
	if c.limit < 0 {
		return q, usageError("", "The limit is a number of checkpoints, not %d.", c.limit)
	}
	return q, nil
}

func (c *logCmd) printTimeline(ctx context.Context, s retake.Service, ws retake.Workspace) error {
	q, err := c.parseQuery(ws)
	if err != nil {
		return err
	}
	if c.json {
		t, err := readPages(ctx, s, q, c.limit)
		if err != nil {
			return err
		}
		return orInterrupted(c.printAnswer(logAnswer{1, t}, nil), ws)
	}
	if q.Limit = c.limit; q.Limit == 0 {
		q.Limit = logDefault
	}
	v, err := s.ViewTimeline(ctx, retake.TimelineQuery{LogQuery: q, Now: !q.IsFiltered() && c.since == ""})
	if err != nil {
		return err
	}
	err = c.printAnswer(nil, func(l term.Style) string {
		return term.RenderTimeline(l, v) + c.sessionsHint(ctx, s, ws, v.Shown) + c.restText(l, q, &v)
	})
	switch {
	case err != nil, ws.Interrupted != nil: // its banner says what comes first
	case v.Shown > 0:
		c.printHintLine(term.TimelineHints(&v))
	case c.good:
		c.printHints("verify one", "retake verify -- npm test", "all of it", "retake log")
	}
	return orInterrupted(err, ws)
}

// maxSessionsNamed is how many sessions are offered to who named another one.
const maxSessionsNamed = 6

// sessionsHint lists the sessions that have checkpoints, newest first, for a session that has
// none.
func (c *logCmd) sessionsHint(ctx context.Context, s retake.Service, ws retake.Workspace, found int64) string {
	if c.session == "" || found > 0 {
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
	case n > maxSessionsNamed:
		names = append(names[:maxSessionsNamed], termtext.Count(int64(n-maxSessionsNamed))+" more")
	}
	text := fmt.Sprintf("No session begins with %s, and no agent is called so. There are: %s.", termtext.Escape(c.session), strings.Join(names, ", "))
	return strings.Join(term.Wrap(text, c.stdoutStyle().Width), "\n") + "\n"
}

// restText says how much of the timeline is not shown.
func (c *logCmd) restText(l term.Style, q retake.LogQuery, v *retake.TimelineView) string {
	switch more := v.Total - v.Shown; {
	case c.since != "":
		return ""
	case q.IsFiltered() && v.Shown == int64(q.Limit):
		return l.Dim(fmt.Sprintf("%s there may be more, older: --limit %d", l.Glyphs.Dots, 2*q.Limit)) + "\n"
	case !q.IsFiltered() && more > 0:
		return l.Dim(fmt.Sprintf("%s %s more, older: retake log --limit %d", l.Glyphs.Dots, termtext.Count(more), v.Total)) + "\n"
	}
	return ""
}

// printHintLine is hint in one line: closer together, then fewer, when it is too long.
func (f *commandLine) printHintLine(pairs []string) {
	if !f.ErrTTY || f.json {
		return
	}
	l := f.stderrStyle()
	for ; len(pairs) > 2; pairs = pairs[:len(pairs)-2] {
		for _, gap := range []string{"     ", "   "} {
			line := strings.ReplaceAll(l.HintLine(pairs), "     ", gap)
			if l.ShownWidth(line) <= l.Width {
				fmt.Fprintf(f.Err, "\n%s\n", line)
				return
			}
		}
	}
	f.printHints(pairs...)
}

func (c *logCmd) parseSince() (time.Time, error) {
	now := c.Clock.Now()
	if d, ok := retake.ParseAge(c.since); ok {
		return now.Add(-d), nil
	}
	ref, err := retake.ParseRef(c.since, now)
	if err != nil || ref.Form != retake.RefTime {
		return time.Time{}, usageError("for example: --since 2h     --since 10:27     --since 2026-11-03", "%s is not a time.", "--since "+c.since)
	}
	// As a ref such a time means the end of its minute or day; here it is the start.
	if day, err := time.ParseInLocation("2006-01-02", c.since, now.Location()); err == nil {
		return day, nil
	}
	return ref.Time.Truncate(time.Minute), nil
}
