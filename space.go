package retake

import "time"

// SpacePlan is the room that checkpoints take, and what the next tidy-up would do about
// it. Bytes that are given back are always about: checkpoints share them.
type SpacePlan struct {
	Store      StoreState       `json:"store"`
	Budget     int64            `json:"budget"` // bytes that the store may take; 0: no bound
	Need       Need             `json:"need,omitempty"`
	Workspaces []WorkspaceSpace `json:"workspaces"`
	Drops      []Drop           `json:"drops"`   // oldest first, and never cut
	Frees      int64            `json:"frees"`   // about what it would give back, garbage included
	Garbage    int64            `json:"garbage"` // about what no checkpoint needs already
	Last       *TidyUp          `json:"last,omitempty"`
}

// Need is why checkpoints go that are not too old.
type Need string

// The needs, the mildest first.
const (
	NeedNone   Need = ""
	NeedBudget Need = "budget" // the store is over its budget
	NeedRoom   Need = "room"   // the disk is near its floor
	NeedFloor  Need = "floor"  // the disk is below its floor: saves are refused
)

// WorkspaceSpace is what is known of the checkpoints of one workspace.
type WorkspaceSpace struct {
	Workspace WorkspaceID   `json:"workspace"`
	Days      []int64       `json:"days"`             // checkpoints that live, of each of the last thirty days, today last
	Brought   []int64       `json:"brought"`          // bytes that the checkpoints of these days brought, first ones left out: those come once
	Within    time.Duration `json:"within"`           // how long they are kept at least, in days of work; 0: for ever
	GoneAfter time.Duration `json:"gone_after"`       // after how long none is kept but pins, the newest, fork bases and what is in use; 0: never
	Kept      []KeptFor     `json:"kept"`             // why those stay that stay, by reason
	Closed    string        `json:"closed,omitempty"` // why nothing of it goes at present
}

// KeptFor counts the checkpoints that one reason keeps.
type KeptFor struct {
	Why    string `json:"why"`
	Count  int64  `json:"count"`
	Always bool   `json:"always"` // however short the room is
}

// Drop is one checkpoint that a tidy-up drops.
type Drop struct {
	Workspace  WorkspaceID  `json:"workspace"`
	Checkpoint CheckpointID `json:"checkpoint"`
	Number     int64        `json:"number"`
	Time       time.Time    `json:"time"`
	Why        string       `json:"why"`   // age, budget, room or floor
	Bytes      int64        `json:"bytes"` // about
	Named      bool         `json:"named"` // it would be kept for the whole window if there were room
}

// TidyUp is one that was done.
type TidyUp struct {
	At        time.Time     `json:"at"`
	Forgotten int64         `json:"forgotten"` // checkpoints since the one before
	Gave      int64         `json:"gave"`      // bytes
	Took      time.Duration `json:"took"`
}

// ThinRequest asks for the next tidy-up now.
type ThinRequest struct {
	Progress func(Progress) // Files are checkpoints that went
}

// ThinReport is what a tidy-up did.
type ThinReport struct {
	Forgotten int64       `json:"forgotten"`
	Sweep     SweepReport `json:"sweep"`
	Over      int64       `json:"over,omitempty"` // bytes above the budget that stay: what is kept on purpose takes more
}
