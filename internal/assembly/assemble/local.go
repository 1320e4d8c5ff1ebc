package assemble

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/assembly/daemon"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/service"
)

// Local is the service in the daemon of these places, which is started when
// somebody first asks it something, and replaced when this program is younger.
// Where no daemon can be, it is the service in this process.
func Local(ctx context.Context, c config.Config, s *config.Settings, version string) (retake.Service, error) {
	if !proc.CanDetach {
		return OpenWithoutDaemon(ctx, c, s)
	}
	if err := c.CheckRun(); err != nil {
		return nil, err
	}
	h := daemon.Reach(c, version)
	if err := h.Succeed(ctx); err != nil {
		return nil, err
	}
	return client.New(client.Options{Socket: c.Socket, Version: version, Revive: h.Revive}), nil
}

// OpenWithoutDaemon opens the service in this process, for the length of one command. It refuses
// beside a daemon, and holds one off.
func OpenWithoutDaemon(ctx context.Context, c config.Config, s *config.Settings) (retake.Service, error) {
	release, err := daemon.HoldOff(c)
	if err != nil {
		return nil, err
	}
	svc, err := OpenService(ctx, c, s, Options{OneShot: true})
	if err != nil {
		release()
		return nil, err
	}
	svc.CatchUp()
	return withoutDaemon{svc, release}, nil
}

type withoutDaemon struct {
	*service.Service
	release func()
}

// Close closes the service, and then lets a daemon come.
func (l withoutDaemon) Close() error {
	defer l.release()
	return l.Service.Close()
}

// Begun reports whether anything was ever protected in these places. It opens
// nothing.
func Begun(c config.Config) bool {
	_, err := os.Stat(filepath.Join(c.Data, catalogName))
	return !errors.Is(err, os.ErrNotExist)
}
