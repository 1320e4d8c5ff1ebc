package program

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/retake-dev/retake/internal/assembly/daemonctl"
)

// maxReported is how much of the end of a log goes into a report.
const maxReported = 512 << 10

// collectReport collects what is known of this machine beside the service: versions, the daemon's
// state and stacks, the ends of the logs, the settings, and how large the store's files are.
func (p *program) collectReport(ctx context.Context) map[string][]byte {
	files := map[string][]byte{"system.txt": []byte(p.systemText())}
	d := p.daemonController()
	if st, running, err := d.State(ctx); err != nil || !running {
		files["daemon.txt"] = fmt.Appendf(nil, "running: %v\nerror: %v\n", running, err)
	} else if text, err := json.MarshalIndent(st, "", "  "); err == nil {
		files["daemon.json"] = text
		files["goroutines.txt"] = d.Stacks(ctx)
	}
	for _, name := range []string{"daemon.log", "daemon.log.old", "hook.log"} {
		if text := readTail(filepath.Join(p.conf.DataDir, name)); text != nil {
			files[name] = text
		}
	}
	if text := readTail(p.conf.SettingsFile); text != nil {
		files["config.json"] = text
	}
	if text := readTail(p.conf.RiskFile()); text != nil {
		files["risk.json"] = text
	}
	files["data.txt"] = []byte(p.storeSizesText())
	return files
}

func (p *program) systemText() string {
	kernel, _ := os.ReadFile("/proc/version") // elsewhere there is none
	return fmt.Sprintf("%s/%s, %d processors, %s\nretake %s\nengine %s\n%s",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), p.version, daemonctl.FindEngine(p.conf), kernel)
}

// readTail is the end of a file; nil when it cannot be read.
func readTail(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	if i, err := f.Stat(); err == nil && i.Size() > maxReported {
		if _, err := f.Seek(-maxReported, io.SeekEnd); err != nil {
			return nil
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxReported))
	if err != nil {
		return nil
	}
	return text
}

// storeSizesText lists the directories of the data directory with the number and the bytes of their files.
func (p *program) storeSizesText() string {
	var b strings.Builder
	entries, err := os.ReadDir(p.conf.DataDir)
	if err != nil {
		return err.Error() + "\n"
	}
	for _, e := range entries {
		var files, bytes int64
		_ = filepath.WalkDir(filepath.Join(p.conf.DataDir, e.Name()), func(_ string, d os.DirEntry, err error) error { // what cannot be read is not counted
			if err == nil && d.Type().IsRegular() {
				if i, err := d.Info(); err == nil {
					files, bytes = files+1, bytes+i.Size()
				}
			}
			return nil
		})
		fmt.Fprintf(&b, "%-20s %8d files %14d bytes\n", e.Name(), files, bytes)
	}
	return b.String()
}
