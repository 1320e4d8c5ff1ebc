package proc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/retake-dev/retake/internal/platform/proc"
)

func init() { programs["inside"] = runMountRequest }

// mountRequest is a MountedCommand in JSON.
type mountRequest struct {
	Args, Env      []string
	Dir, Over, Cwd string
}

// mountResult is its result.
type mountResult struct {
	Exit      int
	Elsewhere bool
	Err       string
}

// runMountRequest runs one request with its own streams, and writes the result to a file.
func runMountRequest(args []string) {
	var a mountRequest
	if err := json.Unmarshal([]byte(args[0]), &a); err != nil {
		os.Exit(1)
	}
	exit, err := proc.RunMounted(context.Background(), proc.MountedCommand{
		Args: a.Args, Env: a.Env, Dir: a.Dir, MountPath: a.Over, Cwd: a.Cwd, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
	w := mountResult{Exit: exit, Elsewhere: errors.Is(err, proc.ErrNotMounted)}
	if err != nil {
		w.Err = err.Error()
	}
	_ = json.NewEncoder(os.NewFile(3, "told")).Encode(w)
}

// mountRequestCommand starts a process that makes a request as somebody.
func mountRequestCommand(t *testing.T, uid int, a mountRequest) (cmd *exec.Cmd, tell *os.File) {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	r, w := pipe(t)
	cmd = self(uid, "insider", "inside", string(b))
	cmd.ExtraFiles = []*os.File{w}
	return cmd, r
}

func (a mountRequest) run(t *testing.T, uid int, in string) (w mountResult, out, errs string) {
	t.Helper()
	cmd, r := mountRequestCommand(t, uid, a)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &o, &e
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, e.String())
	}
	if err := json.NewDecoder(r).Decode(&w); err != nil {
		t.Fatal(err)
	}
	return w, o.String(), e.String()
}

// users are those as whom we can run.
func users() map[string]int {
	if os.Getuid() == 0 {
		return map[string]int{"root": 0, "nobody": nobody}
	}
	return map[string]int{"us": os.Getuid()}
}

