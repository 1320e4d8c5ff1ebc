package retake

import (
	"context"
	"time"
)

// Carrier keeps copies of the history at other places, which are called remotes.
type Carrier interface {
	// AddRemote begins to upload to another place. It fails if the place cannot be reached now.
	AddRemote(ctx context.Context, req RemoteRequest) (Remote, error)
	// Remotes lists them by name. It asks no remote.
	Remotes(ctx context.Context) ([]Remote, error)
	// RemoveRemote ends the uploads. What was uploaded stays where it is.
	RemoveRemote(ctx context.Context, name string) (Remote, error)
	// SyncRemotes uploads what is missing, now, and waits for it.
	SyncRemotes(ctx context.Context, q SyncQuery) ([]Remote, error)
	// CheckRemote reads back what a remote has, and compares it.
	CheckRemote(ctx context.Context, q RemoteCheckQuery) (RemoteCheck, error)
}

// RemoteRequest asks for a remote. Without workspaces it gets all, also those that come later.
type RemoteRequest struct {
	Name       string // empty: made of the URL
	URL        string
	Workspaces []WorkspaceID
	Access     RemoteAccess
	Rate       int64 // bytes per second; 0: as fast as it goes
	NewCopy    bool  // do not go on with a copy that this store began there before
}

// RemoteAccess is what a place asks for before it lets anybody in. It is kept with the store, for its
// user alone, and never shown.
type RemoteAccess struct {
	Endpoint   string `json:"endpoint,omitempty"` // of S3: https://HOST; empty: Amazon's
	Region     string `json:"region,omitempty"`
	User       string `json:"user,omitempty"` // or access key, or account
	Secret     string `json:"secret,omitempty"`
	PrivateKey string `json:"private_key,omitempty"` // of SSH, as PEM
	KnownHosts string `json:"known_hosts,omitempty"` // lines of known_hosts
}

// Remote is a place that has the same history, encrypted, and how far it is.
type Remote struct {
	Name         string            `json:"name"`
	URL          string            `json:"url"`
	Created      time.Time         `json:"created"`
	Limited      bool              `json:"limited,omitempty"` // only the listed workspaces are uploaded
	Workspaces   []RemoteWorkspace `json:"workspaces"`
	Pending      int64             `json:"pending"`            // checkpoints that are not there
	Uploaded     *time.Time        `json:"uploaded,omitempty"` // when everything was there the last time
	Sent         int64             `json:"sent"`               // bytes that were uploaded since it was added
	Swept        *time.Time        `json:"swept,omitempty"`    // when what nobody needs was removed there
	Damaged      int64             `json:"damaged,omitempty"`  // stored objects that are damaged here, and so are not there
	Protection   RemoteProtection  `json:"protection"`
	Check        *RemoteCheck      `json:"check,omitempty"` // the last one
	Trouble      *BackupTrouble    `json:"trouble,omitempty"`
	KeyConfirmed bool              `json:"key_confirmed,omitempty"` // somebody said that the recovery key is kept elsewhere
}

// RemoteWorkspace is how far a workspace is at a remote.
type RemoteWorkspace struct {
	Workspace WorkspaceID `json:"workspace"`
	Name      string      `json:"name"`
	Newest    int64       `json:"newest"`   // the number of its newest checkpoint
	Uploaded  int64       `json:"uploaded"` // of the newest that is there for sure; 0: none
	Pending   int64       `json:"pending"`
}

// RemoteProtection is what a place promises.
type RemoteProtection struct {
	Refuses   bool  `json:"refuses"`               // it refuses to replace what it has
	Versioned bool  `json:"versioned,omitempty"`   // it keeps what is deleted as an older version
	LockDays  int64 `json:"locked_days,omitempty"` // for so long nobody can delete
}

// SyncQuery chooses what is uploaded now. With a Number it is enough that one remote has that
// checkpoint.
type SyncQuery struct {
	Name      string      // empty: all remotes
	Workspace WorkspaceID // empty: all of each
	Number    int64
}

// RemoteCheckQuery chooses how much is read back: Share between 0, structure only, and 1.
type RemoteCheckQuery struct {
	Name  string
	Share float64
}

// RemoteCheck is N tried, N failed, of what was read back from a remote.
type RemoteCheck struct {
	At          time.Time `json:"at"`
	Checkpoints int64     `json:"checkpoints"`
	Objects     int64     `json:"objects"`
	Bytes       int64     `json:"bytes"`
	Failed      []string  `json:"failed"`
}

// Upload is how far a workspace is uploaded, at the remote that has most of it.
type Upload struct {
	Remote  string `json:"remote"`            // its name
	Through int64  `json:"through"`           // the newest checkpoint that is there; those before it are there, too
	Failing bool   `json:"failing,omitempty"` // the last try failed
}
