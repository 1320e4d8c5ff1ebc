package track_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/track"
)

func benchEach(b *testing.B, run func(b *testing.B, mode retake.TrackingMode)) {
	for _, mode := range modes {
		b.Run(string(mode), func(b *testing.B) {
			needs(b, mode)
			run(b, mode)
		})
	}
}

// newLargeTree makes 100,000 files in 10,000 directories.
func newLargeTree(b *testing.B) testDir {
	b.Helper()
	a := newTestDir(b)
	for i := range 100 {
		for k := range 100 {
			dir := itoa(i) + "/" + itoa(k)
			a.mkdir(dir)
			for f := range 10 {
				a.write(dir+"/"+itoa(f), "")
			}
		}
	}
	return a
}

func BenchmarkDrain(b *testing.B) {
	a := newLargeTree(b)
	b.Run("idle", func(b *testing.B) {
		benchEach(b, func(b *testing.B, mode retake.TrackingMode) {
			w := start(b, a.dir, onlyMode(mode))
			for b.Loop() {
				drainPaths(b, w)
			}
		})
	})
	b.Run("10 edits", func(b *testing.B) {
		benchEach(b, func(b *testing.B, mode retake.TrackingMode) {
			w := start(b, a.dir, onlyMode(mode))
			for b.Loop() {
				b.StopTimer()
				for i := range 10 {
					a.write(itoa(i*9)+"/"+itoa(i*7)+"/5", "x")
				}
				b.StartTimer()
				if got := drainPaths(b, w); len(got) < 10 {
					b.Fatal(got)
				}
			}
		})
	})
	b.Run("watch", func(b *testing.B) {
		benchEach(b, func(b *testing.B, mode retake.TrackingMode) {
			tr := track.New(onlyMode(mode))
			for b.Loop() {
				w, err := tr.Watch(a.dir)
				must(b, err)
				must(b, w.Close())
			}
		})
	})
}

// The scan of processes takes most of the time of an idle drain.
func BenchmarkLook(b *testing.B) {
	a := newTestDir(b)
	for range 200 {
		c := exec.Command("sleep", "3600")
		must(b, c.Start())
		b.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	}
	all, err := os.ReadDir("/proc")
	must(b, err)
	for name, plain := range map[string]bool{"asked": false, "read": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := track.ScanProcesses(a.dir, plain); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(all)), "entries")
		})
	}
}
