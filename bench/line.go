package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
)

// sampleEvery is how many saves a sample of the long line speaks for.
const sampleEvery = 100

// line takes many checkpoints of one workspace, a simulated minute apart, in one
// process that keeps the store open, and looks whether anything grows with them.
func (b *bench) line(ctx context.Context) error {
	f, err := b.plant(ctx, "line", "line", grow.Project(b.size.lineFiles, b.size.seed), nil)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.home, 0o755); err != nil {
		return fmt.Errorf("make store: %w", err)
	}
	if err := f.noteAll(b.size.checkpoints, b.size.edits); err != nil {
		return err
	}
	b.fact("%d checkpoints of %d files, each after %d edits in shared directories and a simulated minute; the service of the daemon in one process, called without a socket, with its own maintenance. Every %d: the median of these saves, the store, and how long a new process takes to open it.",
		b.size.checkpoints, b.size.lineFiles, b.size.edits, sampleEvery)
	h := b.newHome(f.home, f.ws)
	task, err := json.Marshal(task{Do: "line", Dir: f.ws, Files: b.size.lineFiles, Seed: b.size.seed, Checkpoints: b.size.checkpoints, Edits: b.size.edits, Retake: b.retake})
	if err != nil {
		return fmt.Errorf("encode task: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	c := h.command()
	p := exec.CommandContext(ctx, self, "-inside", string(task))
	p.Dir, p.Env, p.Stderr = c.dir, c.env, os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		return fmt.Errorf("run the long line: %w", err)
	}
	if err := p.Start(); err != nil {
		return fmt.Errorf("run the long line: %w", err)
	}
	rerr := b.readLine(bufio.NewScanner(out))
	if err := p.Wait(); err != nil {
		return fmt.Errorf("run the long line: %w", err)
	}
	if rerr != nil {
		return rerr
	}
	return b.readLog(ctx, h)
}

// noteAll writes down every file that the child is going to edit.
func (f *field) noteAll(checkpoints, edits int) error {
	for i := range checkpoints {
		if err := f.note(f.plan.Shared(edits, uint64(i))); err != nil {
			return err
		}
		if f.journal == "" {
			return nil
		}
	}
	return nil
}

func (b *bench) readLine(lines *bufio.Scanner) error {
	for lines.Scan() {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return fmt.Errorf("read sample: %w", err)
		}
		b.addSample(s)
	}
	return lines.Err()
}

func (b *bench) addSample(s sample) {
	if s.Final {
		b.fact("Changes are told by %s.", s.Mode)
		b.addFinal(s)
		return
	}
	say("checkpoint %d: %.1f ms, %.0f MB in %d files, opens in %.0f ms, memory %.0f MB", s.Number, s.Save, s.Store/1e6, s.Files, s.Open, s.Memory/1e6)
	x := float64(s.Number)
	for _, c := range []struct {
		key   record.Key
		unit  record.Unit
		title string
		y     float64
	}{
		{record.LineSave, record.Millis, "median of 100", s.Save},
		{record.LineTail, record.Millis, "95 of 100 are below", s.Tail},
		{record.LineStore, record.Bytes, "store", s.Store},
		{record.LinePaid, record.Bytes, "first capture and changed bytes, compressed", s.Payload},
		{record.LineFiles, record.Count, "files of the store", float64(s.Files)},
		{record.LineOpen, record.Millis, "open", s.Open},
		{record.LineMemory, record.Bytes, "memory", s.Memory},
	} {
		b.rec.Curve("e", c.key, c.unit, c.title).Add(x, c.y)
	}
	switch s.Number {
	case sampleEvery:
		b.row("e", record.LineEarly, record.Millis, "save, median of the first %d", sampleEvery).Add(record.Retake, s.Save)
	case b.size.checkpoints / sampleEvery * sampleEvery:
		b.row("e", record.LineLate, record.Millis, "save, median of the last %d of %d", sampleEvery, s.Number).Add(record.Retake, s.Save)
	}
}

func (b *bench) addFinal(s sample) {
	growth := b.row("e", record.LineGrowth, record.Bytes, "the store grows per checkpoint by")
	growth.Add(record.Retake, s.Growth)
	freed := b.row("e", record.LineFreed, record.Bytes, "- after maintenance")
	freed.Add(record.Retake, s.Freed)
	for _, w := range []*record.Row{growth, freed} {
		w.BaseName, w.Base = "the changed bytes, compressed", []float64{s.Payload}
	}
	b.row("e", record.LineSweep, record.Millis, "maintenance that frees what nobody needs").Add(record.Retake, s.Sweep)
}

// readLog lets a new process read the whole list.
func (b *bench) readLog(ctx context.Context, h *home) error {
	row := b.row("e", record.LineLog, record.Millis, "retake log of all %d checkpoints as JSON, the whole process", b.size.checkpoints)
	for range min(b.size.rounds, 5) {
		u, err := h.process(b.alone("log", "--json", "--no-input", "--limit", fmt.Sprint(b.size.checkpoints))...)(ctx)
		if err != nil {
			return err
		}
		row.Add(record.Solo, u.millis)
	}
	return nil
}
