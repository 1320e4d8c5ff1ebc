//go:build linux

package g31

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// askToLose sends requests that delete history, or end its protection, in many forms.
func (a *attacker) askToLose() string {
	ws := "/v1/workspaces/" + a.workspace
	r := []struct{ method, path, body string }{
		{http.MethodPost, ws + "/forget", `{"checkpoints":[1,2,3],"refs":["1"],"ref":"1","why":"x"}`},
		{http.MethodPost, "/v1/deletions", `{"workspace":"` + a.workspace + `","why":"x"}`},
		{http.MethodPost, ws + "/purge/plan", `{"paths":["file-0"]}`},
		{http.MethodPost, ws + "/purge", `{"digest":"x","paths":["file-0"]}`},
		{http.MethodPost, ws + "/erase", `{}`},
		{http.MethodDelete, ws, ""},
		{http.MethodDelete, ws + "?purge=true", ""},
		{http.MethodDelete, "/v1/snapshots/cp_1", ""},
		{http.MethodPost, "/v1/thin", `{}`},
		{http.MethodPost, "/v1/sweep", `{}`},
		{http.MethodPost, "/v1/rebuild", `{}`},
		{http.MethodDelete, ws + "/backup", ""},
		{http.MethodPut, ws + "/backup", `{"url":"ssh://localhost/x"}`},
		{http.MethodPost, "/daemon/stop?pid=" + fmt.Sprint(a.pid), ""},
		{http.MethodGet, "/debug/pprof/heap", ""},
	}[a.rng.IntN(15)]
	switch a.rng.IntN(4) { // the same, spelled otherwise
	case 0:
		r.path = strings.Replace(r.path, "/v1/", "/v1//", 1)
	case 1:
		r.path = strings.Replace(r.path, "/v1/", "/v1/./", 1)
	case 2:
		r.path = strings.Replace(r.path, "e", "%65", 1)
	}
	if body, status := a.request(r.method, r.path, r.body); status/100 == 2 {
		return fmt.Sprintf("%s %s: %d %.100s", r.method, r.path, status, body)
	}
	return ""
}

func (a *attacker) commandToLose() string {
	args := [][]string{
		{"forget", "1", "--yes"}, {"deinit", "--yes"}, {"deinit", "--purge", "--yes"}, {"daemon", "stop"}, {"config", "budget", "1MB"},
		{"config", "keep", "1h"}, {"backup", "off"},
	}[a.rng.IntN(7)]
	if out, err := a.retake(args...); err == nil {
		return fmt.Sprintf("retake %s: %.200s", strings.Join(args, " "), out)
	}
	return ""
}

// sendGarbage says things that are no requests, and leaves connections open for a while.
func (a *attacker) sendGarbage() string {
	text := make([]byte, a.rng.IntN(5000))
	for i := range text {
		text[i] = byte(a.rng.Uint32())
	}
	heads := []string{"", "GET / HTTP/1.1\r\nHost: x\r\n", "POST /v1/workspaces HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", "POST /v1/import HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"}
	for range 1 + a.rng.IntN(20) {
		c, err := net.DialTimeout("unix", a.socket, time.Second)
		if err != nil {
			return ""
		}
		_ = c.SetDeadline(time.Now().Add(50 * time.Millisecond))
		_, _ = c.Write(append([]byte(heads[a.rng.IntN(len(heads))]), text...))
		defer c.Close() //nolint:errcheck // garbage
	}
	return ""
}

// forge claims to be root at the socket.
func (a *attacker) forge() string {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd) //nolint:errcheck // forged
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
	if unix.Connect(fd, &unix.SockaddrUnix{Name: a.socket}) != nil {
		return ""
	}
	text := []byte("POST /v1/workspaces/" + a.workspace + "/erase HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX-Forwarded-User: root\r\n\r\n{}")
	creds := unix.UnixCredentials(&unix.Ucred{Pid: 1, Uid: 0, Gid: 0})
	if a.rng.IntN(2) == 0 {
		creds = unix.UnixCredentials(&unix.Ucred{Pid: int32(os.Getpid()), Uid: userID, Gid: userID})
	}
	if unix.Sendmsg(fd, text, creds, nil, 0) != nil {
		return ""
	}
	answer := make([]byte, 200)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5})
	if n, err := unix.Read(fd, answer); err == nil && bytes.Contains(answer[:n], []byte(" 200 ")) {
		return string(answer[:n])
	}
	return ""
}

