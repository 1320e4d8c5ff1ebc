package daemonctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// Unit is one file for the service manager of the user.
type Unit struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// unitHeader starts every unit that we write, so that no other file is overwritten.
const unitHeader = "# Written by retake daemon install.\n"

// Units are the files that let the service manager hold the socket and start the
// daemon on first use. The socket comes first.
func (h *Controller) Units() []Unit {
	name := proc.UnitPrefix
	if h.conf.RetakeHome != "" { // several homes have several daemons
		name += "-" + h.conf.DataDigest()
	}
	env := ""
	if h.conf.RetakeHome != "" {
		env = "Environment=" + quoteUnitValue("RETAKE_HOME="+h.conf.RetakeHome) + "\n"
	}
	socket := unitHeader + `[Unit]
Description=Socket of the Retake daemon

[Socket]
ListenStream=` + escapeSpecifiers(h.conf.Socket) + `
SocketMode=0600
DirectoryMode=0700

[Install]
WantedBy=sockets.target
`
	service := unitHeader + `[Unit]
Description=Retake daemon: the history of protected workspaces

[Service]
Type=exec
ExecStart=` + quoteUnitValue(h.exe) + ` daemon run
` + env + `KillMode=mixed
TimeoutStopSec=90
`
	return []Unit{
		{filepath.Join(h.conf.UnitDir, name+".socket"), socket},
		{filepath.Join(h.conf.UnitDir, name+".service"), service},
	}
}

// escapeSpecifiers keeps the manager from seeing a specifier.
func escapeSpecifiers(s string) string { return strings.ReplaceAll(s, "%", "%%") }

func quoteUnitValue(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`).Replace(s) + `"`
}

// Install writes the units; with now it also lets the manager start to listen.
func (h *Controller) Install(ctx context.Context, now bool) ([]Unit, error) {
	if h.conf.UnitDir == "" || h.exe == "" {
		return nil, &retake.Error{Kind: retake.Away, What: "there is no home directory to write units to", Safe: unchanged}
	}
	units := h.Units()
	for _, u := range units {
		if err := checkUnitIsOurs(u.Path); err != nil {
			return nil, err
		}
	}
	for _, u := range units {
		if err := writeUnit(u); err != nil {
			return nil, err
		}
	}
	if !now {
		return units, nil
	}
	if _, err := h.Stop(ctx); err != nil { // the manager must own the socket
		return units, err
	}
	if err := proc.EnableUnit(ctx, h.conf.DaemonEnv(), filepath.Base(units[0].Path)); err != nil {
		return units, &retake.Error{
			Kind: retake.Partly, What: "the units are written, and the service manager did not take them", Safe: "The next command starts a daemon as before.", Err: err,
		}
	}
	return units, nil
}

func checkUnitIsOurs(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && strings.HasPrefix(string(b), unitHeader) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at unit: %w", err)
	}
	return &retake.Error{Kind: retake.Exists, What: path + " is there, and it is not ours", Safe: unchanged, Hint: "see what would be written: retake daemon install --print"}
}

func writeUnit(u Unit) error {
	if err := os.MkdirAll(filepath.Dir(u.Path), 0o755); err != nil {
		return fmt.Errorf("write unit: %w", err)
	}
	if err := fsx.ReplaceFile(u.Path, []byte(u.Text), 0o644); err != nil {
		return fmt.Errorf("write unit: %w", err)
	}
	return nil
}
