//go:build postgres && s3

package real_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake/test/page"
	"github.com/retake-dev/retake/test/parts"
	"github.com/retake-dev/retake/test/real"
)

const serverPage, apiPage = "../../docs/server/setup.md", "../../docs/API.md"

// program builds the command once, and answers its directory.
var program = sync.OnceValues(func() (string, error) {
	dir, _, err := parts.Scratch("")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir+"/", "github.com/retake-dev/retake/cmd/retake", "github.com/retake-dev/retake/cmd/retaked").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return dir, err
})

// stage is an empty directory with the program, a database and a bucket.
func stage(t *testing.T) (s page.Stage, o parts.Serving) {
	t.Helper()
	dir, remove, err := parts.Scratch("")
	must(t, err)
	t.Cleanup(func() { must(t, remove()) })
	bin, err := program()
	must(t, err)
	bucket := real.StartS3(t)
	o = parts.Serving{
		Program: filepath.Join(bin, "retake"), Dir: dir, Data: filepath.Join(dir, "data"),
		Postgres:  real.StartPostgres(t, real.Careless).Database(t),
		S3:        "http://" + bucket.Endpoint + "/" + bucket.Name + "?region=" + bucket.Region,
		AccessKey: bucket.AccessKey, SecretKey: bucket.SecretKey,
	}
	s = page.Stage{Dir: filepath.Join(dir, "page"), Env: []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8",
		"RETAKE_POSTGRES=" + o.Postgres, "RETAKE_S3=" + o.S3, "RETAKE_S3_ACCESS_KEY=" + o.AccessKey, "RETAKE_S3_SECRET_KEY=" + o.SecretKey,
	}}
	must(t, os.Mkdir(s.Dir, 0o700))
	return s, o
}

// ports answers numbers that nobody listened to a moment ago, and neither to the one that
// is ten higher.
func ports(t *testing.T, n int) []string {
	t.Helper()
	var out []string
	for len(out) < n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer l.Close() // held until all are chosen
		port := l.Addr().(*net.TCPAddr).Port
		m, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+10))
		if err != nil {
			continue
		}
		defer m.Close() // held until all are chosen
		out = append(out, strconv.Itoa(port))
	}
	return out
}

// The page about the server is true from its first command to its last: first one process,
// then PostgreSQL and S3, with one of three servers killed.
func TestServerPage(t *testing.T) {
	s, _ := stage(t)
	free := ports(t, 6)
	proxy, err := parts.StartProxy("127.0.0.1:"+free[0], "127.0.0.1:"+free[1], "127.0.0.1:"+free[2])
	must(t, err)
	t.Cleanup(func() { must(t, proxy.Close()) })
	_, balancer, err := net.SplitHostPort(proxy.Address())
	must(t, err)
	alone := s
	alone.Env, alone.Swap = s.Env[:3], map[string]string{"7350": free[3], "9100": free[4]}
	s.Swap = map[string]string{"7350": balancer, "7351": free[0], "7352": free[1], "7353": free[2], "9101": free[5]}
	played := play(t, "## The first message", alone) + play(t, "## The first ten minutes", s) + play(t, "## The key-encryption key", alone)
	all, err := page.Read(serverPage, "")
	must(t, err)
	if len(all) != played {
		t.Errorf("%d of %d blocks were played", played, len(all))
	}
}

// play plays a part of the page and answers how many blocks it has.
func play(t *testing.T, heading string, s page.Stage) int {
	t.Helper()
	blocks, err := page.Read(serverPage, heading)
	must(t, err)
	for i := range blocks { // the page lets one server answer where it does by itself, which others may
		blocks[i].Script = strings.ReplaceAll(blocks[i].Script, "serve --data first ", "serve --data first --listen 127.0.0.1:7350 ")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := page.Play(ctx, blocks, s)
	t.Log(out)
	must(t, err)
	return len(blocks)
}

// The page about the interface is true on PostgreSQL and S3 too.
func TestAPIPageOnPostgresAndS3(t *testing.T) {
	blocks, err := page.Read(apiPage, "")
	must(t, err)
	s, o := stage(t)
	srv, err := parts.StartServer(o, "server")
	must(t, err)
	t.Cleanup(srv.Kill)
	s.Env = append(s.Env, "SERVER=http://"+srv.Address)
	for kind, name := range map[string]string{"agent": "KEY", "operator": "OPERATOR_KEY", "admin": "ADMIN_KEY", "maintainer": "MAINTAINER_KEY"} {
		s.Env = append(s.Env, name+"="+regexp.MustCompile(`rtk_`+kind+`_[0-9A-Za-z]+`).FindString(srv.Tail(1<<20)))
	}
	out, err := page.Play(t.Context(), blocks, s)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
