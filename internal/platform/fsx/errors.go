package fsx

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// opError records the operation and the name it was applied to. Its chain holds both the kind
// that callers branch on and the cause. A handle does not know its path, so the text has no
// path.
type opError struct {
	op   string
	name string
	kind error
	err  error
}

func (e *opError) Error() string {
	var b strings.Builder
	b.WriteString(e.op)
	if e.name != "" {
		b.WriteByte(' ')
		b.WriteString(strconv.Quote(e.name))
	}
	if e.kind != nil && !errors.Is(e.err, e.kind) {
		b.WriteString(": ")
		b.WriteString(e.kind.Error())
	}
	if e.err != nil {
		b.WriteString(": ")
		b.WriteString(e.err.Error())
	}
	return b.String()
}

func (e *opError) Unwrap() []error {
	chain := make([]error, 0, 2)
	if e.kind != nil {
		chain = append(chain, e.kind)
	}
	if e.err != nil {
		chain = append(chain, e.err)
	}
	return chain
}

// WrapError adds the operation, the name and the kind to err. It returns nil if err is nil.
func WrapError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &opError{op: op, name: name, kind: errorKind(err), err: err}
}

// wrapErrorAs is WrapError with a given kind.
func wrapErrorAs(op, name string, kind, err error) error {
	return &opError{op: op, name: name, kind: kind, err: err}
}

// CheckXattrName returns ErrBadName unless name is an attribute that belongs to the file: user.*,
// its access control lists and its capabilities. Others are never touched.
func CheckXattrName(name string) error {
	switch {
	case name == ACLXattr, name == DefaultACLXattr, name == CapabilityXattr:
		return nil
	case len(name) <= len(userXattrPrefix) || !strings.HasPrefix(name, userXattrPrefix) || strings.IndexByte(name, 0) >= 0:
		return ErrBadName
	}
	return nil
}

const userXattrPrefix = "user."

var errClosed = fs.ErrClosed
