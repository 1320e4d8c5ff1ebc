package pathclass

import "strings"

// file is the class of a file by its own name, and then by what its directories say.
func (w *walk) file(name string) Class {
	if c := named(name); c != "" {
		return c
	}
	if db := companion(name); db != "" && named(db) == Database {
		return Database
	}
	ext := suffix(name)
	switch {
	case w.tests || test(name):
		return Test
	case w.docs || prose()[ext] || page(name):
		return Docs
	case w.settings(name, ext):
		return Settings
	case pictures()[ext]:
		return Asset
	}
	return Source
}

// named is the class that a name has in every directory.
func named(name string) Class {
	if c, ok := names()[name]; ok {
		return c
	}
	ext := suffix(name)
	switch {
	case env(name):
		return Env
	case scratch(name):
		return Cache
	case strings.HasSuffix(name, ".log"), strings.Contains(name, ".log.") && !written()[ext], history(name):
		return Log
	case strings.HasSuffix(name, ".min.js"), strings.HasSuffix(name, ".min.css"):
		return Build
	case strings.HasPrefix(name, "requirements") && (ext == ".txt" || ext == ".in"):
		return Manifest
	case documents(name):
		return Docs
	}
	return suffixes()[ext]
}

func env(name string) bool {
	if strings.HasSuffix(name, ".ts") || strings.HasSuffix(name, ".js") {
		return false
	}
	return strings.HasPrefix(name, ".env.") || strings.HasSuffix(name, ".env")
}

// scratch are files that programs write beside others for a moment.
func scratch(name string) bool {
	switch {
	case strings.HasSuffix(name, "~"), strings.HasPrefix(name, ".#"), strings.HasPrefix(name, "._"):
		return true
	case strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") && len(name) > 2:
		return true
	case strings.HasPrefix(name, ".goutputstream-"), strings.HasPrefix(name, ".nfs0"), strings.HasPrefix(name, ".~lock."), strings.HasPrefix(name, ".fuse_hidden"):
		return true
	case strings.HasPrefix(name, "core.") && digits(name[len("core."):]):
		return true
	}
	// Of vim: .name.swp, .name.swo and so on.
	return len(name) > 5 && name[0] == '.' && len(suffix(name)) == 4 && strings.HasPrefix(suffix(name), ".sw")
}

func history(name string) bool {
	return name[0] == '.' && (strings.HasSuffix(name, "_history") || name == ".lesshst" || name == ".viminfo" || name == ".wget-hsts") || name == "nohup.out"
}

func test(name string) bool {
	stem := stem(name)
	for _, end := range []string{"_test", ".test", ".spec", "_spec", "-test", ".cy", ".e2e", ".stories"} {
		if strings.HasSuffix(stem, end) && stem != end {
			return true
		}
	}
	for _, end := range []string{"Test", "Tests", "Spec", "IT"} {
		if strings.HasSuffix(stem, end) && jvm()[suffix(name)] {
			return true
		}
	}
	return strings.HasPrefix(name, "test_") && written()[suffix(name)] || name == "conftest.py"
}

// documents are pages that are settings of nothing, and of the programs that make pages.
func documents(name string) bool {
	for _, begin := range []string{"mkdocs.", ".readthedocs.", "docusaurus.config.", "sidebars.", "typedoc.", ".markdownlint", ".vale.", "Doxyfile", "openapi.", "swagger.", "_config.y", "book.toml", "antora"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// page knows documents that have no suffix, or one that says little.
func page(name string) bool {
	return pages()[stem(name)] && !written()[suffix(name)]
}

// settings knows configuration by its name and its place.
func (w *walk) settings(name, ext string) bool {
	switch {
	case configured(name, ext):
		return true
	case forms()[ext] && w.data && !w.config:
		return false
	case forms()[ext]:
		return true
	case ext == ".json" || ext == ".xml" || ext == ".json5" || ext == ".jsonc":
		return w.config || w.last == ""
	}
	if written()[ext] {
		return strings.HasPrefix(w.path, "etc/") || w.config && w.configures(ext)
	}
	return w.config
}

// configures reports whether a program in a directory of settings is one itself: in the
// first directory, in one that begins with a point, and in those that cron and shells run.
func (w *walk) configures(ext string) bool {
	switch {
	case w.last[0] == '.', strings.HasPrefix(w.last, "cron."), w.last == "profile.d":
		return true
	}
	return strings.HasPrefix(w.path, "config/") && loose()[ext]
}

// configured reports whether the name itself says that it configures something.
func configured(name, ext string) bool {
	if name[0] == '.' && !written()[ext] {
		return true
	}
	stem := strings.ToLower(stem(name))
	switch {
	case strings.HasSuffix(stem, ".config"), strings.HasSuffix(stem, ".conf"), strings.HasPrefix(stem, ".") && strings.HasSuffix(stem, "rc"):
		return true
	case strings.HasPrefix(stem, "dockerfile"), strings.HasSuffix(stem, ".dockerfile"), strings.HasPrefix(name, "Containerfile"):
		return true
	case strings.HasPrefix(stem, "tsconfig"), strings.HasPrefix(stem, "jsconfig"), strings.HasPrefix(stem, "appsettings"), strings.HasPrefix(stem, "docker-compose"):
		return true
	}
	return (stem == "config" || stem == "settings") && !written()[ext] || name == "settings.py"
}
