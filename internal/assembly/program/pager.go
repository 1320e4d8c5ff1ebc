package program

import (
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// newPager shows long output, or is nil where there is none.
func newPager(conf config.Config) func(text string) error {
	args := conf.Pager()
	if args == nil || !conf.OutTTY {
		return nil
	}
	return func(text string) error { return proc.RunPager(args, conf.PagerEnviron(), text) }
}
