package proc

// Inode identifies a file, under whatever names.
type Inode struct{ Dev, Ino uint64 }

// FileUser is a process that uses a file.
type FileUser struct {
	PID     int
	Command string // its command line, truncated
	Inode   Inode
	Writes  bool // opened for writing, or mapped shared and writable
}
