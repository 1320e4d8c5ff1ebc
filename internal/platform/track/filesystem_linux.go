package track

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// reportsAllChanges are the file systems on which every change is made by this kernel, which
// reports it.
var reportsAllChanges = map[int64]bool{
	unix.EXT4_SUPER_MAGIC:      true, // ext2 and ext3 too
	unix.XFS_SUPER_MAGIC:       true,
	unix.BTRFS_SUPER_MAGIC:     true,
	unix.TMPFS_MAGIC:           true,
	unix.F2FS_SUPER_MAGIC:      true,
	unix.BCACHEFS_SUPER_MAGIC:  true,
	unix.OVERLAYFS_SUPER_MAGIC: true,
}

const zfsMagic = 0x2fc12fc1

// untrackedReasons explains common file systems that are not tracked, for people to read.
var untrackedReasons = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "nfs does not report changes by other machines",
	unix.CIFS_SUPER_MAGIC: "cifs does not report changes by other machines",
	unix.SMB2_SUPER_MAGIC: "smb does not report changes by other machines",
	unix.SMB_SUPER_MAGIC:  "smb does not report changes by other machines",
	unix.FUSE_SUPER_MAGIC: "fuse and virtiofs do not report changes from outside",
	unix.V9FS_MAGIC:       "9p does not report changes by other machines",
	unix.CEPH_SUPER_MAGIC: "ceph does not report changes by other machines",
	unix.AFS_SUPER_MAGIC:  "afs does not report changes by other machines",
	zfsMagic:              "zfs goes back to a snapshot without telling",
}

// untrackableReason returns why a type of file system cannot be tracked, and "" if it can.
func untrackableReason(kind int64) string {
	kind = int64(uint32(kind)) // it is signed on some architectures
	switch why := untrackedReasons[kind]; {
	case reportsAllChanges[kind]:
		return ""
	case why != "":
		return why
	}
	return fmt.Sprintf("a file system of the kind %#x may change without telling", kind)
}
