package fsx_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// listOf returns a list of entries: tag, bits.
func listOf(entries ...[2]uint16) []byte {
	out := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range entries {
		out = binary.LittleEndian.AppendUint16(out, e[0])
		out = binary.LittleEndian.AppendUint16(out, e[1])
		out = binary.LittleEndian.AppendUint32(out, 1000)
	}
	return out
}

const (
	owner, user, groupObj, group, mask, other = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
)

func TestNarrowToACL(t *testing.T) {
	for _, c := range []struct {
		name string
		mode uint32
		acl  []byte
		want uint32
	}{
		{"the group gets what the list grants it, not the mask", 0o664, listOf([2]uint16{owner, 6}, [2]uint16{user, 6}, [2]uint16{groupObj, 4}, [2]uint16{mask, 6}, [2]uint16{other, 4}), 0o644},
		{"others get no more than a user who is named", 0o777, listOf([2]uint16{owner, 7}, [2]uint16{user, 0}, [2]uint16{groupObj, 7}, [2]uint16{mask, 7}, [2]uint16{other, 7}), 0o700},
		{"others get no more than a group that is named", 0o677, listOf([2]uint16{owner, 6}, [2]uint16{groupObj, 7}, [2]uint16{group, 4}, [2]uint16{mask, 7}, [2]uint16{other, 7}), 0o674},
		{"the mask limits users who are named", 0o646, listOf([2]uint16{owner, 6}, [2]uint16{user, 7}, [2]uint16{groupObj, 7}, [2]uint16{mask, 4}, [2]uint16{other, 6}), 0o644},
		{"a damaged list grants the group nothing", 0o664, []byte{1, 2, 3}, 0o604},
	} {
		if got := fsx.NarrowToACL(c.mode, c.acl); got != c.want {
			t.Errorf("%s: %o, want %o", c.name, got, c.want)
		}
	}
}

// A place that takes less and less gets what it takes, and the caller is told of the rest.
func TestSetWhatFits(t *testing.T) {
	acl := listOf([2]uint16{owner, 6}, [2]uint16{groupObj, 4}, [2]uint16{mask, 6}, [2]uint16{other, 0})
	want := fsx.Metadata{SetOwner: true, UID: 7, Mode: 0o4760, Xattrs: map[string][]byte{
		fsx.ACLXattr: acl, fsx.CapabilityXattr: {1}, "user.note": {2},
	}}
	var got fsx.Metadata
	lost, err := want.SetWhatFits(func(d fsx.Metadata) error {
		got = d
		switch {
		case d.SetOwner:
			return fs.ErrPermission
		case d.Xattrs[fsx.ACLXattr] != nil:
			return errors.Join(fsx.ErrACL, errors.ErrUnsupported)
		case d.Xattrs[fsx.CapabilityXattr] != nil:
			return errors.Join(fsx.ErrCapability, fs.ErrPermission)
		case len(d.Xattrs) > 0:
			return errors.ErrUnsupported
		}
		return nil
	})
	if err != nil || lost != (fsx.Lost{Owner: true, ACL: true, Capabilities: true, Xattrs: true}) {
		t.Fatalf("lost %+v, %v", lost, err)
	}
	if got.Mode != 0o740 || got.Xattrs == nil || len(want.Xattrs) != 3 {
		t.Errorf("set %o %v, and the request became %v", got.Mode, got.Xattrs, want.Xattrs)
	}
	refused := errors.New("the disk is gone")
	if _, err := want.SetWhatFits(func(fsx.Metadata) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("an error of another kind became %v", err)
	}
}
