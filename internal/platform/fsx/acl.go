package fsx

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"strings"
)

// Attributes of Linux that decide who may use a file and what it may do.
const (
	ACLXattr        = "system.posix_acl_access"
	DefaultACLXattr = "system.posix_acl_default" // of a directory, for what is made in it
	CapabilityXattr = "security.capability"      // of a program
)

// Errors of SetMetadata: the rest can be set without these attributes.
var (
	ErrACL        = errors.New("access control list not set")
	ErrCapability = errors.New("capabilities not set")
)

func isACL(name string) bool { return name == ACLXattr || name == DefaultACLXattr }

// Tags of the entries of a list.
const (
	aclUser     = 0x02
	aclGroupObj = 0x04 // the owning group
	aclGroup    = 0x08
	aclMask     = 0x10 // limits all three
)

// eachACLEntry calls f with the tag and the bits of each entry: a head of 4 bytes, then tag, bits
// and id.
func eachACLEntry(acl []byte, f func(tag uint16, bits uint32)) {
	const head, size = 4, 8
	for at := head; at+size <= len(acl); at += size {
		f(binary.LittleEndian.Uint16(acl[at:]), uint32(binary.LittleEndian.Uint16(acl[at+2:]))&7)
	}
}

// limitGroupToACL returns a mode whose group gets nothing that the list does not grant it. A file
// with a list shows the mask in the place of its group.
func limitGroupToACL(mode uint32, acl []byte) uint32 {
	const group = 0o070
	granted := uint32(0)
	eachACLEntry(acl, func(tag uint16, bits uint32) {
		if tag == aclGroupObj {
			granted = bits << 3
		}
	})
	return mode &^ (group &^ granted)
}

// NarrowToACL returns a mode for a file that cannot have the list: nobody may do more than with
// it. Users whom the list names become members of the group or others, groups become others, so
// that these get what all of them had.
func NarrowToACL(mode uint32, acl []byte) uint32 {
	mask, users, groups := uint32(7), uint32(7), uint32(7)
	eachACLEntry(acl, func(tag uint16, bits uint32) {
		if tag == aclMask {
			mask = bits
		}
	})
	eachACLEntry(acl, func(tag uint16, bits uint32) {
		switch tag {
		case aclUser:
			users &= bits & mask
		case aclGroup:
			groups &= bits & mask
		}
	})
	mode = limitGroupToACL(mode, acl)
	return mode &^ ((7 &^ users) << 3) &^ (7 &^ (users & groups))
}

// Lost is what a file could not be given.
type Lost struct {
	Owner        bool // it stays ours, without setuid and setgid
	ACL          bool // its mode grants no more than the list did
	Capabilities bool
	Xattrs       bool // of user.*
}

// Tell calls tell with a code and a sentence for each kind that was left out.
func (l Lost) Tell(tell func(code, text string)) {
	if l.Owner {
		tell("owner", "some files belong to us now: only root can give files away")
	}
	if l.ACL {
		tell("acl", "some access control lists could not be set: those files allow less than before, to nobody more")
	}
	if l.Capabilities {
		tell("capabilities", "some programs lost their capabilities: only root can set them")
	}
	if l.Xattrs {
		tell("attributes", "this file system holds no extended attributes")
	}
}

// SetWhatFits calls set until it succeeds, each time without what the user or the file system
// does not allow, and returns what was left out.
func (d Metadata) SetWhatFits(set func(Metadata) error) (Lost, error) {
	var lost Lost
	for {
		err := set(d)
		switch {
		case errors.Is(err, ErrCapability) && d.Xattrs[CapabilityXattr] != nil:
			d.Xattrs, lost.Capabilities = d.without(func(name string) bool { return name == CapabilityXattr }), true
		case errors.Is(err, ErrACL) && (d.Xattrs[ACLXattr] != nil || d.Xattrs[DefaultACLXattr] != nil):
			if acl := d.Xattrs[ACLXattr]; acl != nil {
				d.Mode = NarrowToACL(d.Mode, acl)
			}
			d.Xattrs, lost.ACL = d.without(isACL), true
		case errors.Is(err, fs.ErrPermission) && d.SetOwner:
			d.SetOwner, d.Mode, lost.Owner = false, d.Mode&^setidBits, true
		case errors.Is(err, errors.ErrUnsupported) && d.hasUserXattrs():
			d.Xattrs, lost.Xattrs = d.without(isUserXattr), true
		default:
			return lost, err
		}
	}
}

// setidBits run a program with the rights of its owner or group.
const setidBits = 0o6000

func isUserXattr(name string) bool { return strings.HasPrefix(name, userXattrPrefix) }

func (d Metadata) hasUserXattrs() bool {
	for name := range d.Xattrs {
		if isUserXattr(name) {
			return true
		}
	}
	return false
}

// without returns the attributes without some of them. The result is not nil: what a new file got
// from its directory goes.
func (d Metadata) without(drop func(string) bool) map[string][]byte {
	out := maps.Clone(d.Xattrs)
	maps.DeleteFunc(out, func(name string, _ []byte) bool { return drop(name) })
	return out
}
