package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake/bench/engine"
	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
)

// peer is a field of a tool that is a program.
func (b *bench) peer(ctx context.Context, shape string, k *kit, plan *grow.Plan, bytes int64) (*field, error) {
	var place func(string) (string, error)
	if k.place != nil {
		place = func(dir string) (string, error) { return k.place(ctx, b, dir, bytes) }
	}
	f, err := b.plant(ctx, shape, k.name, plan, place)
	if err != nil {
		return nil, err
	}
	run := func(argvs func() [][]string) func(context.Context) (usage, error) {
		return func(ctx context.Context) (usage, error) { return b.steps(ctx, b.commands(k, f.home, f.ws, argvs())) }
	}
	f.begin = func(ctx context.Context) error {
		_, err := run(func() [][]string { return k.prepare(f.home) })(ctx)
		return err
	}
	f.first = way{name: k.name, run: run(func() [][]string { return k.first(f.home, f.ws) })}
	f.ways = []way{{name: k.name, run: run(func() [][]string { return k.save(f.home, f.ws) })}}
	if k.store != nil {
		f.store = k.store(f.home)
	}
	f.end = func() error { return nil }
	return f, nil
}

// tracked is retake as it comes: with its daemon.
func (b *bench) tracked(ctx context.Context, shape, name string, plan *grow.Plan) (*field, error) {
	f, err := b.plant(ctx, shape, name, plan, nil)
	if err != nil {
		return nil, err
	}
	h := b.newHome(f.home, f.ws)
	f.begin = func(context.Context) error { return nil }
	f.first = way{name: record.Process, run: h.process("init", "--no-input", f.ws)}
	f.ways = []way{
		{name: record.Retake, ready: h.dialed(ctx), run: h.call},
		{name: record.Process, run: h.process("save", "--no-input", "-C", f.ws, "round")},
	}
	f.store, f.end = h.store(), h.stop
	b.closers = append(b.closers, h.stop)
	return f, nil
}

// scanned is the same with the tracker turned off: every save looks at every file.
func (b *bench) scanned(ctx context.Context, shape string, plan *grow.Plan) (*field, error) {
	f, err := b.tracked(ctx, shape, record.Scan, plan)
	if err != nil {
		return nil, err
	}
	h := b.newHome(f.home, f.ws)
	f.begin = func(ctx context.Context) error {
		_, err := h.command(b.alone("config", trackerSetting, "scan")...).output(ctx)
		return err
	}
	f.first.name = record.Scan
	f.ways = f.ways[:1]
	f.ways[0].name = record.Scan
	return f, nil
}

// lone is retake without a daemon: every process opens the store and looks at every file.
func (b *bench) lone(ctx context.Context, shape string, plan *grow.Plan) (*field, error) {
	f, err := b.plant(ctx, shape, record.Solo, plan, nil)
	if err != nil {
		return nil, err
	}
	h := b.newHome(f.home, f.ws)
	f.begin = func(context.Context) error { return nil }
	f.first = way{name: record.Solo, run: h.process(b.alone("init", "--no-input", f.ws)...)}
	f.ways = []way{{name: record.Solo, run: h.process(b.alone("save", "--no-input", "-C", f.ws, "round")...)}}
	f.store, f.end = h.store(), func() error { return nil }
	return f, nil
}

// alone asks a retake that has a daemon to do without.
func (b *bench) alone(args ...string) []string {
	if b.can.solo {
		return append([]string{"--solo"}, args...)
	}
	return args
}

// bare is the engine without retake.
func (b *bench) bare(ctx context.Context, shape string, plan *grow.Plan) (*field, error) {
	f, err := b.plant(ctx, shape, record.Engine, plan, nil)
	if err != nil {
		return nil, err
	}
	var e *engine.Engine
	var batch *engine.Batch
	f.end = func() error {
		if e == nil {
			return nil
		}
		err := e.Close(context.WithoutCancel(ctx))
		e = nil
		return err
	}
	f.begin = func(ctx context.Context) (err error) {
		if err := f.end(); err != nil {
			return err
		}
		e, err = engine.Create(ctx, f.home)
		return err
	}
	f.first = way{name: record.Engine, run: timed(func(ctx context.Context) error { return e.WriteTree(ctx, f.ws) })}
	f.ways = []way{{
		name:  record.Engine,
		ready: func(files []string) (err error) { batch, err = e.Prepare(f.ws, files); return err },
		run:   timed(func(ctx context.Context) error { return e.Write(ctx, batch) }),
	}}
	f.store = f.home
	b.closers = append(b.closers, f.end)
	return f, nil
}

// timed measures something that happens in this process; its memory is not known.
func timed(do func(context.Context) error) func(context.Context) (usage, error) {
	return func(ctx context.Context) (usage, error) {
		start := time.Now()
		err := do(ctx)
		return usage{millis: float64(time.Since(start).Microseconds()) / 1000}, err
	}
}

// numbered gives every command of a kit a number of its own.
func (b *bench) numbered(argv []string) []string {
	b.number++
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = strings.ReplaceAll(a, snapshotMark, strconv.Itoa(b.number))
	}
	return out
}

// alike are the fields of all tools on the same plan, ours first.
func (b *bench) alike(ctx context.Context, shape string, plan *grow.Plan) ([]*field, error) {
	var out []*field
	for _, own := range []struct {
		there     bool
		name, why string
		make      func() (*field, error)
	}{
		{b.can.daemon, record.Daemon, "this build has none", func() (*field, error) { return b.tracked(ctx, shape, record.Retake, plan) }},
		{b.can.daemon && b.can.scan, record.Scan, "this build cannot turn the tracker off", func() (*field, error) { return b.scanned(ctx, shape, plan) }},
		{true, "", "", func() (*field, error) { return b.lone(ctx, shape, plan) }},
		{true, "", "", func() (*field, error) { return b.bare(ctx, shape, plan) }},
	} {
		if !own.there {
			b.miss(own.name, own.why)
			continue
		}
		f, err := own.make()
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	bytes, err := sizeOf(out[0].ws)
	if err != nil {
		return nil, err
	}
	for _, k := range b.kits {
		f, err := b.peer(ctx, shape, k, plan, bytes)
		if err != nil && k.place != nil && ctx.Err() == nil { // an image that cannot be mounted here
			b.miss(k.name, "no place for it: "+short(err))
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	for _, m := range b.absent {
		b.miss(m.Name, m.Why)
	}
	return out, nil
}

// short leaves paths of the machine out of a record.
func short(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return text
}
