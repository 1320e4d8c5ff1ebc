package proc

// Inode is one file, under whatever names.
type Inode struct{ Dev, Ino uint64 }

// FileUser is a process that holds a file.
type FileUser struct {
	PID     int
	Command string // how it was called, cut short
	Inode   Inode
	Writes  bool // opened for writing, or mapped shared and writable
}
