package cli

import (
	"context"
	"maps"

	"github.com/retake-dev/retake"
)

// readPages reads until the limit, or to the end when limit is 0.
func readPages(ctx context.Context, s retake.Service, q retake.LogQuery, limit int) (retake.Timeline, error) {
	out := retake.Timeline{Checkpoints: []retake.Checkpoint{}, Pins: []retake.Pin{}, Findings: map[retake.CheckpointID]retake.Finding{}}
	for {
		q.Limit = logPage
		if limit > 0 {
			q.Limit = min(logPage, limit-len(out.Checkpoints))
		}
		t, err := s.Log(ctx, q)
		if err != nil {
			return out, err
		}
		out.Workspace, out.Total, out.Good = t.Workspace, t.Total, t.Good
		maps.Copy(out.Findings, t.Findings)
		out.Checkpoints = append(out.Checkpoints, t.Checkpoints...)
		if t.Pins != nil {
			out.Pins = t.Pins
		}
		if len(t.Checkpoints) == 0 || limit > 0 && len(out.Checkpoints) >= limit {
			return out, nil
		}
		q.Before = t.Checkpoints[len(t.Checkpoints)-1].Number
		if q.Before <= 1 {
			return out, nil
		}
	}
}
