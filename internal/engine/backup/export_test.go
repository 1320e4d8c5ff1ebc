package backup

import (
	"context"

	"github.com/retake-dev/retake"
)

// What tests look at.
var (
	GitName     = gitName
	ModuleName  = moduleName
	BadName     = badName
	SecretFile  = secretFile
	HoldsSecret = holdsSecret
	NewKey      = newKey
	HostKey     = hostKey
	Quote       = quote
	Words       = words
	Branch      = branch
)

// ParseRemote answers the host of an address.
func ParseRemote(text string, paths bool) (host string, port int, err error) {
	r, err := parse(text, paths)
	return r.host, r.port, err
}

// Compare tells put and drop what differs between two trees as they are sent, and answers
// what is left out of the second when left is of the first.
func Compare(ctx context.Context, src Source, from, to retake.ObjectID, left []retake.LeftOut, put func(path, mode string, b []byte), drop func(path string)) ([]retake.LeftOut, error) {
	l := newLedger(left)
	s := sending{src: src, traits: newTraits(), to: calls{put, drop}, left: l}
	var old *retake.Entry
	if from != "" {
		old = rootOf(from)
	}
	err := s.trees(ctx, old, rootOf(to))
	return l.told(), err
}

type calls struct {
	p func(path, mode string, b []byte)
	d func(path string)
}

func (c calls) put(path string, e *retake.Entry, b []byte) error {
	c.p(path, modeOf(e), b)
	return nil
}

func (c calls) drop(path string) error {
	c.d(path)
	return nil
}
