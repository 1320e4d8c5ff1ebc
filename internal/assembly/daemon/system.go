//go:build unix

package daemon

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// BecomeSystem makes this process, which runs as root, the system daemon of a user: it works with his
// rights, and keeps a store that no process of his can reach. It returns where everything is, and
// where to listen unless a service manager does.
func BecomeSystem(uid int) (c config.Config, at *net.UnixListener, err error) {
	id, err := config.FindIdentity(uid)
	if err != nil {
		return c, nil, err
	}
	if c, err = config.SystemEngine(id); err != nil {
		return c, nil, err
	}
	keeperUID, keeperGID, err := findKeeper()
	if err != nil {
		return c, nil, err
	}
	if c.ListenFDs == 0 {
		if at, err = listenAsRoot(c); err != nil {
			return c, nil, err
		}
	}
	if err := proc.WorkFor(id.UID, id.GID, id.Groups, keeperUID, keeperGID); err != nil {
		return c, nil, err
	}
	if _, err := os.Stat(c.DataDir); err != nil {
		return c, nil, fmt.Errorf("find the directory of the store, which retake daemon install --system makes: %w", err)
	}
	return c, at, nil
}

// findKeeper returns Retake's own user and group: those of the directory of all stores.
func findKeeper() (uid, gid int, err error) {
	i, err := os.Lstat(config.SystemDataDir)
	if err != nil {
		return 0, 0, fmt.Errorf("find the directory of stores: %w", err)
	}
	st, ok := i.Sys().(*syscall.Stat_t)
	if !ok || !i.IsDir() || i.Mode().Perm()&0o027 != 0 || st.Uid == 0 {
		return 0, 0, fmt.Errorf("%s is not a directory that only Retake's own user can write to", config.SystemDataDir)
	}
	return int(st.Uid), int(st.Gid), nil
}

// listenAsRoot listens where no user could put a socket.
func listenAsRoot(c config.Config) (*net.UnixListener, error) {
	if err := os.MkdirAll(c.SocketDir, 0o755); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return bindSocket(c.Socket, 0o666) // who connects is looked at
}
