//go:build unix

package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed shop.txtar
var shopFiles []byte

// The packages of the shop, at versions that there are.
const (
	basePackages = "express 4.21.2, body-parser 1.20.3, cookie 0.7.1, cookie-parser 1.4.7, debug 2.6.9, depd 2.0.0, ejs 3.1.10, etag 1.8.1, " +
		"finalhandler 1.3.1, fresh 0.5.2, helmet 8.0.0, ms 2.0.0, parseurl 1.3.3, qs 6.13.0, send 0.19.0, serve-static 1.16.2, typescript 5.7.2, vite 6.0.3"
	sessionPackages = "express-session 1.18.1, connect-sqlite3 0.9.15, sqlite3 5.1.7, bindings 1.5.0, cookie-signature 1.0.7, file-uri-to-path 1.0.0, " +
		"node-addon-api 7.1.1, on-headers 1.0.2, prebuild-install 7.1.2, random-bytes 1.0.0, tar 6.2.1, uid-safe 2.1.5"
	redisPackages = "connect-redis 7.1.1, redis 4.7.0, @redis/bloom 1.2.0, @redis/client 1.6.0, @redis/graph 1.1.1, @redis/json 1.0.7, " +
		"@redis/search 1.2.0, @redis/time-series 1.1.0, cluster-key-slot 1.1.2"
)

// asked are the packages that the shop names itself.
var asked = []string{"express", "cookie-parser", "ejs", "helmet", "typescript", "vite", "express-session", "connect-sqlite3", "sqlite3", "connect-redis", "redis"}

// put writes the files of a step over those of a tree.
func put(tree, step string) error {
	n := 0
	for _, f := range txtar.Parse(shopFiles).Files {
		name, ok := strings.CutPrefix(f.Name, step+"/")
		if !ok {
			continue
		}
		n++
		if err := write(filepath.Join(tree, name), string(f.Data)); err != nil {
			return err
		}
	}
	if n == 0 {
		return fmt.Errorf("write files: there is no step %s", step)
	}
	return nil
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

// install does what npm would: the packages, their lock file, and the names in package.json.
func install(tree string, lists ...string) error {
	versions := map[string]string{}
	for _, list := range lists {
		for entry := range strings.SplitSeq(list, ", ") {
			name, version, _ := strings.Cut(entry, " ")
			versions[name] = version
		}
	}
	var names []string
	for name := range versions {
		names = append(names, name)
	}
	sort.Strings(names)
	var direct, lock []string
	for _, name := range names {
		for _, a := range asked {
			if a == name {
				direct = append(direct, fmt.Sprintf("    %q: \"^%s\"", name, versions[name]))
			}
		}
		lock = append(lock, fmt.Sprintf("    \"node_modules/%s\": {\n      \"version\": %q\n    }", name, versions[name]))
		if err := unpack(filepath.Join(tree, "node_modules", name), name, versions[name]); err != nil {
			return err
		}
	}
	deps := strings.Join(direct, ",\n")
	if err := write(filepath.Join(tree, "package.json"), "{\n  \"name\": \"shopfront\",\n  \"version\": \"1.4.0\",\n  \"dependencies\": {\n"+deps+"\n  }\n}\n"); err != nil {
		return err
	}
	own := "    \"\": {\n      \"name\": \"shopfront\",\n      \"version\": \"1.4.0\",\n      \"dependencies\": {\n" + deps + "\n      }\n    }"
	lock = append([]string{own}, lock...)
	return write(filepath.Join(tree, "package-lock.json"), "{\n  \"name\": \"shopfront\",\n  \"version\": \"1.4.0\",\n  \"lockfileVersion\": 3,\n  \"packages\": {\n"+strings.Join(lock, ",\n")+"\n  }\n}\n")
}

// unpack writes a package: what npm reads of it, and some files of its own.
func unpack(dir, name, version string) error {
	files := map[string]string{
		"package.json": fmt.Sprintf("{\n  \"name\": %q,\n  \"version\": %q,\n  \"main\": \"index.js\"\n}\n", name, version),
		"index.js":     fmt.Sprintf("module.exports = require('./lib/%s')\n", filepath.Base(name)),
		"README.md":    "# " + name + "\n",
		"LICENSE":      "MIT\n",
	}
	for i := range 4 + len(name)*3 {
		files[fmt.Sprintf("lib/part%02d.js", i)] = fmt.Sprintf("// %s, part %d\n%s", name, i, strings.Repeat("exports.a = exports.a || {}\n", 20+i))
	}
	for file, text := range files {
		if err := write(filepath.Join(dir, file), text); err != nil {
			return err
		}
	}
	return nil
}

// compile makes what a build would make.
func compile(tree string) error {
	for i := range 74 {
		if err := write(filepath.Join(tree, "dist", "assets", fmt.Sprintf("chunk-%02d.js", i)), strings.Repeat(fmt.Sprintf("export const c%d = %d;", i, i), 400)); err != nil {
			return err
		}
	}
	for _, name := range []string{"server", "login", "auth", "cart", "session", "db"} {
		if err := write(filepath.Join(tree, "dist", name+".js"), "\"use strict\";\n"+strings.Repeat("void 0;\n", 90)); err != nil {
			return err
		}
	}
	return nil
}

// avatars are what people uploaded.
func avatars(tree string) error {
	for i := range 28 {
		if err := write(filepath.Join(tree, "public", "avatars", fmt.Sprintf("%d.png", 1000+37*i)), "\x89PNG\r\n\x1a\n\x00"+strings.Repeat(string(rune('a'+i%26)), 3000+i)); err != nil {
			return err
		}
	}
	return nil
}
