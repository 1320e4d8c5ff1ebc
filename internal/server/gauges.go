package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/backup"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/server/metrics"
	"github.com/retake-dev/retake/internal/server/probe"
	"github.com/retake-dev/retake/internal/server/tenant"
)

// Gauges are read when somebody asks for the metrics. What they read may hang, so each is read by a
// probe. What needs many files is read once a minute.
const (
	gaugeLimit = 2 * time.Second
	gaugeKeep  = time.Second // all gauges of one request are of one reading
	filesKeep  = time.Minute
)

// gauges returns the gauges of this server.
func (s *Server) gauges() []metrics.Gauge {
	s.scrubs = probe.New(gaugeLimit, filesKeep, s.readScrubs)
	queues := probe.New(gaugeLimit, gaugeKeep, s.readQueues)
	disk := probe.New(gaugeLimit, gaugeKeep, s.readDisk)
	backups := probe.New(gaugeLimit, filesKeep, s.readBackups)
	out := []metrics.Gauge{
		{Name: "retake_namespaces_open", Help: "Namespaces that this server has open.", Read: func() (float64, bool) { return float64(s.pool.OpenCount()), true }},
		gauge("retake_disk_free_bytes", "Free bytes of the disk with the data directory.", disk, func(d diskSpace) (float64, bool) { return float64(d.free), true }),
		gauge("retake_disk_min_free_bytes", "Free bytes below which nothing is saved.", disk, func(d diskSpace) (float64, bool) { return float64(d.floor), true }),
		gauge("retake_scrub_age_seconds", "Time since the last scrub of the namespace that waits longest for one, of those that had one.", s.scrubs, func(f scrubSummary) (float64, bool) { return s.since(f.oldest), !f.oldest.IsZero() }),
		gauge("retake_scrub_damaged", "Paths that the last scrubs of all namespaces could not read back.", s.scrubs, func(f scrubSummary) (float64, bool) { return float64(f.damaged), !f.oldest.IsZero() }),
		gauge("retake_backup_age_seconds", "Time since the last push of the git backup that waits longest for one.", backups, func(b backupSummary) (float64, bool) { return s.since(b.oldest), !b.oldest.IsZero() }),
		gauge("retake_backup_failing_seconds", "How long the git backup that fails longest has failed; 0 if none fails.", backups, func(b backupSummary) (float64, bool) { return s.since(b.failing), !b.oldest.IsZero() }),
	}
	for _, q := range queueNames {
		labels := map[string]string{"queue": q}
		out = append(out,
			metrics.Gauge{Name: "retake_queue_depth", Help: "Items that are due or claimed.", Labels: labels, Read: readQueue(queues, func(r queueRows) int64 { return r.depth[q] })},
			metrics.Gauge{Name: "retake_queue_parked", Help: "Items that failed so often that they are tried once a day only.", Labels: labels, Read: readQueue(queues, func(r queueRows) int64 { return r.parked[q] })})
	}
	return out
}

// gauge returns a gauge of what a probe reads. It is not known while the probe has no answer.
func gauge[T any](name, help string, p *probe.Probe[T], value func(T) (float64, bool)) metrics.Gauge {
	return metrics.Gauge{Name: name, Help: help, Read: func() (float64, bool) {
		v, err := p.Read(context.Background())
		if err != nil {
			return 0, false
		}
		return value(v)
	}}
}

// since returns the seconds since a time, and 0 for none.
func (s *Server) since(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return max(0, s.opts.Clock.Now().Sub(at).Seconds())
}

// queueRows is how many items are in each queue.
type queueRows struct{ depth, parked map[string]int64 }

// readQueue returns a number of items, or -1 if the database cannot be read.
func readQueue(p *probe.Probe[queueRows], count func(queueRows) int64) func() (float64, bool) {
	return func() (float64, bool) {
		rows, err := p.Read(context.Background())
		if err != nil {
			return -1, true
		}
		return float64(count(rows)), true
	}
}

