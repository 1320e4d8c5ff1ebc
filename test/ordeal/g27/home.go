//go:build linux

package g27

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/marker"
)

// Where everything is. The directories are file systems of their own in the mount namespace of a
// child, so the names are as plain as those of a user, and nothing of the machine is below them.
const (
	mountDir = "/srv"
	homeDir  = "/srv/home" // $HOME of the agent
	projDir  = "/srv/home/proj"
	otherDir = "/srv/home/other"
	tmpDir   = "/tmp"
	ownDir   = "/srv/retake" // the programs and the history; commands cannot write there
)

// plainFiles are the files of the home directory, below it, beside those with odd names.
var plainFiles = []string{
	".profile", ".config/app/settings.json", ".config/app/keys/main.key", ".cache/app/blob", "todo.txt", "bin/keep.txt",
	"Documents/report.txt", "Documents/notes.md", "Documents/plan.txt", "Documents/tax/2024.txt", "Documents/tax/2025.txt",
	"Documents/tax/.hidden", "Documents/tax/old/2019.txt", "Documents/my files/one two.txt", "Documents/my files/three.txt",
	"Documents/photos/a.jpg", "Documents/photos/b.jpg", "Documents/photos/c d.jpg", "Documents/sub/deep/er/x.txt",
	"data/values.csv", "data/old.csv", "data/raw/1.dat", "data/raw/2.dat", "data/raw/more/3.dat", "data/cache/c1", "data/cache/c2",
	"proj/README.md", "proj/src/app.py", "proj/src/util.py", "proj/src/lib/deep.txt", "proj/docs/a.md", "proj/docs/b c.md",
	"other/edit.txt", "other/two.txt", "other/lib/one.txt", "other/lib/two.txt", "other/lib/.hidden", "repo/main.go", "repo/pkg/pkg.go",
}

// laterFiles are written after the commits: they are not committed, or ignored.
var laterFiles = []string{
	"proj/notes.txt", "proj/build/out.o", "proj/build/x/y.bin", "proj/debug.log", "proj/sub/s1.txt", "proj/sub/s2.txt",
	"other/draft.txt", "repo/work.txt", "repo/build/r.o", "wt/dirty.txt",
}

var tmpFiles = []string{"stuff/a.txt", "stuff/b.txt", "stuff/dir/c.txt", "stuff/dir/d e.txt"}

// editedFiles are written before each command, so that its checkpoint is the only one that has their
// bytes: the edits of this turn, and of the user elsewhere.
var editedFiles = []string{
	"/srv/home/proj/src/app.py", "/srv/home/proj/src/turn.txt", "/srv/home/proj/notes.txt", "/srv/home/proj/build/out.o",
	"/srv/home/other/edit.txt", "/srv/home/Documents/report.txt", "/srv/home/data/values.csv", "/srv/home/repo/work.txt", "/tmp/stuff/a.txt",
}

// links are symbolic links, by their text.
var links = map[string]string{
	"Documents/to-file": "plan.txt", "Documents/to-dir": "tax", "Documents/dangling": "nowhere", "Documents/tax/latest": "2025.txt",
	"links/docs": "/srv/home/Documents", "links/data": "../data", "links/ws": "/srv/home/proj", "links/other": "../other", "links/tmp": "/tmp/stuff",
	"links/home": "/srv/home", "links/sub": "../proj/sub", "proj/out": "../Documents", "proj/readme-link": "README.md",
}

// oddNames are names that have to be quoted.
var oddNames = []string{
	"a file.txt", "quo'te.txt", `dou"ble.txt`, "new\nline.txt", "ünï.txt", "-dash.txt", "star*.txt", "dol$HOME.txt", `back\slash.txt`, "semi;colon.txt",
	"#hash.txt", "tab\there.txt", " lead.txt", "trail ", "emoji🙂.txt", "per%cent.txt", "bra[ck]et.txt", "cur{l,y}.txt", "amp&.txt", "~tilde.txt",
	"back`tick.txt", "excl!.txt", "pipe|.txt", "par(en).txt", "gt>.txt", "=equal.txt", "--force", "que?.txt", "comma,.txt", "@at:colon.txt",
}

// noText is a name that is no text, which no payload of a hook can have as it is.
const noText = "bad\xff.txt"

var oddDirs = []string{"Documents/odd", "proj/odd", "other/odd"}

func bytesOf(path string) []byte {
	return fmt.Appendf(nil, "first line of %s\nalpha beta gamma\nlast line of %s\n", path, path)
}

// buildHome makes all files but what git and sqlite make.
func buildHome(names []string) error {
	var errs []error
	write := func(path string) {
		errs = append(errs, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, bytesOf(path), 0o644))
	}
	for _, name := range names {
		write(filepath.Join(homeDir, name))
	}
	return errors.Join(errs...)
}

