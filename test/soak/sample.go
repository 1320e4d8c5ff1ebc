//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/bench/procfs"
	"github.com/retake-dev/retake/internal/agents/queue"
)

// sampler looks at the daemon at a fixed interval.
type sampler struct {
	*bed
	leaker int // the process to measure instead; 0: none
	rows   []sample
}

func (s *sampler) work(ctx context.Context) {
	t := time.NewTicker(time.Duration(s.SampleEvery))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			s.take()
		}
	}
}

// take adds a row. Without a daemon the row has no process.
func (s *sampler) take() {
	row := sample{Seconds: time.Since(s.began).Seconds(), Day: s.day()}
	if a := s.run(s.dir, nil, "workspaces", "--json"); s.judge(a) { // it starts a daemon if there is none
		var all struct {
			Workspaces []retake.WorkspaceState `json:"workspaces"`
		}
		if err := a.into(&all); err != nil {
			s.fail(failedSoak, "%v", err)
		}
		for _, w := range all.Workspaces {
			row.Checkpoints += w.Count
		}
	}
	row.Queue = queue.Count(s.daemon.Signals())
	s.measureHome(&row)
	pid := s.leaker
	if pid == 0 {
		if all := s.daemon.Daemons(); len(all) > 0 {
			pid = all[0]
		}
	}
	if err := s.measureProcess(pid, &row); err == nil {
		row.PID = pid
	}
	if text, err := s.profile("goroutine?debug=1"); err == nil {
		_, _ = fmt.Sscanf(string(text), "goroutine profile: total %d", &row.Goroutines) // 0 means that it was not told
	}
	s.rows = append(s.rows, row)
}

// measureHome adds up the files of the home.
func (s *sampler) measureHome(row *sample) {
	const mb = 1e6
	store := filepath.Join(s.home, "data", "store") + "/"
	_ = filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error { // files come and go meanwhile
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what is gone has no size
		}
		i, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // the same
		}
		row.Files++
		row.Home += float64(i.Size()) / mb
		if strings.HasPrefix(path, store) {
			row.Store += float64(i.Size()) / mb
		}
		return nil
	})
}

func (s *sampler) measureProcess(pid int, row *sample) error {
	m, err := procfs.MemoryOf(pid)
	if err != nil {
		return err
	}
	row.Memory = float64(m.Now) / 1e6
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return err
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	row.Descriptors, row.Threads = len(open), len(threads)
	return err
}

const profileWait = 5 * time.Second

// profile asks the daemon for a profile of itself.
func (b *bed) profile(name string) ([]byte, error) {
	socket := filepath.Join(b.home, "run", "daemon.sock")
	c := http.Client{Timeout: profileWait, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	res, err := c.Get("http://daemon/debug/pprof/" + name)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(res.Body, 8<<20))
}
