//go:build linux

package net

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// counters are what a network of its own has sent since it was made.
type counters struct {
	Out      uint64 `json:"out"`      // packets on the way out
	Loopback uint64 `json:"loopback"` // packets to itself
	IP       uint64 `json:"ip"`       // requests of any program, sent or not
	Opens    uint64 `json:"opens"`    // connections that were begun
}

func sentSoFar() (c counters, err error) {
	dev, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		return c, err
	}
	if c.Out, err = transmitted(string(dev), outside); err != nil {
		return c, err
	}
	if c.Loopback, err = transmitted(string(dev), "lo"); err != nil {
		return c, err
	}
	snmp, err := os.ReadFile("/proc/self/net/snmp")
	if err != nil {
		return c, err
	}
	if c.IP, err = counter(string(snmp), "Ip:", "OutRequests"); err != nil {
		return c, err
	}
	c.Opens, err = counter(string(snmp), "Tcp:", "ActiveOpens")
	return c, err
}

// transmitted is the tenth number of an interface.
func transmitted(dev, name string) (uint64, error) {
	for line := range strings.Lines(dev) {
		who, rest, ok := strings.Cut(line, ":")
		if f := strings.Fields(rest); ok && strings.TrimSpace(who) == name && len(f) > 9 {
			return strconv.ParseUint(f[9], 10, 64)
		}
	}
	return 0, fmt.Errorf("count packets: there is no interface %s", name)
}

// counter finds a value under its name: names and values are lines of their own.
func counter(table, prefix, name string) (uint64, error) {
	var names []string
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] != prefix:
		case names == nil:
			names = f
		default:
			for i, n := range names {
				if n == name && i < len(f) {
					return strconv.ParseUint(f[i], 10, 64)
				}
			}
		}
	}
	return 0, fmt.Errorf("count packets: there is no %s %s", prefix, name)
}

// inetSockets lists what is open in this network, but for unix sockets.
func inetSockets() []string {
	var out []string
	for _, kind := range []string{"tcp", "tcp6", "udp", "udp6", "udplite", "udplite6", "raw", "raw6", "icmp", "icmp6", "packet"} {
		b, err := os.ReadFile(filepath.Join("/proc/self/net", kind))
		if err != nil {
			continue // this kernel has none
		}
		for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
			if f := strings.Fields(line); i > 0 && len(f) > 3 {
				out = append(out, fmt.Sprintf("%s %s to %s", kind, f[1], f[2]))
			}
		}
	}
	return out
}
