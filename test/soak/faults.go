//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// saboteur lets things go wrong.
type saboteur struct {
	*bed
	rnd    *rand.Rand
	agents []*agent
}

// fault is one thing that goes wrong. It returns when it is over.
type fault struct {
	name  string
	early bool // only in the first part of a run
	do    func(*saboteur) error
}

// killsUntil is the part of a run in which daemons are killed. After it one daemon lives long enough to
// show what it leaks.
const killsUntil = 0.4

var faults = []fault{
	{"daemon killed", true, (*saboteur).killDaemon},
	{"daemon killed", true, (*saboteur).killDaemon},
	{"save killed", false, (*saboteur).killSave},
	{"bit flipped", false, (*saboteur).flipBit},
	{"clock two days ahead", false, func(s *saboteur) error { return s.jumpClock(48 * time.Hour) }},
	{"clock two days back", false, func(s *saboteur) error { return s.jumpClock(-48 * time.Hour) }},
	{"disk low", false, (*saboteur).lowDisk},
}

// work lets faults happen in random order, each as often as the others.
func (s *saboteur) work(ctx context.Context) {
	var bag []fault
	for {
		pause := time.Duration(float64(s.FaultEvery) * (0.5 + s.rnd.Float64()))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if len(bag) == 0 {
			for _, i := range s.rnd.Perm(len(faults)) {
				bag = append(bag, faults[i])
			}
		}
		f := bag[0]
		bag = bag[1:]
		if f.early && time.Since(s.began) > time.Duration(killsUntil*float64(s.Time)) {
			continue
		}
		s.count(func(c *counts) { c.Faults[f.name]++ })
		end := s.calm.begin()
		err := f.do(s)
		end()
		if err != nil {
			s.fail(failedSoak, "%s: %v", f.name, err)
		}
	}
}

// pause waits a random time.
func (s *saboteur) pause(least, most time.Duration) {
	time.Sleep(least + time.Duration(s.rnd.Int63n(int64(most-least))))
}

func (s *saboteur) anyAgent() *agent { return s.agents[s.rnd.Intn(len(s.agents))] }

// killDaemon kills the daemon while agents work. The next command starts another one.
func (s *saboteur) killDaemon() error {
	s.pause(0, time.Second)
	s.daemon.Kill()
	s.mustSave()
	return nil
}

// killSave kills a command that saves. Its process is ours, so nothing else is hit.
func (s *saboteur) killSave() error {
	cmd := exec.Command(s.exe, "save", "killed", "--json")
	cmd.Dir, cmd.Env = s.anyAgent().ws, s.environ()
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		return err
	}
	s.pause(0, 60*time.Millisecond)
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // killed, or done
	if panics(text.String()) {
		s.fail(failedPanic, "a save that was killed: %s", text.String())
	}
	return nil
}

// jumpClock moves the clock for some seconds, in the middle of whatever runs.
func (s *saboteur) jumpClock(by time.Duration) error {
	if err := s.clock.jump(by); err != nil {
		return err
	}
	s.pause(2*time.Second, 6*time.Second)
	return s.clock.jump(0)
}

// lowDisk asks for some more free space than there is.
func (s *saboteur) lowDisk() error {
	var st unix.Statfs_t
	if err := unix.Statfs(s.home, &st); err != nil {
		return err
	}
	const more = 8
	free := int64(st.Bavail)*st.Bsize/1e6 + more
	if a := s.run(s.dir, nil, "config", "floor", fmt.Sprintf("%dMB", free)); a.code != 0 {
		return fmt.Errorf("raise the minimum: %s", a.said())
	}
	s.pause(2*time.Second, 6*time.Second)
	if a := s.run(s.dir, nil, "config", "floor", usualFloor); a.code != 0 {
		return fmt.Errorf("lower the minimum: %s", a.said())
	}
	s.mustSave()
	return nil
}

// flipBit damages a file of the store, and has it repaired. Until then, and for what cannot be repaired,
// commands must name the damage.
func (s *saboteur) flipBit() error {
	blobs, err := os.ReadDir(filepath.Join(s.home, "data", "store", "blobs"))
	if err != nil {
		return err
	}
	kinds := map[byte][]string{} // packs of files, packs of metadata, indexes: there are many more of the last
	for _, e := range blobs {
		if strings.HasSuffix(e.Name(), ".f") && strings.IndexByte(s.Flip, e.Name()[0]) >= 0 {
			kinds[e.Name()[0]] = append(kinds[e.Name()[0]], e.Name())
		}
	}
	if len(kinds) == 0 {
		return nil // none of this kind yet
	}
	letters := slices.Sorted(maps.Keys(kinds))
	names := kinds[letters[s.rnd.Intn(len(letters))]]
	name := names[s.rnd.Intn(len(names))]
	s.calm.noteFlip() // before: a command may meet it at once
	if err := flipAt(filepath.Join(s.home, "data", "store", "blobs", name), s.rnd); err != nil {
		return ignoreAbsent(err) // a sweep was faster
	}
	s.note("a bit of %s was flipped", name)
	s.pause(time.Second, 4*time.Second)
	s.judge(s.run(s.anyAgent().ws, nil, "doctor", "--json"))
	if a := s.run(s.anyAgent().ws, nil, "doctor", "--repair", "--yes", "--json"); !s.judge(a) {
		s.note("%s", a.said())
	}
	s.mustSave()
	return nil
}

func flipAt(path string, rnd *rand.Rand) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // the write below says whether it worked
	i, err := f.Stat()
	if err != nil || i.Size() == 0 {
		return err
	}
	var b [1]byte
	at := rnd.Int63n(i.Size())
	if _, err := f.ReadAt(b[:], at); err != nil {
		return err
	}
	b[0] ^= 1 << rnd.Intn(8)
	_, err = f.WriteAt(b[:], at)
	return err
}

const saveTries = 20

// mustSave wants saves to work again in every workspace, soon.
func (s *saboteur) mustSave() {
	for _, w := range s.agents {
		var a answer
		for range saveTries {
			if a = s.run(w.ws, nil, "save", "--if-changed", "--json"); a.code == 0 || a.code == exitInternal || a.late || panics(a.text) {
				break
			}
			time.Sleep(500 * time.Millisecond)
		}
		if a.code != 0 {
			s.fail(failedRefusal, "saves do not work after a fault: %s", a.said())
			s.judge(s.run(s.dir, nil, "daemon", "stop", "--json")) // a new one may help, and the rest of the run is worth something
		}
	}
}
