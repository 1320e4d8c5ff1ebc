//go:build linux

package g7

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Calls that change something at a path, and those that only look. An open is of
// either kind, by its flags.
var (
	tracedCall = regexp.MustCompile(`^\d+\s+(\w+)\((.*)`)
	tracedText = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	tracedDir  = regexp.MustCompile(`(?:\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})*)>`)
	changing   = regexp.MustCompile(`^(rename|unlink|rmdir|mkdir|link|symlink|mknod|chmod|fchmod|chown|lchown|fchown|utime|futime|truncate|ftruncate|setxattr|lsetxattr|fsetxattr|removexattr|lremovexattr|fremovexattr|creat)`)
)

// trace judges the calls of a process: what it changes lies in the workspace or in our
// own directory, and what lies outside the workspace, behind links, is not even opened.
func (s *snare) trace(log string) error {
	f, err := os.Open(log)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	calls := 0
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		m := tracedCall.FindStringSubmatch(sc.Text())
		if m == nil {
			continue
		}
		calls++
		for _, p := range tracedPaths(m[1], m[2]) {
			if err := s.fair(m[1], m[2], p); err != nil {
				return err
			}
		}
	}
	if calls < 100 {
		return fmt.Errorf("only %d calls were traced", calls)
	}
	s.sum["calls traced"] += calls
	return sc.Err()
}

// ours are places that no workspace is in: what a handle is of is seen when it is opened.
var ours = []string{"/dev/null", "/proc/self/fd/", os.TempDir() + "/retake-engine-"}

func (s *snare) fair(call, args, p string) error {
	below := func(dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
	if below(s.trap.outside) {
		return fmt.Errorf("outside was reached: %s of %q", call, p)
	}
	changes := changing.MatchString(call) || strings.HasPrefix(call, "open") && (strings.Contains(args, "O_WRONLY") || strings.Contains(args, "O_RDWR") || strings.Contains(args, "O_CREAT"))
	if changes && !below(s.trap.root) && !below(s.data) && !slices.ContainsFunc(ours, func(at string) bool { return strings.HasPrefix(p, at) }) {
		return fmt.Errorf("outside was changed: %s of %q", call, p)
	}
	return nil
}

// tracedPaths are the paths that a call names: a name is below the directory before
// it, and a handle without a name is meant itself. The text of a link is none.
func tracedPaths(call, args string) []string {
	args, _, _ = strings.Cut(args, ") = ")
	var out []string
	at, named := "", false
	for args != "" {
		d, t := tracedDir.FindStringSubmatchIndex(args), tracedText.FindStringSubmatchIndex(args)
		switch {
		case d != nil && (t == nil || d[0] < t[0]):
			at = unhex(args[d[2]:d[3]])
			args = args[d[1]:]
		case t != nil:
			p := unhex(args[t[2]:t[3]])
			if !strings.HasPrefix(p, "/") {
				p = at + "/" + p
			}
			out, named = append(out, p), true
			args = args[t[1]:]
		default:
			args = ""
		}
	}
	switch {
	case !named && at != "":
		out = append(out, at)
	case named && strings.HasPrefix(call, "symlink"):
		out = out[1:]
	case named && (strings.HasPrefix(call, "readlink") || strings.Contains(call, "xattr")): // the rest is no path
		out = out[:1]
	}
	return out
}

func unhex(s string) string {
	var b strings.Builder
	for i := 0; i+4 <= len(s); i += 4 {
		n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
		if err != nil {
			return b.String()
		}
		b.WriteByte(byte(n))
	}
	return b.String()
}
