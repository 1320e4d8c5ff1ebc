package workspace

import (
	"github.com/retake-dev/retake"
)

// systemExcludes are paths of a whole machine that are not part of its state: kernel file
// systems, temporary files and package caches. They are recorded on the card of every
// checkpoint of such a root.
var systemExcludes = []string{
	"/proc/*", "/sys/*", "/dev/*", "/run/*", "/tmp/*", "/var/tmp/*", "/lost+found",
	"/var/cache/apt/archives/*.deb", "/var/cache/apt/*.bin", "/var/lib/apt/lists/*", "/var/cache/apk/*", "/var/cache/dnf/*", "/var/cache/yum/*",
	"/swapfile", "/swap.img",
}

// EffectivePolicy returns the user's policy, with systemExcludes for the root of a machine.
func (s *Registry) EffectivePolicy(ws retake.WorkspaceID, root string) retake.Policy {
	p := s.Policy(ws)
	if root == "/" {
		p.Exclude = append(append([]string{}, systemExcludes...), p.Exclude...)
	}
	return p
}

func (s *Registry) HabitsOf(ws retake.WorkspaceID) retake.Habits {
	if s.Habits == nil {
		return retake.Habits{}
	}
	return s.Habits(ws)
}
