package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/alike"
)

// timeline asks for the timeline of a run as the terminal and the console do.
func (s *stand) timeline(ctx context.Context) (out alike.Timeline, err error) {
	const all = 1000
	for _, ask := range []struct {
		q  retake.TimelineQuery
		to *retake.TimelineView
	}{{retake.TimelineQuery{}, &out.Whole}, {retake.TimelineQuery{Flat: true}, &out.Flat}, {retake.TimelineQuery{Graph: true}, &out.Graph}} {
		ask.q.Workspace, ask.q.Limit = s.ws, all
		if *ask.to, err = s.svc.ViewTimeline(ctx, ask.q); err != nil {
			return out, fmt.Errorf("read the timeline: %w", err)
		}
	}
	return out, nil
}

// compareShown counts the runs of which the terminal and the console show other words. The last
// one is a control: a title was changed on the way to the console.
func compareShown(books []book) (same, differ int, err error) {
	var all []alike.Timeline
	for _, b := range books {
		if len(b.timeline.Whole.Rows) > 0 {
			all = append(all, b.timeline)
		}
	}
	if len(all) == 0 {
		return 0, 0, nil
	}
	control := all[0]
	control.Flat.Rows = append([]retake.TimelineRow{}, control.Flat.Rows...)
	control.Flat.Rows[0].Title = "another title"
	found, err := alike.Compare(".", append(all, control))
	if errors.Is(err, alike.ErrNoConsole) {
		fmt.Println(err)
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	if len(found[len(all)]) == 0 {
		return 0, 0, fmt.Errorf("a changed title was not noticed")
	}
	for _, d := range found[:len(all)] {
		if len(d) == 0 {
			same++
			continue
		}
		differ++
		fmt.Println("   the terminal and the console differ:", d)
	}
	return same, differ, nil
}
