package main

import (
	"os"
	"path/filepath"

	"github.com/retake-dev/retake/bench/plot"
)

// drawPlots writes the plots of a result. The same result makes the same bytes.
func drawPlots(r result, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	over := func(name string, of func(sample) float64) plot.Series {
		s := plot.Series{Name: name}
		for _, row := range r.Samples {
			s.X, s.Y = append(s.X, row.Day), append(s.Y, of(row))
		}
		return s
	}
	limit := over("storage limit", func(sample) float64 { return float64(r.Settings.Limit) })
	for name, l := range map[string]plot.Lines{
		"memory": {Title: "Memory of the daemon", Y: "MB", Series: []plot.Series{over("resident memory", func(s sample) float64 { return s.Memory })}},
		"descriptors": {Title: "Descriptors, threads and goroutines of the daemon", Y: "count", Series: []plot.Series{
			over("descriptors", func(s sample) float64 { return float64(s.Descriptors) }),
			over("threads", func(s sample) float64 { return float64(s.Threads) }),
			over("goroutines", func(s sample) float64 { return float64(s.Goroutines) }),
		}},
		"disk": {Title: "Disk space", Y: "MB", Series: []plot.Series{
			over("home", func(s sample) float64 { return s.Home }), over("store", func(s sample) float64 { return s.Store }), limit,
		}},
		"checkpoints": {Title: "Checkpoints, and files of the home", Y: "count", Series: []plot.Series{
			over("checkpoints", func(s sample) float64 { return float64(s.Checkpoints) }), over("files", func(s sample) float64 { return float64(s.Files) }),
		}},
	} {
		l.X = "days"
		if err := os.WriteFile(filepath.Join(dir, "soak-"+name+".svg"), []byte(l.SVG()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
