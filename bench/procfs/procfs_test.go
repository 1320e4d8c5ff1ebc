package procfs_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/retake-dev/retake/bench/procfs"
)

func TestParseMemory(t *testing.T) {
	t.Parallel()
	m, err := procfs.ParseMemory("Name:\tx\nVmPeak:\t 999 kB\nVmHWM:\t  200 kB\nVmRSS:\t  120 kB\nRssAnon:\t 1 kB\n")
	if err != nil || m.Now != 120<<10 || m.Peak != 200<<10 {
		t.Errorf("%+v %v", m, err)
	}
	if _, err := procfs.ParseMemory("Name:\tzombie\n"); err == nil {
		t.Error("a process without memory was read")
	}
}

func TestParseCPU(t *testing.T) {
	t.Parallel()
	got, err := procfs.ParseCPU("42 (a (b) c) S 1 42 42 0 -1 4194304 100 0 0 0 150 50 7 8 20 0 9 0 5 6 7\n")
	if err != nil || got != 2*time.Second {
		t.Errorf("%v %v", got, err)
	}
	if _, err := procfs.ParseCPU("42 (x) S 1\n"); err == nil {
		t.Error("a short line was read")
	}
}

func TestOwnProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	m, err := procfs.MemoryOf(os.Getpid())
	if err != nil || m.Now < 1<<20 || m.Peak < m.Now {
		t.Errorf("%+v %v", m, err)
	}
	if _, err := procfs.CPUOf(os.Getpid()); err != nil {
		t.Error(err)
	}
}
