//go:build unix

package script_test

import (
	"context"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake/test/page"
	"github.com/retake-dev/retake/test/parts"
)

const serverPage, apiPage = "../../docs/server/setup.md", "../../docs/API.md"

// needs skips a test on machines that lack what a page is played with.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("find %s: %v", name, err)
		}
	}
}

// stage is an empty directory with the program on its path. Its name is short: the path of
// a socket has room for a hundred bytes.
func stage(t *testing.T) page.Stage {
	t.Helper()
	dir, err := os.MkdirTemp("", "page")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return page.Stage{Dir: dir, Env: []string{"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "PYTHONIOENCODING=utf-8"}}
}

// freePort answers one that nobody listened to a moment ago, below those that the system
// gives to whoever asks for any.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(12_000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// The way from nothing to a first message is as its page says, and so is the way to a new
// key.
func TestServerPageOneProcess(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "curl", "python3", "openssl")
	s := stage(t)
	s.Swap = map[string]string{"7350": freePort(t), "9100": freePort(t)}
	for _, heading := range []string{"## The first message", "## The key-encryption key"} {
		blocks, err := page.Read(serverPage, heading)
		if err != nil {
			t.Fatal(err)
		}
		for i := range blocks { // the page lets the server answer where it does by itself, which others may
			blocks[i].Script = strings.ReplaceAll(blocks[i].Script, "serve --data first ", "serve --data first --listen 127.0.0.1:7350 ")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // a server that does not begin is waited for
		out, err := page.Play(ctx, blocks, s)
		cancel()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// Every command of the page about the interface works, one after the other.
func TestAPIPage(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "curl", "tar")
	blocks, err := page.Read(apiPage, "")
	if err != nil {
		t.Fatal(err)
	}
	s := stage(t)
	srv, err := parts.StartServer(parts.Serving{Program: program, Dir: s.Dir, Data: filepath.Join(s.Dir, "data")}, "server")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Kill)
	s.Env = append(s.Env, "SERVER=http://"+srv.Address)
	s.Env = append(s.Env, keysOf(t, srv.Tail(1<<20))...)
	if out, err := page.Play(t.Context(), blocks, s); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// keysOf finds the keys that a new server has told, under the names that pages give them.
func keysOf(t *testing.T, told string) []string {
	t.Helper()
	var out []string
	for kind, name := range map[string]string{"agent": "KEY", "operator": "OPERATOR_KEY", "admin": "ADMIN_KEY", "maintainer": "MAINTAINER_KEY"} {
		secret := regexp.MustCompile(`rtk_` + kind + `_[0-9A-Za-z]+`).FindString(told)
		if secret == "" {
			t.Fatalf("the server told no key of kind %s:\n%s", kind, told)
		}
		out = append(out, name+"="+secret)
	}
	return out
}
