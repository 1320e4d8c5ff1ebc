//go:build ssh

package real_test

import (
	"fmt"
	"testing"

	"github.com/retake-dev/retake/internal/assembly/assemble"
)

// BenchmarkSSHBackup sends a thousand checkpoints of ten thousand files for the first time, and
// then one more.
func BenchmarkSSHBackup(b *testing.B) {
	const files, checkpoints, edits = 10_000, 1000, 10
	for b.Loop() {
		b.StopTimer()
		y := newYard(b, assemble.Options{Exclusive: true})
		for i := range files {
			y.write(fmt.Sprintf("src/%02d/%02d/file%d.go", i/1000, i/100%10, i), fmt.Sprintf("package p%d\n\n// text of file %d\nfunc F() string { return %q }\n", i, i, fmt.Sprint("value of ", i*7919)))
		}
		y.init()
		for m := 2; m <= checkpoints; m++ {
			for e := range edits {
				i := (m*7919 + e*104729) % files
				y.write(fmt.Sprintf("src/%02d/%02d/file%d.go", i/1000, i/100%10, i), fmt.Sprintf("package p%d\n\n// text of file %d in checkpoint %d\nfunc F() int { return %d }\n", i, i, m, m*i))
			}
			y.save(fmt.Sprint("checkpoint ", m))
		}
		y.set()
		b.StartTimer()
		got := y.backUp()
		b.StopTimer()
		first := b.Elapsed()
		if got.Pushed.Number != checkpoints || got.Behind != 0 {
			b.Fatalf("%+v", got)
		}
		y.write("src/00/00/file1.go", "package one\n")
		y.save("one more")
		b.StartTimer()
		y.backUp()
		b.ReportMetric(first.Seconds(), "s/first")
		b.ReportMetric((b.Elapsed() - first).Seconds(), "s/one-more")
	}
}
