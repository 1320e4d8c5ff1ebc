//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// slot is a place for one slow connection at a time.
type slot struct {
	kind  *kind
	keyed bool
	from  net.IP

	mu    sync.Mutex
	at    netip.AddrPort // guarded by mu; our end of the connection; invalid: there is none yet
	since time.Time      // guarded by mu
	tries int            // guarded by mu; connections so far
	last  error          // guarded by mu; why the last one could not be made
}

// siege holds many slow connections to one target.
type siege struct {
	target *target
	slots  []*slot
	again  bool // who is thrown out comes back
	stop   context.CancelFunc
	all    sync.WaitGroup
}

const fewSlots = 8

// slotsFor spreads connections evenly over the kinds that a target has, half of them with a key
// where that makes a difference.
func slotsFor(secure bool, n int, chosen func(*kind) bool) []*slot {
	var ways []slot
	for i := range kinds {
		k := &kinds[i]
		if !secure && (k.over == http1 || k.over == http2) || !chosen(k) {
			continue
		}
		for _, keyed := range k.keys {
			ways = append(ways, slot{kind: k, keyed: keyed})
		}
	}
	var out []*slot
	count := map[slotName]int{}
	for i := 0; len(out) < n && len(ways) > 0; i++ {
		w := &ways[i%len(ways)]
		name := slotName{w.kind.name, w.keyed}
		if count[name]++; w.kind.few && count[name] > fewSlots {
			continue
		}
		out = append(out, &slot{kind: w.kind, keyed: w.keyed, from: net.IPv4(127, 0, byte(1+len(out)/250), byte(1+len(out)%250))})
	}
	return out
}

type slotName struct {
	kind  string
	keyed bool
}

// besiege opens all connections and returns when each has been made once.
func besiege(ctx context.Context, t *target, slots []*slot, again bool) (*siege, error) {
	ctx, stop := context.WithCancel(ctx)
	s := &siege{target: t, slots: slots, again: again, stop: stop}
	for i, one := range slots {
		s.all.Go(func() { s.hold(ctx, one) })
		if i%20 == 19 {
			<-time.After(20 * time.Millisecond) // a listener has a queue
		}
	}
	for end := time.Now().Add(2 * time.Minute); ; <-time.After(50 * time.Millisecond) {
		missing, why := s.missing()
		if missing == 0 {
			return s, nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			s.lift()
			return nil, fmt.Errorf("besiege: %d connections of %d cannot be made: %w", missing, len(slots), errors.Join(why, ctx.Err()))
		}
	}
}

// missing counts the slots that never had a connection.
func (s *siege) missing() (n int, why error) {
	for _, one := range s.slots {
		one.mu.Lock()
		if one.tries == 0 {
			n, why = n+1, one.last
		}
		one.mu.Unlock()
	}
	return n, why
}

// lift closes all connections and waits.
func (s *siege) lift() {
	s.stop()
	s.all.Wait()
}

// hold keeps one slot busy.
func (s *siege) hold(ctx context.Context, one *slot) {
	for ctx.Err() == nil {
		made := s.once(ctx, one)
		if made && !s.again {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// once plays one connection, and reports whether it could be made.
func (s *siege) once(ctx context.Context, one *slot) bool {
	c, err := s.target.dial(ctx, one.kind, one.from)
	one.mu.Lock()
	if one.last = err; err == nil {
		one.at, one.since = netip.MustParseAddrPort(c.LocalAddr().String()), time.Now()
		one.tries++
	}
	one.mu.Unlock()
	if err != nil {
		return false
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })() // a write that blocks ends, too
	_ = one.kind.play(ctx, &line{Conn: c, target: s.target, keyed: one.keyed})
	_ = c.Close() // it is over, whoever ended it
	return true
}

// outcome is what became of the connections of one kind.
type outcome struct {
	Kind    string  `json:"kind"`
	Keyed   bool    `json:"with_key"`
	Opened  int     `json:"opened"`
	Ended   int     `json:"ended"`
	Held    int     `json:"held"` // longer than allowed
	Limit   float64 `json:"limit_seconds"`
	Longest float64 `json:"longest_seconds"` // of those that ended
}

// watch looks at the server's sockets until it has ended all connections or had the time that
// it promises and slack. What a client sees says little: who does not read does not see the end.
func (s *siege) watch(ctx context.Context, slack time.Duration, only func(*kind) bool) ([]*outcome, error) {
	ended := map[*slot]time.Duration{}
	for {
		open, err := heldBy(s.target.address)
		if err != nil {
			return nil, err
		}
		waiting := 0
		for _, one := range s.slots {
			_, done := ended[one]
			if done || !only(one.kind) {
				continue
			}
			one.mu.Lock()
			at, age := one.at, time.Since(one.since)
			one.mu.Unlock()
			if !open[at] {
				ended[one] = age
			} else if age < one.kind.ends+slack {
				waiting++
			}
		}
		if waiting == 0 {
			return s.sumUp(ended, slack, only), nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (s *siege) sumUp(ended map[*slot]time.Duration, slack time.Duration, only func(*kind) bool) []*outcome {
	var out []*outcome
	by := map[slotName]*outcome{}
	for _, one := range s.slots {
		if !only(one.kind) {
			continue
		}
		name := slotName{one.kind.name, one.keyed}
		o := by[name]
		if o == nil {
			o = &outcome{Kind: name.kind, Keyed: name.keyed, Limit: one.kind.ends.Seconds()}
			by[name] = o
			out = append(out, o)
		}
		o.Opened++
		age, done := ended[one]
		if done {
			o.Ended++
			o.Longest = max(o.Longest, age.Seconds())
		}
		if !done || age > one.kind.ends+slack {
			o.Held++
		}
	}
	return out
}

// Socket states in /proc/net/tcp in which a process still has the socket.
const (
	stateEstablished = "01"
	stateCloseWait   = "08"
)

// heldBy returns the far ends of the connections that whoever listens at an address holds.
func heldBy(address string) (map[netip.AddrPort]bool, error) {
	server, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	out := map[netip.AddrPort]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		part := strings.Fields(lines.Text())
		if len(part) < 4 || part[3] != stateEstablished && part[3] != stateCloseWait {
			continue
		}
		if local, err := parseKernelAddress(part[1]); err != nil || local != server {
			continue
		}
		if remote, err := parseKernelAddress(part[2]); err == nil {
			out[remote] = true
		}
	}
	return out, lines.Err()
}

// parseKernelAddress reads an address as the kernel of a little-endian machine writes it.
func parseKernelAddress(text string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	if err != nil || len(b) != 4 {
		return netip.AddrPort{}, errors.New("parse an address: " + text)
	}
	n, err := strconv.ParseUint(port, 16, 16)
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{b[3], b[2], b[1], b[0]}), uint16(n)), err
}
