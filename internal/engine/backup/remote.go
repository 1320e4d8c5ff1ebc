package backup

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pattern"
)

// remoteAddr is a parsed address. Git gets the text; the rest is for us.
type remoteAddr struct {
	text string
	host string // "" for a directory
	port int
}

const sshPort = 22

var (
	userPattern = pattern.Lazy(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	hostPattern = pattern.Lazy(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

// parseRemote accepts ssh://user@host[:port]/path and user@host:path, and nothing that a
// program could take for an option or another transport.
func parseRemote(text string, paths bool) (remoteAddr, error) {
	if paths && filepath.IsAbs(text) && isPlainText(text) {
		return remoteAddr{text: text}, nil
	}
	r, ok := remoteAddr{}, false
	if strings.HasPrefix(text, "ssh://") {
		r, ok = parseURL(text)
	} else if !strings.Contains(text, "://") {
		r, ok = parseSCP(text)
	}
	if !ok || !isPlainText(text) {
		return remoteAddr{}, newFault(retake.Invalid, ErrRemote, nil, "backups go over ssh, as git@host:path or ssh://git@host/path", "say where: retake backup set git@host:path")
	}
	return r, nil
}

func parseURL(text string) (remoteAddr, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") || len(u.Path) < 2 || strings.HasPrefix(u.Path, "/-") {
		return remoteAddr{}, false
	}
	r := remoteAddr{text: text, host: u.Hostname(), port: sshPort}
	if p := u.Port(); p != "" {
		r.port, err = strconv.Atoi(p)
	}
	if _, set := u.User.Password(); set || !userPattern().MatchString(u.User.Username()) {
		return remoteAddr{}, false
	}
	return r, err == nil && r.port > 0 && r.port < 1<<16 && isValidHost(r.host)
}

func parseSCP(text string) (remoteAddr, bool) {
	at, path, ok := splitHost(text)
	user, host, named := strings.Cut(at, "@")
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if !ok || !named || path == "" || path[0] == '-' || path[0] == ':' || !userPattern().MatchString(user) || !isValidHost(host) {
		return remoteAddr{}, false
	}
	return remoteAddr{text: text, host: host, port: sshPort}, true
}

// splitHost splits at the colon before the path, which is not one inside a bracketed address.
func splitHost(text string) (at, path string, ok bool) {
	if end := strings.Index(text, "]:"); end >= 0 && strings.Contains(text[:end], "[") {
		return text[:end+1], text[end+2:], true
	}
	at, path, ok = strings.Cut(text, ":")
	return at, path, ok && !strings.Contains(at, "/")
}

func isValidHost(h string) bool {
	if hostPattern().MatchString(h) {
		return true
	}
	a, err := netip.ParseAddr(h)
	return err == nil && a.Zone() == ""
}

// isPlainText reports whether s has no spaces and nothing that a terminal or shell would
// interpret.
func isPlainText(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 1000
}

// branchName returns the branch of a workspace at a remote that it may share.
func branchName(ws retake.Workspace) string {
	var b strings.Builder
	for _, c := range strings.ToLower(ws.Name) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	name := strings.Trim(b.String(), "-")
	if name == "" {
		name = "workspace"
	}
	id := string(ws.ID)
	return "retake/" + name + "-" + id[max(0, len(id)-8):]
}
