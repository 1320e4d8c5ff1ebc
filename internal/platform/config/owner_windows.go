package config

import "io/fs"

// owned trusts the access list of the profile directory.
func owned(fs.FileInfo) bool { return true }