// buildRest makes links, temporary files and files with odd names.
func buildRest() error {
	var errs []error
	for _, name := range tmpFiles {
		path := filepath.Join(tmpDir, name)
		errs = append(errs, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, bytesOf(path), 0o644))
	}
	for _, dir := range oddDirs {
		errs = append(errs, os.MkdirAll(filepath.Join(homeDir, dir), 0o755))
		for _, name := range append([]string{noText}, oddNames...) {
			path := filepath.Join(homeDir, dir, name)
			errs = append(errs, os.WriteFile(path, bytesOf(path), 0o644))
		}
	}
	for name, text := range links {
		path := filepath.Join(homeDir, name)
		errs = append(errs, os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(text, path))
	}
	for name, text := range scripts {
		path := filepath.Join(homeDir, name)
		errs = append(errs, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755))
	}
	return errors.Join(errs...)
}

// scripts are programs that commands of the corpus run, and settings that make git quiet.
var scripts = map[string]string{
	".gitconfig":         "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[safe]\n\tdirectory = *\n[advice]\n\tdetachedHead = false\n",
	"proj/.gitignore":    "build/\n*.log\n",
	"proj/clean.sh":      "#!/bin/sh\nrm -rf build\nrm -rf \"$HOME/data/cache\"\n",
	"proj/tidy.sh":       "#!/bin/sh\nrm -f src/util.py\nrm -rf ../Documents/tax\n",
	"proj/tidy-here.sh":  "#!/bin/sh\nrm -rf docs\n",
	"proj/tidy.py":       "import os, shutil\nos.remove('docs/a.md')\nshutil.rmtree(os.path.expanduser('~/data/raw'))\n",
	"proj/tidy.js":       "const fs = require('fs'), os = require('os');\nfs.rmSync(os.homedir() + '/Documents/photos', {recursive: true});\n",
	"proj/drop.sql":      "drop table users;\n",
	"proj/names.txt":     "/srv/home/Documents/plan.txt\n/srv/home/data/old.csv\n",
	"proj/Makefile":      "all:\n\t@echo built\nclean:\n\trm -rf build\n\trm -rf $(HOME)/data/cache\nclean-here:\n\trm -rf build debug.log\nsite:\n\trm -rf ../Documents/photos\n\tmkdir -p build/site\n",
	"other/Makefile":     "clean:\n\trm -rf lib\n",
	"bin/sweep":          "#!/bin/sh\nrm -f \"$HOME/todo.txt\"\n",
	"Documents/clean.sh": "#!/bin/sh\nrm -rf \"$(dirname \"$0\")/tax\"\n",
}

// madeByPrograms makes the repositories, the databases and the archives.
const madeByPrograms = `set -e
cd ~/proj && git init -q --template= && git add . && git commit -qm one
echo two >>README.md && git commit -qam two && git branch topic && git tag v1
echo stashed >>README.md && git stash -q
cd ~/repo && git init -q --template= && git add . && git commit -qm one
cd ~/other && git init -q --template= && git add . && git commit -qm one
cd ~/proj && git branch side && git worktree add -q ~/wt side
if command -v sqlite3 >/dev/null; then
	for db in ~/proj/data.db ~/Documents/app.db ~/other/o.db; do
		sqlite3 "$db" "create table users(id integer primary key, name text); insert into users(name) values ('ada'), ('bob');"
	done
fi
mkdir -p ~/kit/docs/tax ~/kit/ws/docs ~/kit/empty
echo new >~/kit/docs/plan.txt; echo new >~/kit/docs/tax/2025.txt; echo new >~/kit/ws/docs/a.md
cd ~/kit/docs && tar -cf ../docs.tar .
cd ~/kit/ws && tar -cf ../ws.tar .
if command -v zip >/dev/null; then cd ~/kit/docs && zip -qr ../docs.zip .; fi
`

// marks are the workspace IDs of protected directories, which have to be set again when a command
// deleted the directory. Where attributes do not exist they are files, and come back with the others.
func readMarks() map[string][]byte {
	out := map[string][]byte{}
	for _, dir := range []string{projDir, otherDir} {
		b := make([]byte, 256)
		if n, err := unix.Lgetxattr(dir, marker.Xattr, b); err == nil {
			out[dir] = b[:n]
		}
	}
	return out
}

func setMarks(marks map[string][]byte) error {
	for dir, mark := range marks {
		b := make([]byte, 256)
		if n, err := unix.Lgetxattr(dir, marker.Xattr, b); err == nil && string(b[:n]) == string(mark) {
			continue
		}
		if err := unix.Lsetxattr(dir, marker.Xattr, mark, 0); err != nil {
			return fmt.Errorf("mark %s: %w", dir, err)
		}
	}
	return nil
}

// editFiles plays the edits before the nth command.
func editFiles(n int) error {
	for _, path := range editedFiles {
		text := fmt.Sprintf("edit %06d of %s\nalpha beta gamma\n", n, path)
		if strings.HasSuffix(path, ".csv") {
			text += strings.Repeat("1,2,3\n", 40)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
