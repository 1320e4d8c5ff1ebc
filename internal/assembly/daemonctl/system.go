package daemonctl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// keeperName is Retake's own user.
const keeperName = "retake"

// systemUnitDir is where root's units are.
const systemUnitDir = "/etc/systemd/system"

// ErrOnlySystem refuses to work without the daemon where its store is out of reach.
var ErrOnlySystem = &retake.Error{
	Kind: retake.Invalid, What: "a system daemon keeps the history here, and nothing else can open it", Safe: unchanged, Hint: "leave out --solo, and RETAKE_SOLO",
}

// noSystemDaemonError says that the system daemon does not answer. Only root can start it.
func (h *Controller) noSystemDaemonError(err error) error {
	return &retake.Error{
		Kind: retake.Away, What: "the system daemon does not answer", Safe: unchanged,
		Hint: fmt.Sprintf("start it: sudo systemctl start %s@%d.socket\nsee its log: sudo journalctl -u %s@%d", keeperName, h.conf.System, keeperName, h.conf.System), Err: err,
	}
}

// systemUnits are for all users of a machine: %i is the ID of one.
func (h *Controller) systemUnits() []Unit {
	const header = "# Written by retake daemon install --system.\n"
	return []Unit{
		{filepath.Join(systemUnitDir, keeperName+"@.socket"), header + `[Unit]
Description=Socket of the Retake daemon of user %i

[Socket]
ListenStream=` + config.SystemRunDir + `/%i.sock
SocketMode=0666
DirectoryMode=0755

[Install]
WantedBy=sockets.target
`},
		{filepath.Join(systemUnitDir, keeperName+"@.service"), header + `[Unit]
Description=Retake daemon of user %i

[Service]
Type=exec
ExecStart=` + quoteUnitValue(h.exe) + ` daemon run --system %i
# It begins as root, takes the rights of the user, and has no capability from then on.
CapabilityBoundingSet=CAP_SETUID CAP_SETGID
NoNewPrivileges=yes
KillMode=mixed
TimeoutStopSec=90
UMask=0077
OOMScoreAdjust=-500
LimitNOFILE=65536
LimitCORE=0
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=no
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
`},
	}
}

// SystemDaemon is what was installed for one user.
type SystemDaemon struct {
	Units    []Unit
	Socket   string // the unit to enable
	OldStore string // where the user's history was so far; "" if he has none
}

// InstallSystem makes what the system daemon of a user needs: Retake's own user, the directories and
// the units. With now the service manager also begins to listen. It needs root.
func (h *Controller) InstallSystem(ctx context.Context, name string, now bool) (d SystemDaemon, err error) {
	u, err := h.checkSystemInstall(name)
	if err != nil {
		return d, err
	}
	keeper, err := findOrAddKeeper(ctx)
	if err != nil {
		return d, &retake.Error{Kind: retake.Away, What: "the user " + keeperName + " could not be added", Safe: unchanged, Err: err}
	}
	if err := makeSystemDirs(u.UID, keeper); err != nil {
		return d, fmt.Errorf("make the directories of the system daemon: %w", err)
	}
	d = SystemDaemon{Units: h.systemUnits(), Socket: fmt.Sprintf("%s@%d.socket", keeperName, u.UID)}
	for _, unit := range d.Units {
		if err := os.MkdirAll(filepath.Dir(unit.Path), 0o755); err != nil {
			return d, fmt.Errorf("write unit: %w", err)
		}
		if err := fsx.ReplaceFile(unit.Path, []byte(unit.Text), 0o644); err != nil {
			return d, fmt.Errorf("write unit: %w", err)
		}
	}
	if old := config.UserStore(u.Home); isThere(config.CatalogFile(old)) && !isThere(config.CatalogFile(config.SystemStore(u.UID))) {
		d.OldStore = old
	}
	if !now {
		return d, nil
	}
	if err := proc.EnableSystemUnit(ctx, d.Socket); err != nil {
		return d, &retake.Error{Kind: retake.Partly, What: "all is installed, and the service manager did not take the units", Safe: "No daemon runs yet.", Err: err}
	}
	return d, nil
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkSystemInstall returns the user to protect. The engine runs as root for a moment, so nobody else
// may be able to replace it.
func (h *Controller) checkSystemInstall(name string) (u config.Identity, err error) {
	if os.Geteuid() != 0 {
		return u, &retake.Error{Kind: retake.Denied, What: "only root can install a system daemon", Safe: unchanged, Hint: "sudo retake daemon install --system"}
	}
	uid := config.SudoUID()
	if name != "" {
		found, err := user.Lookup(name)
		if err == nil {
			uid, err = strconv.Atoi(found.Uid)
		}
		if err != nil {
			return u, &retake.Error{Kind: retake.NotFound, What: "there is no user " + name, Safe: unchanged, Err: err}
		}
	}
	if uid <= 0 {
		return u, &retake.Error{Kind: retake.Invalid, What: "a system daemon protects a user other than root", Safe: unchanged, Hint: "name the user: --user NAME"}
	}
	if u, err = config.FindIdentity(uid); err != nil {
		return u, err
	}
	if h.exe == "" {
		return u, ErrNoEngine
	}
	if err := checkOnlyRootWrites(h.exe); err != nil {
		return u, &retake.Error{
			Kind: retake.Denied, What: "the program " + h.exe + " is not safe to run as root", Safe: unchanged,
			Hint: "install both programs where only root can write, such as /usr/local/bin", Err: err,
		}
	}
	return u, nil
}

// checkOnlyRootWrites looks at a file and at all directories above it.
func checkOnlyRootWrites(path string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for {
		i, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if !config.IsRootsAlone(i) {
			return fmt.Errorf("others than root can change %s", path)
		}
		if path == filepath.Dir(path) {
			return nil
		}
		path = filepath.Dir(path)
	}
}

// identity is a user and a group.
type identity struct{ uid, gid int }

func findOrAddKeeper(ctx context.Context) (id identity, err error) {
	u, err := user.Lookup(keeperName)
	if unknown := user.UnknownUserError(""); errors.As(err, &unknown) {
		if err := proc.AddSystemUser(ctx, keeperName, config.SystemDataDir); err != nil {
			return id, err
		}
		u, err = user.Lookup(keeperName)
	}
	if err != nil {
		return id, err
	}
	if id.uid, err = strconv.Atoi(u.Uid); err == nil {
		id.gid, err = strconv.Atoi(u.Gid)
	}
	if err == nil && (id.uid == 0 || id.gid == 0) {
		err = errors.New("it is root")
	}
	return id, err
}

// makeSystemDirs makes the directories that the engine, which is root only for a moment, could not make.
func makeSystemDirs(uid int, keeper identity) error {
	for _, d := range []struct {
		path  string
		mode  os.FileMode
		owner identity
	}{
		{config.SystemConfigDir, 0o755, identity{}},
		{filepath.Dir(config.SystemSettings(uid)), 0o755, identity{}},
		{config.SystemDataDir, 0o750, keeper},
		{config.SystemStore(uid), 0o770 | os.ModeSetgid, keeper},
	} {
		if err := os.MkdirAll(d.path, 0o755); err != nil {
			return err
		}
		if err := os.Chown(d.path, d.owner.uid, d.owner.gid); err != nil {
			return err
		}
		if err := os.Chmod(d.path, d.mode); err != nil {
			return err
		}
	}
	return nil
}
