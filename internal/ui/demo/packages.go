package demo

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Packages of the shop, at versions that there are; a star marks what the shop asks for
// by name.
var (
	basePackages    = []string{"*express 4.21.2", "accepts 1.3.8", "body-parser 1.20.3", "cookie 0.7.1", "debug 2.6.9", "*ejs 3.1.10", "ms 2.0.0", "qs 6.13.0", "send 0.19.0", "*sqlite 5.1.1"}
	sessionPackages = []string{"*express-session 1.18.1", "*connect-sqlite3 0.9.15", "cookie-signature 1.0.7", "depd 2.0.0", "on-headers 1.0.2", "random-bytes 1.0.0", "sqlite3 5.1.7", "uid-safe 2.1.5"}
)

// installPackages does what npm would, without a network: directories of packages, the lock file,
// and the names in package.json.
func installPackages(tree string, lists ...[]string) error {
	versions, direct := map[string]string{}, map[string]string{}
	for _, entry := range slices.Concat(lists...) {
		name, version, _ := strings.Cut(strings.TrimPrefix(entry, "*"), " ")
		versions[name] = version
		if strings.HasPrefix(entry, "*") {
			direct[name] = "^" + version
		}
	}
	lock := map[string]any{"": map[string]any{"name": Shop, "version": "1.0.0", "dependencies": direct}}
	for name, version := range versions {
		lock["node_modules/"+name] = map[string]string{"version": version}
		if err := writePackage(filepath.Join(tree, "node_modules", name), name, version); err != nil {
			return err
		}
	}
	if err := writeJSON(filepath.Join(tree, "package.json"), map[string]any{"name": Shop, "version": "1.0.0", "private": true, "dependencies": direct}); err != nil {
		return err
	}
	return writeJSON(filepath.Join(tree, "package-lock.json"), map[string]any{"name": Shop, "version": "1.0.0", "lockfileVersion": 3, "packages": lock})
}

// writePackage writes a package: what npm reads of it, and a few files of its own.
func writePackage(dir, name, version string) error {
	if err := writeJSON(filepath.Join(dir, "package.json"), map[string]any{"name": name, "version": version, "main": "index.js"}); err != nil {
		return err
	}
	for i := range 3 + hashText(name)%5 {
		file := fmt.Sprintf("lib/part%d.js", i)
		if i == 0 {
			file = "index.js"
		}
		text := fmt.Sprintf("'use strict'\nexports.part = '%s %d'\n", name, i)
		if err := writeIfChanged(filepath.Join(dir, filepath.FromSlash(file)), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(file string, value any) error {
	b, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(file), err)
	}
	return writeIfChanged(file, append(b, '\n'))
}
