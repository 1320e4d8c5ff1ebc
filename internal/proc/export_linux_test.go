package proc

// LeaveIn is LeaveCgroup for a process that sees its files below root.
func LeaveIn(root string, pid, uid int, anywhere bool) string {
	return groups{root: root, pid: pid, uid: uid}.leave(anywhere)
}
