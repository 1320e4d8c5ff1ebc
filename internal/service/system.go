package service

import "github.com/retake-dev/retake"

// machineOnly is what a whole machine holds that is no state of it: what the kernel
// shows, what is gone after a start anyway, and what packages were unpacked from. It is
// written on the card of every checkpoint of such a root.
var systemExcludes = []string{
	"/proc/*", "/sys/*", "/dev/*", "/run/*", "/tmp/*", "/var/tmp/*", "/lost+found",
	"/var/cache/apt/archives/*.deb", "/var/cache/apt/*.bin", "/var/lib/apt/lists/*", "/var/cache/apk/*", "/var/cache/dnf/*", "/var/cache/yum/*",
	"/swapfile", "/swap.img",
}

// effectivePolicy is the user's, and for a root that is the whole machine what is always left out.
func (s *Service) effectivePolicy(ws retake.WorkspaceID, root string) retake.Policy {
	p := s.parts.Policy(ws)
	if root == "/" {
		p.Exclude = append(append([]string{}, systemExcludes...), p.Exclude...)
	}
	return p
}
