//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake/test/parts"
)

// maxPerAddress is how many connections one address may have, see docs/server/setup.md.
const maxPerAddress = 2048

// crowdResult is what became of more connections from one address than it may have.
type crowdResult struct {
	Address string `json:"address"`
	Opened  int    `json:"opened"`
	Kept    int    `json:"kept"`
	Answers bool   `json:"answers_this_machine"` // while the address has all it may have
}

// playCrowd opens too many connections from one address that is not loopback, which has no limit.
func (o *options) playCrowd(ctx context.Context, dir string, res *result) ([]string, error) {
	host := outsideAddress()
	if host == "" {
		note("this machine has no address but loopback: no crowd")
		return nil, nil
	}
	s, err := newServer(parts.Serving{Program: o.program, Dir: dir, Data: filepath.Join(dir, "data")}, "server", nil)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return nil, err
	}
	s.Flags = []string{"--listen", ":" + port} // the last one counts
	if err := s.start(o.program); err != nil {
		return nil, err
	}
	defer s.kill()
	crowd, err := gather(ctx, net.JoinHostPort(host, port), maxPerAddress+100)
	defer func() {
		for _, c := range crowd {
			_ = c.Close() // nothing was said
		}
	}()
	if err != nil {
		return nil, err
	}
	r := &crowdResult{Address: "one that is not loopback", Opened: len(crowd), Kept: countOpen(crowd)}
	status, _, err := newCaller(s, 10*time.Second).ask(ctx, http.MethodGet, "/livez", "", nil)
	r.Answers = err == nil && status == http.StatusOK
	res.Crowd = r
	var failures []string
	if r.Kept != maxPerAddress {
		failures = append(failures, fmt.Sprintf("one address has %d connections, and may have exactly %d", r.Kept, maxPerAddress))
	}
	if !r.Answers {
		failures = append(failures, fmt.Sprintf("this machine is not answered: %d %v", status, err))
	}
	return failures, nil
}

func gather(ctx context.Context, address string, n int) (out []net.Conn, err error) {
	var d net.Dialer
	for len(out) < n {
		c, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return out, fmt.Errorf("open connection %d: %w", len(out), err)
		}
		out = append(out, c)
	}
	return out, nil
}

// countOpen counts the connections that the server has not closed soon after they were made, and
// before it closes those that say nothing.
func countOpen(all []net.Conn) int {
	<-time.After(2 * time.Second)
	n := 0
	for _, c := range all {
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond)) // an open connection has a deadline
		_, err := c.Read(make([]byte, 1))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			n++
		}
	}
	return n
}

// outsideAddress returns an address of this machine that is not loopback, or "".
func outsideAddress() string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return ""
}