// makeMountDirs makes a directory and another one that it shall hide, both with a file
// that tells them apart.
func makeMountDirs(t *testing.T, uid int) (dir, over string) {
	t.Helper()
	base := t.TempDir()
	if err := os.Chmod(filepath.Dir(base), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, over = filepath.Join(base, "real"), filepath.Join(base, "shown")
	for _, d := range []string{dir, over} {
		if err := errors.Join(os.MkdirAll(filepath.Join(d, "sub"), 0o755), os.WriteFile(filepath.Join(d, "which"), []byte(filepath.Base(d)+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{d, filepath.Join(d, "sub"), filepath.Join(d, "which")} {
			if err := os.Chown(n, uid, -1); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir, over
}

const searchPath = "PATH=/usr/local/bin:/usr/bin:/bin"

func sh(script string) []string { return []string{"sh", "-c", script} }

// canMount asks another program whether this user can do it on this machine.
func canMount(t *testing.T, uid int, dir, over string) bool {
	t.Helper()
	flags := "-m"
	if uid != 0 {
		flags = "-Urm"
	}
	cmd := exec.Command("unshare", flags, "mount", "--bind", dir, over)
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("nothing here tells whether it must work")
	}
	t.Logf("unshare: %v %s", err, out)
	return err == nil
}

func TestProgramSeesItsDirectoryAtAnothersPath(t *testing.T) {
	t.Parallel()
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, over := makeMountDirs(t, uid)
			works := canMount(t, uid, dir, over)
			w, out, errs := mountRequest{
				Args: sh(`cat "$0/which"; pwd; echo new > made; cat; id -u; id -g; grep '^Cap[IPEA]' /proc/self/status; exit 3`), Env: []string{searchPath, "PWD=/wrong"},
				Dir: dir, Over: over,
			}.withArg(over).run(t, uid, "input\n")
			if w.Exit != 3 || w.Elsewhere == works || errs != "" {
				t.Fatalf("%+v %s", w, errs)
			}
			which, at := "real", over
			if !works {
				which, at = "shown", dir
			}
			if want := fmt.Sprintf("%s\n%s\ninput\n%d\n%d\n", which, at, uid, uid); !strings.HasPrefix(out, want) {
				t.Errorf("it sees\n%s\nwant\n%s", out, want)
			}
			if uid != 0 && strings.Count(out, "\t0000000000000000\n") != 4 {
				t.Errorf("it has rights:\n%s", out)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "made")); string(b) != "new\n" {
				t.Errorf("what it made is %q (%v)", b, err)
			}
			if _, err := os.Stat(filepath.Join(over, "made")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the other directory was touched: %v", err)
			}
			outside, err := os.ReadFile("/proc/self/mountinfo")
			if err != nil || strings.Contains(string(outside), over) {
				t.Errorf("the mount is seen outside (%v)", err)
			}
		})
	}
}

func (a mountRequest) withArg(arg string) mountRequest {
	a.Args = append(slices.Clone(a.Args), arg)
	return a
}

// script writes a file with these bytes into the directory.
func script(t *testing.T, dir, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

// Where it runs makes no difference to the code.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	dir, over := makeMountDirs(t, os.Getuid())
	bin := filepath.Join(dir, "sub")
	script(t, dir, "good", "#!/bin/sh\nexit $1\n", 0o755)
	script(t, dir, "plain", "text\n", 0o644)
	script(t, dir, "odd", "text\n", 0o755)
	script(t, dir, "lost", "#!/nowhere/sh\n", 0o755)
	script(t, bin, "found", "#!/bin/sh\nexit 9\n", 0o755)
	script(t, bin, "plain", "text\n", 0o644)
	for name, c := range map[string]struct {
		args []string
		cwd  string
		exit int
		says string
	}{
		"well":                 {[]string{"true"}, "", 0, ""},
		"code":                 {sh("exit 3"), "", 3, ""},
		"path":                 {[]string{"./good", "4"}, "", 4, ""},
		"path from below":      {[]string{"../good", "5"}, "sub", 5, ""},
		"searched":             {[]string{"found"}, "sub", 9, ""},
		"killed":               {sh("kill -9 $$"), "", 128 + 9, ""},
		"not found":            {[]string{"no-such-program"}, "", 127, "retake: no-such-program: not found\n"},
		"here is not searched": {[]string{"good"}, "", 127, "retake: good: not found\n"},
		"no path":              {[]string{"./gone/good"}, "", 127, "retake: ./gone/good: not found\n"},
		"below a file":         {[]string{"./plain/good"}, "", 127, "retake: ./plain/good: not found\n"},
		"not executable":       {[]string{"./plain"}, "", 126, "retake: ./plain: permission denied\n"},
		"searched in vain":     {[]string{"plain"}, "", 126, "retake: plain: permission denied\n"},
		"directory":            {[]string{"./sub"}, "", 126, "retake: ./sub: is a directory\n"},
		"no program":           {[]string{"./odd"}, "", 126, "retake: ./odd: exec format error\n"},
		"no interpreter":       {[]string{"./lost"}, "", 126, "retake: ./lost: no such file or directory\n"},
	} {
		for where, at := range map[string]string{"inside": over, "plainly": "", "at the same path": dir, "elsewhere": filepath.Join(dir, "nowhere")} {
			t.Run(name+" "+where, func(t *testing.T) {
				t.Parallel()
				var out, errs bytes.Buffer
				exit, err := proc.RunMounted(t.Context(), proc.MountedCommand{
					Args: c.args, Dir: dir, MountPath: at, Cwd: c.cwd, Env: []string{searchPath + ":" + bin}, Out: &out, Err: &errs,
				})
				if where == "elsewhere" && !errors.Is(err, proc.ErrNotMounted) || where != "elsewhere" && err != nil && !cannot(t, dir, over, err) {
					t.Errorf("error %v", err)
				}
				if exit != c.exit || errs.String() != c.says || out.Len() > 0 {
					t.Errorf("code %d, want %d; it says %q%q, want %q", exit, c.exit, out.String(), errs.String(), c.says)
				}
			})
		}
	}
}

// cannot: this machine does not let us, so elsewhere is right.
func cannot(t *testing.T, dir, over string, err error) bool {
	t.Helper()
	return errors.Is(err, proc.ErrNotMounted) && !canMount(t, os.Getuid(), dir, over)
}

func TestProgramStandsWhereItIsTold(t *testing.T) {
	t.Parallel()
	dir, over := makeMountDirs(t, os.Getuid())
	works := canMount(t, os.Getuid(), dir, over)
	for cwd, want := range map[string]string{"": "", "sub": "/sub", over + "/sub": "/sub", over: "", "sub/..": ""} {
		var out bytes.Buffer
		exit, err := proc.RunMounted(t.Context(), proc.MountedCommand{Args: []string{"env"}, Dir: dir, MountPath: over, Cwd: cwd, Env: []string{"A=1", searchPath, "A=2"}, Out: &out})
		at := over
		if !works {
			at = dir
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		slices.Sort(got)
		if exit != 0 || errors.Is(err, proc.ErrNotMounted) == works || !slices.Equal(got, []string{"A=2", searchPath, "PWD=" + at + want}) {
			t.Errorf("%q: code %d (%v), it sees %q", cwd, exit, err, got)
		}
	}
	for name, p := range map[string]proc.MountedCommand{
		"outside":          {Args: sh(""), Dir: dir, MountPath: over, Cwd: "../real"},
		"another path":     {Args: sh(""), Dir: dir, MountPath: over, Cwd: dir},
		"not there":        {Args: sh(""), Dir: dir, MountPath: over, Cwd: "gone"},
		"a file":           {Args: sh(""), Dir: dir, MountPath: over, Cwd: "which"},
		"relative":         {Args: sh(""), Dir: "real"},
		"relative over":    {Args: sh(""), Dir: dir, MountPath: "shown"},
		"no program":       {Dir: dir, MountPath: over},
		"nameless program": {Args: []string{""}, Dir: dir},
	} {
		p.Env = []string{searchPath}
		if exit, err := proc.RunMounted(t.Context(), p); err == nil || errors.Is(err, proc.ErrNotMounted) || exit != -1 {
			t.Errorf("%s: code %d (%v)", name, exit, err)
		}
	}
}

// Input that is no file is read once, wherever the program runs.
func TestInputIsNotLostElsewhere(t *testing.T) {
	t.Parallel()
	dir, over := makeMountDirs(t, os.Getuid())
	long := strings.Repeat("line\n", 100_000)
	for _, at := range []string{over, over + "/gone", ""} {
		var out bytes.Buffer
		exit, err := proc.RunMounted(t.Context(), proc.MountedCommand{Args: []string{"cat"}, Dir: dir, MountPath: at, Env: []string{searchPath}, In: strings.NewReader(long), Out: &out})
		if exit != 0 || out.String() != long || err != nil && !errors.Is(err, proc.ErrNotMounted) {
			t.Errorf("%q: code %d (%v), %d bytes of %d", at, exit, err, out.Len(), len(long))
		}
	}
	r, w := io.Pipe() // never ends
	defer w.Close()
	if exit, err := proc.RunMounted(t.Context(), proc.MountedCommand{Args: []string{"true"}, Dir: dir, Env: []string{searchPath}, In: r}); exit != 0 || err != nil {
		t.Errorf("input that nobody reads: code %d (%v)", exit, err)
	}
}
