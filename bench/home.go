package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// home is a retake of its own: store, settings and socket below one directory, and
// one workspace.
type home struct {
	b       *bench
	dir, ws string
	svc     retake.Service // nil until it is asked for
	id      retake.WorkspaceID
	counter *fsxtest.Counter // of a service in this process
}

func (b *bench) newHome(dir, ws string) *home { return &home{b: b, dir: dir, ws: ws} }

func (h *home) store() string { return filepath.Join(h.dir, "data", "store") }

// command is a retake of this home, in its workspace.
func (h *home) command(args ...string) command {
	return command{argv: append([]string{h.b.retake}, args...), dir: h.ws, env: append(h.b.shell(), "RETAKE_HOME="+h.dir)}
}

// process runs and weighs it.
func (h *home) process(args ...string) func(context.Context) (usage, error) {
	return func(ctx context.Context) (usage, error) { return h.b.steps(ctx, []command{h.command(args...)}) }
}

// ask reads the JSON answer of a command.
func (h *home) ask(ctx context.Context, to any, args ...string) error {
	out, err := h.command(append(args, "--json", "--no-input")...).output(ctx)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), to); err != nil {
		return fmt.Errorf("read answer of %s: %w", args[0], err)
	}
	return nil
}

// daemonState is what daemon status tells.
type daemonState struct {
	About  retake.About `json:"about"`
	Socket string       `json:"socket"`
}

func (h *home) daemon(ctx context.Context) (daemonState, error) {
	var st daemonState
	err := h.ask(ctx, &st, "daemon", "status")
	if err == nil && (st.About.PID == 0 || st.Socket == "") {
		err = errors.New("ask the daemon: it is not up")
	}
	return st, err
}

func (h *home) status(ctx context.Context) (retake.Status, error) {
	var st retake.Status
	return st, h.ask(ctx, &st, "status")
}

// stop ends the daemon. One that is not up is no fault.
func (h *home) stop() error {
	err := h.hangUp()
	if !h.b.can.daemon {
		return err
	}
	_, serr := h.command("daemon", "stop").output(context.Background())
	if serr != nil {
		if _, up := h.daemon(context.Background()); up != nil {
			serr = nil
		}
	}
	return errors.Join(err, serr)
}

// hangUp closes the service of this process.
func (h *home) hangUp() error {
	if h.svc == nil {
		return nil
	}
	err := h.svc.Close()
	h.svc = nil
	return err
}

// dialed makes sure that the daemon is up and can be called. It is asked about
// itself first, so that the call that is measured finds an open connection.
func (h *home) dialed(ctx context.Context) func([]string) error {
	return func([]string) error {
		if h.svc != nil {
			return nil
		}
		if _, err := h.command("status", "--line").output(ctx); err != nil {
			return err
		}
		st, err := h.daemon(ctx)
		if err != nil {
			return err
		}
		h.svc = client.New(client.Options{Socket: st.Socket})
		return h.find(ctx)
	}
}

// opened makes sure that a service without a daemon is open in this process.
func (h *home) opened(ctx context.Context) func([]string) error {
	return func([]string) error {
		if h.svc != nil {
			return nil
		}
		conf, err := config.Read()
		if err != nil {
			return err
		}
		conf.DataDir, conf.SettingsFile, conf.Executable = filepath.Join(h.dir, "data"), filepath.Join(h.dir, "config.json"), h.b.retake
		settings, err := config.Load(conf.SettingsFile)
		if err != nil {
			return err
		}
		seam, counter := fsxtest.NewCountingFS(fsx.OS())
		s, err := assemble.OpenService(ctx, conf, settings, assemble.Options{FS: seam})
		if err != nil {
			return err
		}
		h.svc, h.counter = s, counter
		return h.find(ctx)
	}
}

func (h *home) find(ctx context.Context) error {
	ws, err := h.svc.Locate(ctx, h.ws)
	if err != nil {
		return fmt.Errorf("find workspace: %w", err)
	}
	h.id = ws.ID
	return nil
}

// call saves through the service.
func (h *home) call(ctx context.Context) (usage, error) {
	return timed(func(ctx context.Context) error {
		_, err := h.svc.Save(ctx, retake.SaveRequest{Workspace: h.id, Intent: "round", Trigger: retake.TriggerManual})
		return err
	})(ctx)
}

// tracks says how changes are known, and whether that is by a tracker. One that is
// not there is noted.
func (h *home) tracks(ctx context.Context) (retake.Tracking, bool, error) {
	st, err := h.status(ctx)
	if err != nil {
		return retake.Tracking{}, false, err
	}
	t := st.Tracking
	if t.Mode != retake.TrackingScan && t.Mode != "" {
		h.b.fact("Changes are told by %s.", t.Mode)
		return t, true, nil
	}
	why := t.Why
	if why == "" {
		why = "it did not say why"
	}
	h.b.miss(record.Tracker, why)
	return t, false, nil
}

// settled saves twice: from then on no time stamp is too young to be trusted.
func (h *home) settled(ctx context.Context) error {
	for range 2 {
		if _, err := h.command("save", "--no-input", "settle").output(ctx); err != nil {
			return err
		}
		if err := pause(ctx, settle); err != nil {
			return err
		}
	}
	return nil
}

// unchanged is a save of nothing: it reports how many checkpoints were recorded.
func (h *home) unchanged(ctx context.Context) (float64, error) {
	var before, after retake.Status
	if err := h.ask(ctx, &before, "status"); err != nil {
		return 0, err
	}
	if _, err := h.command("save", "--no-input", "--if-changed").output(ctx); err != nil {
		return 0, err
	}
	err := h.ask(ctx, &after, "status")
	return float64(after.Count - before.Count), err
}

// addMemory leaves out what this system does not tell.
func addMemory(row *record.Row, name string, u usage) {
	if u.memory > 0 {
		row.Add(name, u.memory)
	}
}
