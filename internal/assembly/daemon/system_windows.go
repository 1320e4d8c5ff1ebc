package daemon

import (
	"net"

	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// BecomeSystem is only there on Linux.
func BecomeSystem(int) (config.Config, *net.UnixListener, error) {
	return config.Config{}, nil, proc.ErrUnsupported
}
