package g1

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() {
	harness.Register("G1-b-cut", func(r *harness.Run) []harness.Verdict {
		return powerCuts(r, "power cut at the acknowledgement: it is found", "syncs do nothing", cutAtAck)
	})
	harness.Register("G1-c-cut", func(r *harness.Run) []harness.Verdict {
		return powerCuts(r, "power cut inside a capture, save, cut at its acknowledgement", "syncs do nothing", cutInside)
	})
}

// site is a bed with a store on it, and a workspace and a log beside it: the
// capture syncs the file system of the workspace, which would hide what the store
// does not sync.
type site struct {
	*crashbed.Bed
	ws, acks string
	boots    int
	step     int64
	seed     int64
	ops      int64 // of one save
	noSync   bool
}

func newSite(r *harness.Run, kind string, seed int64, noSync bool) (*site, error) {
	b, err := crashbed.NewBed(r, kind)
	if err != nil {
		return nil, err
	}
	s := &site{Bed: b, ws: filepath.Join(b.Dir, "ws"), acks: filepath.Join(r.Scratch("acks"), "acks"), seed: seed, noSync: noSync}
	err = os.Mkdir(s.ws, 0o755)
	if err == nil && noSync {
		err = s.honestStart()
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return s, nil
}

// honestStart gives the control a store that is on the disk: what it loses then
// are checkpoints.
func (s *site) honestStart() error {
	v := s.saves(1)
	v.NoSync = false
	if _, _, err := v.Start(); err != nil {
		return err
	}
	return crashbed.Command("sync", "-f", s.Mnt)
}

// saves is the next piece of work on this site.
func (s *site) saves(steps int64) crashbed.Saving {
	v := crashbed.Saving{
		Data: filepath.Join(s.Mnt, "data"), Ws: s.ws, Acks: s.acks, Boot: s.boot(),
		Seed: s.seed, From: s.step, Steps: steps, NoSync: s.noSync,
	}
	s.step += steps
	return v
}

func (s *site) boot() string { return strconv.Itoa(s.boots) }

// work runs saves that end in a cut, at operation at or, when it is 0 or there
// are fewer, at the last acknowledgement; then it shows what is left.
func (s *site) work(steps, at int64) error {
	v := s.saves(steps)
	v.Cut, v.At = s.Mnt, at
	_, dead, err := v.Start()
	if err == nil && !dead {
		err = fmt.Errorf("the power was not cut")
	}
	s.boots++
	return errors.Join(err, s.Remount())
}

// check holds what is left against the log, saves once more, and keeps that as
// acknowledged too: the next cut will show whether it was.
func (s *site) check() (int, error) {
	acks, err := crashbed.ReadAcks(s.acks)
	if err != nil {
		return 0, err
	}
	w := crashbed.Wreckage{Data: filepath.Join(s.Mnt, "data"), Ws: s.ws, Boot: s.boot(), Acks: acks, Seed: s.seed, Step: s.step}
	s.step++
	if err := w.Check(context.Background()); err != nil {
		return len(acks), err
	}
	return len(acks), crashbed.WriteAck(s.acks, w.Acks[len(w.Acks)-1])
}

// cutAtAck is G1 (b): one to three saves, and the cut right after the last one.
func cutAtAck(s *site, i int) (int, error) {
	if err := s.work(int64(i%3)+1, 0); err != nil {
		return 0, err
	}
	return s.check()
}

// cutInside is G1 (c): a capture that is cut at any of its operations, then a save
// of the same bytes and more that is cut at its acknowledgement.
func cutInside(s *site, i int) (int, error) {
	if s.ops == 0 {
		if err := s.measure(); err != nil {
			return 0, err
		}
	}
	at := int64(uint64(i)*2654435761%uint64(s.ops)) + 1
	if err := s.work(1, at); err != nil {
		return 0, err
	}
	if err := s.work(1, 0); err != nil {
		return 0, err
	}
	return s.check()
}

// measure protects the workspace and counts the operations of a second save.
func (s *site) measure() error {
	if _, _, err := s.saves(1).Start(); err != nil {
		return err
	}
	v := s.saves(1)
	v.Count = true
	out, _, err := v.Start()
	if err != nil {
		return err
	}
	s.ops, err = strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	return err
}

// powerCuts runs the trials on ext4 and xfs side by side.
func powerCuts(r *harness.Run, what, control string, trial func(*site, int) (int, error)) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G1", What: what, Control: control}
	n, lies := r.Figure(20, 300), r.Figure(6, 20)
	cuts, acked, first := map[string]int{}, 0, ""
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, kind := range []string{"ext4", "xfs"} {
		wg.Go(func() {
			cutSeries(r, kind, n/2, false, trial, func(i, acks int, err error) {
				mu.Lock()
				defer mu.Unlock()
				v.Tried++
				cuts[kind]++
				acked += acks
				if err != nil {
					v.Fail("%s, trial %d: %v", kind, i, err)
				}
			})
			cutSeries(r, kind, lies/2, true, trial, func(_, _ int, err error) {
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					v.Caught++
					first = err.Error()
				}
			})
		})
	}
	wg.Wait()
	v.Detail = map[string]any{"trials": cuts, "acknowledged checked": acked, "control tried": lies, "control example": first}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// cutSeries runs n trials; a site that failed, or is old, is replaced.
func cutSeries(r *harness.Run, kind string, n int, noSync bool, trial func(*site, int) (int, error), tell func(i, acks int, err error)) {
	var s *site
	for i := range n {
		var err error
		if s == nil {
			s, err = newSite(r, kind, r.Seed*100+int64(i/crashbed.CutsPerBed), noSync)
		}
		acks := 0
		if err == nil {
			acks, err = trial(s, i)
		}
		tell(i, acks, err)
		if s != nil && (err != nil || i%crashbed.CutsPerBed == crashbed.CutsPerBed-1 || i == n-1) {
			if err := s.Close(); err != nil {
				tell(i, 0, fmt.Errorf("clean up: %w", err))
			}
			s = nil
		}
	}
}