func (s *Server) readQueues(ctx context.Context) (queueRows, error) {
	rows := queueRows{map[string]int64{}, map[string]int64{}}
	for _, q := range queueNames {
		n, _, err := s.ledger.Depth(ctx, q)
		if err != nil {
			return rows, err
		}
		rows.depth[q] = n
	}
	failing, err := s.ledger.Failing(ctx)
	for _, d := range failing {
		if d.IsParked() {
			rows.parked[d.Queue]++
		}
	}
	return rows, err
}

// diskSpace is the free space of the disk with the data directory.
type diskSpace struct{ free, floor int64 }

func (s *Server) readDisk(context.Context) (diskSpace, error) {
	free, total, err := fsx.OS().FreeSpace(s.opts.DataDir)
	d := diskSpace{free: free}
	if err == nil && s.opts.Floor != nil {
		d.floor = s.opts.Floor(total)
	}
	return d, err
}

// scrubFile is in the directory of a namespace and has its last scrub, so that the servers of a data
// directory know it of each other and after a restart.
const scrubFile = "scrub.json"

// scrubNote is the content of scrubFile.
type scrubNote struct {
	At      time.Time `json:"at"`
	Damaged int       `json:"damaged"` // paths
}

// noteScrub counts a scrub that ended and keeps its result.
func (s *Server) noteScrub(ctx context.Context, own tenant.Dirs, rep retake.ScrubReport, err error) {
	if err != nil {
		s.metrics.CountScrub("failed")
		return
	}
	s.metrics.CountScrub(map[bool]string{true: "clean", false: "damaged"}[len(rep.Failed) == 0])
	text, err := json.Marshal(scrubNote{s.opts.Clock.Now().UTC(), len(rep.Failed)})
	if err == nil {
		err = fsx.ReplaceFile(filepath.Join(own.Private, scrubFile), text, 0o600)
	}
	if err != nil {
		s.opts.Log.ErrorContext(ctx, "keep the result of a scrub", "err", err)
		s.metrics.CountBackgroundFailure("scrub note")
	}
	s.scrubs.Forget()
}

// scrubSummary is what the last scrubs of all namespaces found. oldest is zero if there were none.
type scrubSummary struct {
	oldest  time.Time
	damaged int
}

func (s *Server) readScrubs(context.Context) (out scrubSummary, err error) {
	err = s.eachNamespaceDir(func(own string) error {
		text, err := os.ReadFile(filepath.Join(own, scrubFile))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		var n scrubNote
		if err == nil {
			err = json.Unmarshal(text, &n)
		}
		if err != nil {
			return fmt.Errorf("read the last scrub: %w", err)
		}
		out.oldest, out.damaged = earlier(out.oldest, n.At), out.damaged+n.Damaged
		return nil
	})
	return out, err
}

// backupSummary is how far git backups are. oldest is zero if there are none, failing if none fails.
type backupSummary struct{ oldest, failing time.Time }

func (s *Server) readBackups(ctx context.Context) (out backupSummary, err error) {
	err = s.eachNamespaceDir(func(own string) error {
		w := backup.New(backup.Options{Dir: filepath.Join(own, tenant.BackupDir)})
		all, err := w.All()
		if err != nil {
			return err
		}
		for _, ws := range all {
			b, err := w.State(ws)
			if errors.Is(err, backup.ErrNone) { // it ends just now
				continue
			}
			if err != nil {
				return err
			}
			at := b.Created
			if b.Pushed != nil {
				at = b.Pushed.At
			}
			out.oldest = earlier(out.oldest, at)
			if b.Trouble != nil {
				out.failing = earlier(out.failing, b.Trouble.Since)
			}
		}
		return ctx.Err()
	})
	return out, err
}

// earlier returns the earlier of two times, of which the first may be zero.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// eachNamespaceDir calls f for the private directory of each namespace. What cannot be read is
// counted, and leaves the whole unknown.
func (s *Server) eachNamespaceDir(f func(own string) error) error {
	err := s.pool.EachDir(f)
	if err != nil {
		s.opts.Log.Error("read the state of namespaces for the metrics", "err", err)
		s.metrics.CountBackgroundFailure("namespace state")
	}
	return err
}
