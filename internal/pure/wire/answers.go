package wire

import "github.com/retake-dev/retake"

// More is the end of a list that is given in pages.
type More struct {
	NextCursor string `json:"next_cursor,omitempty" doc:"Pass it as cursor to get the next page. Absent on the last page."`
}

type WorkspaceList struct {
	Workspaces []retake.WorkspaceState `json:"workspaces" nullable:"false" doc:"The workspaces."`
	More
}

type ForkList struct {
	Forks []retake.WorkspaceState `json:"forks" nullable:"false" doc:"The forks."`
	More
}

type EntryList struct {
	Entries []retake.Entry `json:"entries" nullable:"false" doc:"The entries, by name."`
	More
}

type TombstoneList struct {
	Tombstones []retake.Tombstone `json:"tombstones" nullable:"false" doc:"A tombstone for each deleted checkpoint."`
}

type EffectList struct {
	Effects []retake.Effect `json:"effects" nullable:"false" doc:"The external actions."`
	More
}

type HitList struct {
	Hits []retake.Hit `json:"hits" nullable:"false" doc:"The matches."`
	More
}

type MentionList struct {
	Mentions []retake.Mention `json:"mentions" nullable:"false" doc:"The checkpoints."`
	More
}

type VerificationList struct {
	Verifications []retake.Verification `json:"verifications" nullable:"false" doc:"The results."`
	More
}

type StandingList struct {
	Standing []retake.Standing `json:"standing" nullable:"false" doc:"The checks."`
	More
}

// MaxPage is the largest number of results on one page.
const MaxPage = 1000

// Page is one page of a list.
type Page[T any] struct {
	Data       []T    `json:"data" nullable:"false" doc:"The results on this page."`
	NextCursor string `json:"next_cursor" doc:"Pass it as cursor to get the next page. Empty on the last page."`
}

// Problem is the JSON form of a retake.Error, as in RFC 9457. Texts may quote names, so they
// have _raw fields.
type Problem struct {
	Type      string           `json:"type" format:"uri" doc:"A URL that explains the error code."`
	Title     string           `json:"title" doc:"The error code in words. It is the same for all errors with one code."`
	Status    int              `json:"status" doc:"The HTTP status code."`
	Detail    string           `json:"detail" doc:"What happened, with its cause."`
	Code      string           `json:"code" doc:"The error code, such as not_found, forbidden or stale_plan. Programs should decide by this field only. New codes may be added."`
	Kind      retake.ErrorKind `json:"kind,omitempty" deprecated:"true" doc:"The code of the version before: several codes have one kind. Do not use it in new programs."`
	Accept    []string         `json:"accept,omitempty" nullable:"false" doc:"The warnings that you did not accept. Send them in accept to go ahead."`
	What      string           `json:"what" doc:"What happened."`
	WhatRaw   []byte           `json:"what_raw,omitempty" doc:"The exact bytes of what, if they are not valid UTF-8."`
	Safe      string           `json:"safe,omitempty" doc:"Whether anything was changed."`
	Hint      string           `json:"hint,omitempty" doc:"What to do next."`
	HintRaw   []byte           `json:"hint_raw,omitempty" doc:"The exact bytes of hint, if they are not valid UTF-8."`
	Cause     string           `json:"cause,omitempty" doc:"The underlying error."`
	CauseRaw  []byte           `json:"cause_raw,omitempty" doc:"The exact bytes of cause, if they are not valid UTF-8."`
	Retryable bool             `json:"retryable" doc:"If true, the same request may succeed later."`
	RequestID string           `json:"request_id,omitempty" doc:"The request's ID, to include when you ask for support."`
	NextSteps []string         `json:"next_steps,omitempty" nullable:"false" doc:"Commands or requests to try next."`
	Plan      *retake.Plan     `json:"plan,omitempty" doc:"What a restore would do whose warnings you have not accepted."`
}

// Progress is the JSON form of retake.Progress.
type Progress struct {
	Files int64 `json:"files" doc:"The number of files so far."`
	Total int64 `json:"total" doc:"The number of files in all. 0 while it is not known."`
	Bytes int64 `json:"bytes" doc:"The number of bytes so far."`
}