// damageOwn destroys what is the user's own: that may work, and the history must not mind.
func (a *attacker) damageOwn() string {
	switch a.rng.IntN(6) {
	case 0:
		_ = os.RemoveAll(projDir)
	case 1:
		list, _ := filepath.Glob(homeDir + "/*")
		hidden, _ := filepath.Glob(homeDir + "/.[a-z]*")
		for _, path := range append(list, hidden...) {
			_ = os.RemoveAll(path)
		}
	case 2:
		_ = os.WriteFile(projDir+"/file-0", nil, 0o644)
	case 3:
		_ = os.RemoveAll(projDir + "/.retake")
	case 4:
		_, _ = a.retake("save", "again")
	case 5:
		_, _ = a.retake("restore", fmt.Sprint(1+a.rng.IntN(checkpoints)), "--workspace", "project", "--yes", "--accept", "changed,mass-delete,uncaptured")
	}
	return ""
}

// link leads the daemon elsewhere: what it writes through a link, or reads, is what the user may.
func (a *attacker) link() string {
	target := a.pick("/etc", guardDir, guardDir+"/closed", "/root", a.store, "/var/lib/retake")
	switch a.rng.IntN(3) {
	case 0: // the root itself
		_ = os.RemoveAll(projDir)
		_ = os.Symlink(target, projDir)
	case 1: // a directory in it
		_ = os.Symlink(target, filepath.Join(projDir, "sub"))
	case 2: // a file in it
		_ = os.Remove(projDir + "/file-0")
		_ = os.Symlink(target+"/file", projDir+"/file-0")
	}
	_, _ = a.retake("save", "linked")
	_, _ = a.retake("restore", "1", "--workspace", "project", "--yes", "--accept", "changed,mass-delete,uncaptured")
	if i, err := os.Lstat(projDir); err == nil && i.Mode()&os.ModeSymlink != 0 {
		_ = os.Remove(projDir)
		_, _ = a.retake("restore", "1", "--workspace", "project", "--yes", "--accept", "changed,mass-delete,uncaptured")
	}
	return ""
}

// writeElsewhere asks for files where the user may not write.
func (a *attacker) writeElsewhere() string {
	place := filepath.Join(a.pick("/etc", "/root", guardDir, guardDir+"/open", "/usr/local/bin", "/etc/cron.d", a.store), fmt.Sprintf("made-%d", a.rng.IntN(1000)))
	switch a.rng.IntN(3) {
	case 0:
		_, _ = a.retake("fork", "1", place)
	case 1:
		body := fmt.Sprintf(`{"ref":"1","name":"x","dir":%q,"root":%q,"path":%q}`, place, place, place)
		_, _ = a.request(http.MethodPost, "/v1/workspaces/"+a.workspace+"/forks", body)
	case 2:
		_, _ = a.retake("init", "--yes", filepath.Dir(place))
	}
	if i, err := os.Lstat(place); err == nil {
		return fmt.Sprintf("%s was made (%v)", place, i.Mode())
	}
	return ""
}

// fill uses up what the user has: processes, descriptors, watches and file sizes, for a moment.
func (a *attacker) fill() string {
	switch a.rng.IntN(3) {
	case 0:
		var made []int
		for range 200 {
			fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
			if err != nil {
				break
			}
			made = append(made, fd)
		}
		_, _ = a.retake("save", "without watches")
		for _, fd := range made {
			_ = unix.Close(fd)
		}
	case 1:
		big := filepath.Join(homeDir, "big")
		if f, err := os.Create(big); err == nil {
			_ = syscall.Fallocate(int(f.Fd()), 0, 0, 8<<30) // more than there is
			_ = f.Close()
		}
		_, _ = a.retake("save", "on a full disk")
		_ = os.Remove(big)
	case 2:
		for i := range 200 {
			_ = os.WriteFile(filepath.Join(projDir, fmt.Sprintf("many-%d", i)), []byte{byte(i)}, 0o644)
		}
		_, _ = a.retake("save", "many files")
		for i := range 200 {
			_ = os.Remove(filepath.Join(projDir, fmt.Sprintf("many-%d", i)))
		}
	}
	return ""
}
