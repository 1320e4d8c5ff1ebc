package wire

import (
	"fmt"
	"time"

	"github.com/retake-dev/retake"
)

// LimitsBody changes limits. Those that are absent stay as they are.
type LimitsBody struct {
	Within        *time.Duration `json:"within,omitempty" doc:"How long checkpoints are kept at least, in nanoseconds."`
	WithinText    *string        `json:"within_text,omitempty" doc:"The same as within, as a text such as 30d, 12w or 36h. Send one of the two."`
	GoneAfter     *time.Duration `json:"gone_after,omitempty" doc:"The age after which checkpoints are deleted even if a rule keeps them, in nanoseconds. Pins, legal holds, the newest one and fork bases are kept. 0 means never."`
	GoneAfterText *string        `json:"gone_after_text,omitempty" doc:"The same as gone_after, as a text such as 90d. Send one of the two."`
	Checkpoint    *int64         `json:"moment,omitempty" doc:"The largest snapshot that one checkpoint may have, in bytes."`
	Store         *int64         `json:"store,omitempty" doc:"The storage limit of the whole history, in bytes."`
	Workspaces    *int64         `json:"workspaces,omitempty" doc:"The number of workspaces, not counting those whose protection ended."`
	PerSecond     *int64         `json:"per_second,omitempty" doc:"The requests per second of one API key."`
	RestoreHour   *int64         `json:"restore_hour,omitempty" doc:"The restores per hour of one agent key."`
	Grace         *time.Duration `json:"grace,omitempty" doc:"The grace period between a request to delete and the deletion, in nanoseconds."`
	GraceText     *string        `json:"grace_text,omitempty" doc:"The same as grace, as a text such as 7d. Send one of the two."`

	WorkspaceShare *int64 `json:"workspace_share,omitempty" minimum:"0" maximum:"100" doc:"The percentage of store that one workspace may take while there are others. 0 means no limit."`
	KeyShare       *int64 `json:"key_share,omitempty" minimum:"0" maximum:"100" doc:"The percentage of store that one agent key may add while there are others. 0 means no limit."`
}

// NewLimitsBody returns a body that sets all limits.
func NewLimitsBody(l retake.Limits) LimitsBody {
	return LimitsBody{
		Within: &l.Within, GoneAfter: &l.GoneAfter, Checkpoint: &l.Checkpoint, Store: &l.Store, Workspaces: &l.Workspaces,
		PerSecond: &l.PerSecond, RestoreHour: &l.RestoreHour, Grace: &l.Grace,
		WorkspaceShare: &l.WorkspaceShare, KeyShare: &l.KeyShare,
	}
}

// ApplyTo returns l with the limits that the body sets.
func (b *LimitsBody) ApplyTo(l retake.Limits) (retake.Limits, error) {
	for _, d := range []struct {
		name   string
		to     *time.Duration
		number *time.Duration
		text   *string
	}{{"within", &l.Within, b.Within, b.WithinText}, {"gone_after", &l.GoneAfter, b.GoneAfter, b.GoneAfterText}, {"grace", &l.Grace, b.Grace, b.GraceText}} {
		if d.text != nil {
			got, err := retake.ParseDuration(*d.text)
			if err != nil {
				return l, fmt.Errorf("%s_text: %w", d.name, err)
			}
			was := *d.to
			switch { // who sends all back has changed one of the two
			case d.number == nil || *d.number == got || *d.number == was:
				*d.to = got
				continue
			case got != was:
				return l, fmt.Errorf("%s and %s_text differ: send one of them", d.name, d.name)
			}
		}
		setIfPresent(d.to, d.number)
	}
	setIfPresent(&l.Checkpoint, b.Checkpoint)
	setIfPresent(&l.Store, b.Store)
	setIfPresent(&l.Workspaces, b.Workspaces)
	setIfPresent(&l.PerSecond, b.PerSecond)
	setIfPresent(&l.RestoreHour, b.RestoreHour)
	setIfPresent(&l.WorkspaceShare, b.WorkspaceShare)
	setIfPresent(&l.KeyShare, b.KeyShare)
	return l, nil
}

func setIfPresent[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
