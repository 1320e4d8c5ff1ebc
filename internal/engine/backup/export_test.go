package backup

import (
	"context"

	"github.com/retake-dev/retake"
)

// What tests look at.
var (
	IsGitName       = isGitName
	IsModulesName   = isModulesName
	IsBadName       = isBadName
	IsSecretFile    = isSecretFile
	TextHasSecret   = textHasSecret
	NewKeyPair      = newKeyPair
	ParseHostKey    = parseHostKey
	QuotePath       = quotePath
	SummarizeErrors = summarizeErrors
	BranchName      = branchName
)

// ParseRemote returns the host of an address.
func ParseRemote(text string, paths bool) (host string, port int, err error) {
	r, err := parseRemote(text, paths)
	return r.host, r.port, err
}

// Compare tells put and drop what differs between two trees as they are sent, and returns what
// is left out of the second when left is of the first.
func Compare(ctx context.Context, src Source, from, to retake.ObjectID, left []retake.LeftOut, put func(path, mode string, b []byte), drop func(path string)) ([]retake.LeftOut, error) {
	l := newExclusionLog(left)
	s := treeSender{src: src, contents: newContentCache(), out: calls{put, drop}, excluded: l}
	var old *retake.Entry
	if from != "" {
		old = rootEntry(from)
	}
	err := s.sendTrees(ctx, old, rootEntry(to))
	return l.list(), err
}

type calls struct {
	p func(path, mode string, b []byte)
	d func(path string)
}

func (c calls) putFile(path string, e *retake.Entry, b []byte) error {
	c.p(path, gitMode(e), b)
	return nil
}

func (c calls) dropPath(path string) error {
	c.d(path)
	return nil
}
