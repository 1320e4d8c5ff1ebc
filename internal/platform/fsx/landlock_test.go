package fsx_test

import (
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

func TestMemoryNeedsNoFence(t *testing.T) {
	t.Parallel()
	counted, _ := fsxtest.NewCountingFS(fsxtest.NewMemory())
	d, err := counted.OpenRoot("/")
	must(t, err)
	ran := 0
	if !fsx.RunWithLandlock([]fsx.Dir{d}, func() { ran++ }) || !fsx.RunWithLandlock(nil, func() { ran++ }) || ran != 2 {
		t.Errorf("ran %d times", ran)
	}
}

func TestNothingRunsWithoutAFence(t *testing.T) {
	t.Parallel()
	d, err := fsx.OS().OpenRoot(t.TempDir())
	must(t, err)
	defer d.Close()
	ran := false
	if ok := fsx.RunWithLandlock([]fsx.Dir{d}, func() { ran = true }); ok != ran || ok != fsx.SupportsLandlock() {
		t.Errorf("can %v, answered %v, ran %v", fsx.SupportsLandlock(), ok, ran)
	}
}
