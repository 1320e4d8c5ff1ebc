package retake

import (
	"fmt"
	"strings"
)

// WorkspaceID names a workspace for ever; it survives moving the directory.
type WorkspaceID string

// CheckpointID names one checkpoint for ever; the number beside it is for people.
type CheckpointID string

// ObjectID is the address the store gave to bytes or to a directory.
type ObjectID string

// ContentID is the digest of names, types, modes and bytes of a tree, without
// times and owners. Two checkpoints are equal when their content ids are.
type ContentID string

// Prefixes of the ids that people may meet.
const (
	WorkspacePrefix  = "ws_"
	CheckpointPrefix = "cp_"
)

// ParseWorkspaceID accepts an id as we write it, and nothing else: ids become
// parts of file names and of manifests.
func ParseWorkspaceID(s string) (WorkspaceID, error) {
	if err := checkID(s, WorkspacePrefix); err != nil {
		return "", fmt.Errorf("workspace id: %w", err)
	}
	return WorkspaceID(s), nil
}

// ParseCheckpointID accepts an id as we write it, and nothing else.
func ParseCheckpointID(s string) (CheckpointID, error) {
	if err := checkID(s, CheckpointPrefix); err != nil {
		return "", fmt.Errorf("checkpoint id: %w", err)
	}
	return CheckpointID(s), nil
}

const idLength = 36 // a UUID in text

func checkID(s, prefix string) error {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok || len(rest) != idLength {
		return fmt.Errorf("%.60q is not %s and %d characters", s, prefix, idLength)
	}
	for _, c := range rest {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && c != '-' {
			return fmt.Errorf("%.60q holds %q", s, c)
		}
	}
	return nil
}
