package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"

	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// firstActivatedFD is the descriptor at which a service manager hands over sockets.
const firstActivatedFD = 3

// socket is where the daemon listens.
type socket struct {
	*net.UnixListener
	path      string
	activated bool        // somebody else opened it: not ours to remove
	file      fs.FileInfo // the file as we made it
}

// listenSocket opens the socket. The daemon lock is held, so an existing file belongs to no
// live process.
func listenSocket(c config.Config, given *net.UnixListener) (*socket, error) {
	if given != nil {
		return &socket{UnixListener: given, path: c.Socket, activated: true}, nil
	}
	if c.ListenFDs > 0 {
		return activatedSocket()
	}
	if err := c.MakeSocketDir(); err != nil {
		return nil, err
	}
	l, err := bindSocket(c.Socket, 0o600)
	if err != nil {
		return nil, err
	}
	s := &socket{UnixListener: l, path: c.Socket}
	if s.file, err = os.Lstat(c.Socket); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), l.Close())
	}
	return s, nil
}

// bindSocket listens at a path in place of what is there.
func bindSocket(path string, mode fs.FileMode) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), l.Close())
	}
	return l, nil
}

// activatedSocket returns the socket that the service manager opened.
func activatedSocket() (*socket, error) {
	f := os.NewFile(firstActivatedFD, "socket")
	defer f.Close() //nolint:errcheck // the listener has its own
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("take the socket of the service manager: %w", err)
	}
	u, ok := l.(*net.UnixListener)
	if !ok {
		return nil, errors.Join(errors.New("take the socket of the service manager: it is not a unix socket"), l.Close())
	}
	u.SetUnlinkOnClose(false)
	return &socket{UnixListener: u, path: u.Addr().String(), activated: true}, nil
}

// isLost reports whether the file was removed. A service manager looks after its own, and a file
// that somebody else put there is theirs.
func (s *socket) isLost() bool {
	_, err := os.Lstat(s.path)
	return !s.activated && errors.Is(err, fs.ErrNotExist)
}

// remove takes the file away, if it is still the one that we made.
func (s *socket) remove() error {
	if s.activated {
		return nil
	}
	now, err := os.Lstat(s.path)
	if err != nil || !os.SameFile(now, s.file) {
		return nil
	}
	if err := os.Remove(s.path); err != nil {
		return fmt.Errorf("remove socket: %w", err)
	}
	return nil
}

// ownerListener closes connections of anyone but the user and root.
type ownerListener struct {
	*socket
	owner int
	log   *slog.Logger
}

func (g ownerListener) Accept() (net.Conn, error) {
	for {
		c, err := g.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := proc.PeerUID(c)
		if err == nil && (uid == g.owner || uid == 0) {
			return c, nil
		}
		g.log.Warn("hung up on a stranger", "uid", uid, "err", err)
		_ = c.Close() // nothing was said
	}
}
