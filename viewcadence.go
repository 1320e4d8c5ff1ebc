package retake

import (
	"context"
	"time"
)

// CadenceViewer says cron lines in words.
type CadenceViewer interface {
	// ViewCadence says when a cron line is due. It refuses a line that makes no sense.
	ViewCadence(ctx context.Context, cron string) (Cadence, error)
}

// Cadence is a cron line and when it is due.
type Cadence struct {
	Cron  string      `json:"cron"`
	Words string      `json:"words"` // "every day at 03:00 UTC"; empty: nothing shorter than the line itself
	Next  []time.Time `json:"next"`  // the next three times
}
