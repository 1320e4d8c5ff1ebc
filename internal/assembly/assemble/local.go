package assemble

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/service"
)

// OpenWithoutDaemon opens the service in this process, for the length of one command. It refuses
// beside a daemon, and holds one off.
func OpenWithoutDaemon(ctx context.Context, c config.Config, s *config.Settings) (retake.Service, error) {
	release, err := daemonctl.HoldOff(c)
	if err != nil {
		return nil, err
	}
	svc, err := OpenService(ctx, c, s, Options{OneShot: true, Diag: diag.New(nil, clock.Wall, nil)})
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
