package xray

import (
	"bytes"
	"strings"

	"github.com/retake-dev/retake"
)

// systemReaders read what the package managers of whole systems keep.
var systemReaders = []reader{
	{name: "dpkg@1", limit: maxStatus, rank: listed, read: readDpkg, wants: func(p place) bool {
		return p.ends("var/lib/dpkg/status") || p.in("var/lib/dpkg/status.d") && p.ext != ".md5sums"
	}},
	{name: "apk@1", limit: maxStatus, rank: listed, read: readApk, wants: func(p place) bool { return p.ends("lib/apk/db/installed") }},
	{name: "rpm@1", limit: maxStatus, rank: listed, read: readRPM, wants: func(p place) bool { return rpmDir(p) && p.name == "rpmdb.sqlite" }},
	{name: "rpm-old@1", limit: maxStatus, rank: listed, read: readOldRPM, wants: func(p place) bool {
		return rpmDir(p) && (p.name == "Packages" || p.name == "Packages.db")
	}},
}

func rpmDir(p place) bool { return p.in("var/lib/rpm") || p.in("usr/lib/sysimage/rpm") }

// lines calls f for each line, without its end, until f says no. No line is copied.
func lines(data []byte, f func(line []byte) bool) {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if !f(bytes.TrimSuffix(line, []byte("\r"))) {
			return
		}
		data = rest
	}
}

// readDpkg reads paragraphs of fields. A package may be known and not be there: its files
// went and its settings stayed, or it is half installed.
func readDpkg(in input) ([]retake.Trait, error) {
	l := newList(in)
	var name, version, state string
	end := func() {
		if state == "" || strings.HasSuffix(state, " installed") {
			l.pack("deb", name, version, false)
		}
		name, version, state = "", "", ""
	}
	lines(in.data, func(line []byte) bool {
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

func readApk(in input) ([]retake.Trait, error) {
	l := newList(in)
	var name, version string
	lines(in.data, func(line []byte) bool {
		switch {
		case len(line) == 0:
			l.pack("apk", name, version, false)
			name, version = "", ""
		case bytes.HasPrefix(line, []byte("P:")):
			name = string(line[2:])
		case bytes.HasPrefix(line, []byte("V:")):
			version = string(line[2:])
		}
		return true
	})
	l.pack("apk", name, version, false)
	return l.traits, nil
}

func readOldRPM(input) ([]retake.Trait, error) {
	return nil, why("a form of the rpm database that is not read")
}
