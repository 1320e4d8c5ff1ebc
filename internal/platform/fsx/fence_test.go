package fsx_test

import (
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func TestMemoryNeedsNoFence(t *testing.T) {
	t.Parallel()
	counted, _ := fsx.Counting(fsx.NewMemory())
	d, err := counted.OpenRoot("/")
	must(t, err)
	ran := 0
	if !fsx.Fence([]fsx.Dir{d}, func() { ran++ }) || !fsx.Fence(nil, func() { ran++ }) || ran != 2 {
		t.Errorf("ran %d times", ran)
	}
}

func TestNothingRunsWithoutAFence(t *testing.T) {
	t.Parallel()
	d, err := fsx.OS().OpenRoot(t.TempDir())
	must(t, err)
	defer d.Close()
	ran := false
	if ok := fsx.Fence([]fsx.Dir{d}, func() { ran = true }); ok != ran || ok != fsx.CanFence() {
		t.Errorf("can %v, answered %v, ran %v", fsx.CanFence(), ok, ran)
	}
}
