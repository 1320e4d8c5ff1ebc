package assemble_test

import (
	"bufio"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// nobody is a user without rights.
const nobody = 65534

// asNobody is the area of a test that was started again by a user without rights.
var asNobody = flag.String("as-nobody", "", "the directory in which a test goes on as a user without rights")

// Harm: one directory that cannot be read stops every restore, or is emptied by it.
func TestUnreadableDirectoryStopsARestore(t *testing.T) {
	t.Parallel()
	switch {
	case *asNobody != "":
		besideUnreadable(t, *asNobody)
		return
	case os.Getuid() != 0:
		t.Skip("only root can make a directory that others cannot read")
	}
	area, err := os.MkdirTemp("", "pains") // the directories of a test are closed to others
	must(t, err)
	defer os.RemoveAll(area)
	must(t, os.MkdirAll(filepath.Join(area, "shop/secret"), 0o700))
	must(t, os.WriteFile(filepath.Join(area, "shop/secret/key"), []byte("of root"), 0o600))
	for _, dir := range []string{"", "shop"} {
		must(t, os.Chown(filepath.Join(area, dir), nobody, nobody))
		must(t, os.Chmod(filepath.Join(area, dir), 0o755))
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-as-nobody="+area)
	cmd.Dir, cmd.Env = area, []string{"TMPDIR=" + area}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as a user without rights: %v\n%s", err, out)
	}
	if b, err := os.ReadFile(filepath.Join(area, "shop/secret/key")); err != nil || string(b) != "of root" {
		t.Errorf("the directory that cannot be read: %q %v", b, err)
	}
}

func besideUnreadable(t *testing.T, area string) {
	d := &desk{T: t, area: area}
	d.reopen(t.TempDir(), fsx.OS(), nil)
	d.write("shop/src/a", "1")
	d.write("shop/b", "1")
	d.init()
	d.write("shop/src/a", "2")
	d.write("shop/b", "2")
	d.write("shop/new", "2")
	res := d.save(retake.SaveRequest{})
	if res.Checkpoint.Coverage.Count()[retake.ReasonUnreadable] != 1 {
		t.Errorf("the gap is not told: %+v", res.Checkpoint.Coverage)
	}
	read := func(name string) string {
		b, err := os.ReadFile(d.at("shop/" + name))
		if err != nil {
			return ""
		}
		return string(b)
	}
	d.goBack(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1", Paths: []string{"src"}})
	if read("src/a") != "1" || read("b") != "2" {
		t.Errorf("a restore of src: %q %q", read("src/a"), read("b"))
	}
	d.restore("2")
	d.restore("1")
	if read("src/a") != "1" || read("b") != "1" || read("new") != "" {
		t.Errorf("a restore of all: %q %q %q", read("src/a"), read("b"), read("new"))
	}
	d.undo()
	if read("src/a") != "2" || read("new") != "2" {
		t.Errorf("an undo: %q %q", read("src/a"), read("new"))
	}
}

// Harm: a process that works in the root stands in a deleted directory after a restore.
func TestRestoreDeletesTheGroundUnderAProcess(t *testing.T) {
	t.Parallel()
	d, _ := newStall(t, fsx.OS(), nil)
	d.write("shop/src/a", "before")
	d.init()
	d.write("shop/src/a", "after")
	d.write("shop/new", "after")
	d.save(retake.SaveRequest{})
	for _, dir := range []string{"shop", "shop/src"} {
		cmd := exec.Command("sh", "-c", `echo ready; read go; cat "$0"; echo; echo made > made-here; ls made-here; pwd -P`, map[string]string{"shop": "src/a", "shop/src": "a"}[dir])
		cmd.Dir = d.at(dir)
		in, err := cmd.StdinPipe()
		must(t, err)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		said := bufio.NewReader(out)
		_, err = said.ReadString('\n')
		must(t, err)
		d.restore("1")
		_, err = io.WriteString(in, "go\n")
		must(t, err)
		text, err := io.ReadAll(said)
		must(t, err)
		must(t, cmd.Wait())
		if want := "before\nmade-here\n" + d.at(dir) + "\n"; string(text) != want {
			t.Errorf("in %s it says %q, want %q", dir, text, want)
		}
		if _, err := os.Stat(d.at(dir + "/made-here")); err != nil {
			t.Error(err)
		}
		d.restore("2")
	}
}
