package cli

import (
	"context"
	"fmt"
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
	since string
	limit int
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
	cmd.Flags().StringVar(&c.since, "since", "", "only moments after `TIME`: 2h, 3d, 10:27, 2026-11-03")
	cmd.Flags().IntVarP(&c.limit, "limit", "n", 0, "at most `N` moments; without it 50 as text, all as JSON")
	return cmd
}

func (c *logCmd) show(ctx context.Context, s retake.Service, ws retake.Workspace) error {
	q := retake.LogQuery{Workspace: ws.ID}
	if c.since != "" {
		t, err := c.sinceTime()
		if err != nil {
			return err
		}
		q.Since = t
	}
	if c.limit < 0 {
		return usage("", "The limit is a number of moments, not %d.", c.limit)
	}
	limit := c.limit
	if limit == 0 && !c.json {
		limit = logDefault
	}
	t, err := pages(ctx, s, q, limit)
	if err != nil {
		return err
	}
	var g goals
	if !c.json {
		g = goalsOf(ctx, s, ws, t.Checkpoints)
	}
	err = c.emit(logAnswer{1, t}, func(l look) string { return c.text(l, t, g) })
	if err == nil && len(t.Checkpoints) > 0 {
		n := t.Checkpoints[0].Number
		pairs := []string{"look", fmt.Sprintf("retake show %d", n)}
		if len(t.Checkpoints) > 1 {
			pairs = append(pairs, "go back", fmt.Sprintf("retake restore %d", t.Checkpoints[1].Number))
		}
		c.hint(append(pairs, "since then", "retake diff")...)
	}
	return orWaiting(err, ws)
}

// text draws the timeline and tells how much of it is not shown.
func (c *logCmd) text(l look, t retake.Timeline, g goals) string {
	newest := int64(0)
	if len(t.Checkpoints) > 0 {
		newest = t.Checkpoints[0].Number
	}
	out := renderTimeline(l, t, newest, g)
	if more := t.Total - int64(len(t.Checkpoints)); more > 0 && c.since == "" {
		out += l.dim(fmt.Sprintf("%s %s more, older: retake log --limit %d", l.g.Dots, screen.Count(more), t.Total)) + "\n"
	}
	return out
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
