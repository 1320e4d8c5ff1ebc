package xray

import (
	"bytes"
	"strings"

	"github.com/retake-dev/retake"
)

// systemReaders read the databases of system package managers.
var systemReaders = []reader{
	{name: "dpkg@1", limit: maxStatus, rank: rankListed, read: readDpkg, wants: func(p fileLocation) bool {
		return p.hasSuffix("var/lib/dpkg/status") || p.inDir("var/lib/dpkg/status.d") && p.ext != ".md5sums"
	}},
	{name: "apk@1", limit: maxStatus, rank: rankListed, read: readApk, wants: func(p fileLocation) bool { return p.hasSuffix("lib/apk/db/installed") }},
	{name: "rpm@1", limit: maxStatus, rank: rankListed, read: readRPM, wants: func(p fileLocation) bool { return isRPMDir(p) && p.name == "rpmdb.sqlite" }},
	{name: "rpm-old@1", limit: maxStatus, rank: rankListed, read: readOldRPM, wants: func(p fileLocation) bool {
		return isRPMDir(p) && (p.name == "Packages" || p.name == "Packages.db")
	}},
}

func isRPMDir(p fileLocation) bool { return p.inDir("var/lib/rpm") || p.inDir("usr/lib/sysimage/rpm") }

// forEachLine calls f for each line, without its end, until f returns false. Lines are not
// copied.
func forEachLine(data []byte, f func(line []byte) bool) {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if !f(bytes.TrimSuffix(line, []byte("\r"))) {
			return
		}
		data = rest
	}
}

// readDpkg reads paragraphs of fields. A package may be listed and not be installed: only
// its configuration is left, or it is half installed.
func readDpkg(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	var name, version, state string
	end := func() {
		if state == "" || strings.HasSuffix(state, " installed") {
			l.addPackage("deb", name, version, false)
		}
		name, version, state = "", "", ""
	}
	forEachLine(in.data, func(line []byte) bool {
		if len(bytes.TrimSpace(line)) == 0 {
			end()
			return true
		}
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || line[0] == ' ' || line[0] == '\t' {
			return true
		}
		switch v := string(bytes.TrimSpace(value)); string(key) {
		case "Package":
			name = v
		case "Version":
			version = v
		case "Status":
			state = " " + v
		}
		return true
	})
	end()
	return l.traits, nil
}

// readApk reads the installed packages of Alpine: paragraphs of fields named by a letter.
func readApk(in input) ([]retake.Trait, error) {
	l := newTraitList(in)
	var name, version string
	forEachLine(in.data, func(line []byte) bool {
		switch {
		case len(line) == 0:
			l.addPackage("apk", name, version, false)
			name, version = "", ""
		case bytes.HasPrefix(line, []byte("P:")):
			name = string(line[2:])
		case bytes.HasPrefix(line, []byte("V:")):
			version = string(line[2:])
		}
		return true
	})
	l.addPackage("apk", name, version, false)
	return l.traits, nil
}

func readOldRPM(input) ([]retake.Trait, error) {
	return nil, failReason("a form of the rpm database that is not read")
}
