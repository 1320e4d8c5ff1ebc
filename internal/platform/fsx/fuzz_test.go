package fsx_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// aclOf returns a list with one entry for each pair of tag and permissions.
func aclOf(pairs ...uint16) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for i := 0; i+1 < len(pairs); i += 2 {
		b = binary.LittleEndian.AppendUint16(b, pairs[i])
		b = binary.LittleEndian.AppendUint16(b, pairs[i+1])
		b = binary.LittleEndian.AppendUint32(b, 0xffffffff)
	}
	return b
}

// grantedToGroup returns all that a list grants to the owning group.
func grantedToGroup(acl []byte) (bits uint32) {
	for ; len(acl) >= 12; acl = acl[8:] {
		if binary.LittleEndian.Uint16(acl[4:]) == 4 {
			bits |= uint32(acl[6]&7) << 3
		}
	}
	return bits
}

// A file that loses its access control list must not become readable for more people: no bit is
// added, and the owner's bits stay.
func FuzzNarrowToACL(f *testing.F) {
	f.Add(uint32(0o100674), aclOf(1, 6, 2, 7, 4, 4, 16, 7, 32, 4))
	f.Add(uint32(0o640), aclOf(4, 0))
	f.Add(uint32(0o777), aclOf())
	f.Add(uint32(0o777), []byte{2, 0, 0, 0, 4, 0, 7})
	f.Fuzz(func(t *testing.T, mode uint32, acl []byte) {
		got := fsx.NarrowToACL(mode, acl)
		if got&^mode != 0 || got|0o077 != mode|0o077 {
			t.Fatalf("%o became %o", mode, got)
		}
		if bits := grantedToGroup(acl); got&0o070&^bits != 0 {
			t.Fatalf("the group gets %o, and the list granted %o", got&0o070, bits)
		}
		if again := fsx.NarrowToACL(got, acl); again != got {
			t.Fatalf("%o became %o when it was narrowed again", got, again)
		}
	})
}

// Whatever a file system refuses, setting metadata ends, grants nothing more, and reports what was
// left out.
func FuzzSetWhatFits(f *testing.F) {
	f.Add(uint32(0o4775), aclOf(4, 4), byte(0xff), true)
	f.Add(uint32(0o640), []byte(nil), byte(1), false)
	f.Add(uint32(0o777), aclOf(4, 0, 16, 7), byte(2), true)
	f.Fuzz(func(t *testing.T, mode uint32, acl []byte, refuses byte, owner bool) {
		d := fsx.Metadata{SetOwner: owner, Xattrs: map[string][]byte{"user.a": {1}, fsx.CapabilityXattr: {1}}}
		d.Mode = mode
		if acl != nil {
			d.Xattrs[fsx.ACLXattr] = acl
		}
		var last fsx.Metadata
		tries := 0
		lost, err := d.SetWhatFits(func(m fsx.Metadata) error {
			if tries++; tries > 6 {
				t.Fatal("it does not end")
			}
			last = m
			return refusal(m, refuses)
		})
		if err != nil {
			t.Fatalf("not set with everything left out: %v", err)
		}
		if last.Mode&^mode != 0 {
			t.Fatalf("%o became %o", mode, last.Mode)
		}
		if lost.ACL && last.Xattrs[fsx.ACLXattr] != nil || lost.Capabilities && last.Xattrs[fsx.CapabilityXattr] != nil || lost.Owner == last.SetOwner && owner {
			t.Fatalf("lost %+v, and set %+v", lost, last)
		}
		if lost.Owner && last.Mode&0o6000 != 0 {
			t.Fatalf("the file is ours and runs with %o", last.Mode)
		}
	})
}

// refusal is the error of a file system that does not allow some of the metadata.
func refusal(m fsx.Metadata, refuses byte) error {
	switch {
	case refuses&1 != 0 && m.Xattrs[fsx.CapabilityXattr] != nil:
		return fsx.ErrCapability
	case refuses&2 != 0 && m.Xattrs[fsx.ACLXattr] != nil:
		return fsx.ErrACL
	case refuses&4 != 0 && m.SetOwner:
		return fs.ErrPermission
	case refuses&8 != 0 && m.Xattrs["user.a"] != nil:
		return errors.ErrUnsupported
	}
	return nil
}
