package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/hook"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// protectOrTell protects the project that an agent works in, or says once that it is not protected,
// as the user's settings want it.
func (h *hookHandler) protectOrTell(ctx context.Context, s retake.Signal) (bool, retake.Reaction) {
	settings, err := config.Load(h.conf.SettingsFile)
	if err != nil || settings.Protect() == "off" {
		return false, retake.Reaction{}
	}
	root := projectRoot(s.Dir, h.conf.Home)
	if settings.Protect() != "auto" {
		return false, h.sayOnce(root, "ask", "", "Protect it: retake init. Always: retake config protect auto.")
	}
	if h.wasTold(root, refused) { // to look at it again may take as long as the first time
		return false, retake.Reaction{}
	}
	svc, err := h.daemonService(ctx)
	if err != nil {
		return false, h.sayOnce(root, failed, err.Error(), "See: retake status.")
	}
	defer svc.Close() //nolint:errcheck // the answer is there
	res, err := svc.Init(ctx, retake.InitRequest{Dir: root, Env: h.conf.VerifyEnv(), Automatic: true})
	if retake.IsKind(err, retake.Denied) {
		return false, h.sayOnce(root, refused, retake.AsError(err).What, "Protect it nevertheless: retake init.")
	}
	if err != nil { // the next prompt tries again
		return false, h.sayOnce(root, failed, retake.AsError(err).What, "See: retake status.")
	}
	text := fmt.Sprintf("Retake protects %s now. Undo a turn: retake undo.", termtext.Escape(root))
	if res.Checkpoint.ID == "" { // it may still be refused
		if h.wasTold(root, slow) {
			return false, h.sayOnce(root, refused, "it takes long to look at it", "Protect it now: retake init.")
		}
		h.rememberTold(root, slow)
		text = fmt.Sprintf("Retake looks at %s to protect it. This continues in the background. Until the first checkpoint is there, nothing can be undone.", termtext.Escape(root))
	}
	return true, retake.Reaction{Warnings: []retake.Warning{{Code: hook.NotProtected, Text: text}}}
}

// What is said of a directory, once each.
const (
	refused = "refused" // it is not protected without the user
	failed  = "failed"  // it could not be protected
	slow    = "slow"    // it is still looked at
)

// projectRoot returns the nearest directory above with a repository, or the directory itself. It does
// not look above the user's home directory.
func projectRoot(dir, home string) string {
	for at := filepath.Clean(dir); at != home && at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
	}
	return filepath.Clean(dir)
}

// sayOnce says to the user and to the agent that a directory is not protected, once for each sort of
// reason.
func (h *hookHandler) sayOnce(root, sort, why, next string) retake.Reaction {
	if h.wasTold(root, sort) {
		return retake.Reaction{}
	}
	if !h.rememberTold(root, sort) { // it would be said at every prompt
		return retake.Reaction{}
	}
	text := fmt.Sprintf("Retake does not protect %s", termtext.Escape(root))
	if why != "" {
		text += ": " + strings.TrimSuffix(why, ".")
	}
	return retake.Reaction{
		Note:     text + ". What you delete here cannot be brought back.",
		Warnings: []retake.Warning{{Code: hook.NotProtected, Text: text + ". " + next}},
	}
}

// rememberTold records what the user is told about a directory, and reports whether it is.
func (h *hookHandler) rememberTold(root, sort string) bool {
	path := h.toldFile(root, sort)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err != nil {
		h.logError("remember what was said of " + root + ": " + err.Error())
	}
	return err == nil
}

// wasTold reports whether the user was told about a directory, or nobody can say.
func (h *hookHandler) wasTold(root, sort string) bool {
	_, err := os.Lstat(h.toldFile(root, sort))
	return !errors.Is(err, fs.ErrNotExist)
}

// toldFile is an empty file for each thing that the user was told about a directory.
func (h *hookHandler) toldFile(root, sort string) string {
	sum := sha256.Sum256([]byte(sort + " " + root))
	return filepath.Join(h.conf.DataDir, "told", hex.EncodeToString(sum[:16]))
}
