package retake

import (
	"context"
	"time"
)

// Backer sends the checkpoints of a workspace to a git remote as well.
type Backer interface {
	// SetBackup says where they go. Where a host has to be known and req names none,
	// nothing is set: the answer tells what the host says of itself, for a second request
	// that names it.
	SetBackup(ctx context.Context, req BackupRequest) (Backup, error)
	// Backup tells how far it is. NotFound when there is none.
	Backup(ctx context.Context, ws WorkspaceID) (Backup, error)
	// PushBackup sends what is not there yet, now, and waits for it.
	PushBackup(ctx context.Context, ws WorkspaceID) (Backup, error)
	// DropBackup ends it and forgets its key. What was sent stays where it is.
	DropBackup(ctx context.Context, ws WorkspaceID) (Backup, error)
}

// BackupRequest asks for a backup. Host is the key of the host as it tells it, or its
// fingerprint.
type BackupRequest struct {
	Workspace WorkspaceID
	URL       string
	Host      string
}

// Backup is where the checkpoints of a workspace also go, as commits of one branch.
type Backup struct {
	Workspace WorkspaceID    `json:"workspace"`
	URL       string         `json:"url"`
	Branch    string         `json:"branch"`
	Set       bool           `json:"set"`              // else it was only asked what the host says
	Public    string         `json:"public,omitempty"` // the key that the remote must let in, for writing
	Host      *HostKey       `json:"host,omitempty"`   // the only one that is spoken to; nil: no host is between
	Created   time.Time      `json:"created"`
	Pushed    *BackupPoint   `json:"pushed,omitempty"` // the newest that is there for sure
	Behind    int64          `json:"behind"`           // checkpoints that are not
	Left      []LeftOut      `json:"left"`             // what of the newest is left out
	Trouble   *BackupTrouble `json:"trouble,omitempty"`
}

// HostKey is how a host is known.
type HostKey struct {
	Kind  string `json:"kind"`  // "ssh-ed25519"
	Key   string `json:"key"`   // base64, as in known_hosts
	Print string `json:"print"` // "SHA256:…"
}

// BackupPoint is a checkpoint that the remote has: its branch was read back after it was sent.
type BackupPoint struct {
	Number     int64        `json:"number"`
	Checkpoint CheckpointID `json:"checkpoint"`
	Commit     string       `json:"commit"`
	At         time.Time    `json:"at"`
}

// BackupTrouble is why the newest checkpoints are not there.
type BackupTrouble struct {
	Kind  ErrorKind  `json:"kind"`
	What  string     `json:"what"`
	Hint  string     `json:"hint,omitempty"`
	Since time.Time  `json:"since"`
	At    time.Time  `json:"at"` // the last try
	Tries int64      `json:"tries"`
	Next  *time.Time `json:"next,omitempty"` // nil: nobody tries again before something changes
}

// LeftOut counts paths that are not sent, for one reason. A directory is one path.
type LeftOut struct {
	Reason LeaveReason `json:"reason"`
	Count  int64       `json:"count"`
	Named  []string    `json:"named,omitempty"` // some of them, quoted as git does where they are not plain text
}

// LeaveReason is why a path is not sent. Reasons are append-only.
type LeaveReason string

// The reasons.
const (
	LeaveGit     LeaveReason = "git"     // what git keeps for itself
	LeaveMark    LeaveReason = "mark"    // our own mark
	LeaveIgnored LeaveReason = "ignored" // by the ignore files of the checkpoint itself
	LeaveSecret  LeaveReason = "secret"  // it likely holds one, or is a place for them
	LeaveBig     LeaveReason = "too-big"
	LeaveSpecial LeaveReason = "special" // a FIFO or a socket
	LeaveName    LeaveReason = "name"    // git refuses it
)

// LeaveReasons are all, in the order in which they are told.
var LeaveReasons = []LeaveReason{LeaveSecret, LeaveBig, LeaveName, LeaveSpecial, LeaveIgnored, LeaveGit, LeaveMark}
