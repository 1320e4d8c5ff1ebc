package pathclass

import "strings"

// classifyFile returns the class of a file by its own name, and otherwise by its directories.
func (w *pathWalk) classifyFile(name string) Class {
	if c := nameClass(name); c != "" {
		return c
	}
	if db := companionOf(name); db != "" && nameClass(db) == Database {
		return Database
	}
	ext := suffix(name)
	switch {
	case w.tests || isTestFile(name):
		return Test
	case w.docs || proseSuffixes()[ext] || isDocsPage(name):
		return Docs
	case w.isSettings(name, ext):
		return Settings
	case binarySuffixes()[ext]:
		return Asset
	}
	return Source
}

// nameClass returns the class that a name has in every directory, or "".
func nameClass(name string) Class {
	if c, ok := fileNames()[name]; ok {
		return c
	}
	ext := suffix(name)
	switch {
	case isEnvFile(name):
		return Env
	case isScratchFile(name):
		return Cache
	case strings.HasSuffix(name, ".log"), strings.Contains(name, ".log.") && !sourceSuffixes()[ext], isHistoryFile(name):
		return Log
	case strings.HasSuffix(name, ".min.js"), strings.HasSuffix(name, ".min.css"):
		return Build
	case strings.HasPrefix(name, "requirements") && (ext == ".txt" || ext == ".in"):
		return Manifest
	case isDocsConfig(name):
		return Docs
	}
	return fileSuffixes()[ext]
}

func isEnvFile(name string) bool {
	if strings.HasSuffix(name, ".ts") || strings.HasSuffix(name, ".js") {
		return false
	}
	return strings.HasPrefix(name, ".env.") || strings.HasSuffix(name, ".env")
}

// isScratchFile recognizes temporary files that programs write beside others.
func isScratchFile(name string) bool {
	switch {
	case strings.HasSuffix(name, "~"), strings.HasPrefix(name, ".#"), strings.HasPrefix(name, "._"):
		return true
	case strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") && len(name) > 2:
		return true
	case strings.HasPrefix(name, ".goutputstream-"), strings.HasPrefix(name, ".nfs0"), strings.HasPrefix(name, ".~lock."), strings.HasPrefix(name, ".fuse_hidden"):
		return true
	case strings.HasPrefix(name, "core.") && isDigits(name[len("core."):]):
		return true
	}
	// Swap files of vim: .name.swp, .name.swo and so on.
	return len(name) > 5 && name[0] == '.' && len(suffix(name)) == 4 && strings.HasPrefix(suffix(name), ".sw")
}

func isHistoryFile(name string) bool {
	return name[0] == '.' && (strings.HasSuffix(name, "_history") || name == ".lesshst" || name == ".viminfo" || name == ".wget-hsts") || name == "nohup.out"
}

// isTestFile recognizes tests by the naming conventions of common languages.
func isTestFile(name string) bool {
	stem := stem(name)
	for _, end := range []string{"_test", ".test", ".spec", "_spec", "-test", ".cy", ".e2e", ".stories"} {
		if strings.HasSuffix(stem, end) && stem != end {
			return true
		}
	}
	for _, end := range []string{"Test", "Tests", "Spec", "IT"} {
		if strings.HasSuffix(stem, end) && classTestSuffixes()[suffix(name)] {
			return true
		}
	}
	return strings.HasPrefix(name, "test_") && sourceSuffixes()[suffix(name)] || name == "conftest.py"
}

// isDocsConfig recognizes the configuration of documentation generators, and API descriptions.
func isDocsConfig(name string) bool {
	for _, begin := range []string{"mkdocs.", ".readthedocs.", "docusaurus.config.", "sidebars.", "typedoc.", ".markdownlint", ".vale.", "Doxyfile", "openapi.", "swagger.", "_config.y", "book.toml", "antora"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// isDocsPage recognizes documents without a suffix, or with one that says little.
func isDocsPage(name string) bool {
	return docsPageNames()[stem(name)] && !sourceSuffixes()[suffix(name)]
}

// isSettings recognizes configuration by name and location.
func (w *pathWalk) isSettings(name, ext string) bool {
	switch {
	case isConfigName(name, ext):
		return true
	case configSuffixes()[ext] && w.data && !w.config:
		return false
	case configSuffixes()[ext]:
		return true
	case ext == ".json" || ext == ".xml" || ext == ".json5" || ext == ".jsonc":
		return w.config || w.parent == ""
	}
	if sourceSuffixes()[ext] {
		return strings.HasPrefix(w.path, "etc/") || w.config && w.isConfigScript(ext)
	}
	return w.config
}

// isConfigScript reports whether a script in a directory of settings is itself a setting: in
// the top-level config directory, in a hidden directory, and in those of cron and shells.
func (w *pathWalk) isConfigScript(ext string) bool {
	switch {
	case w.parent[0] == '.', strings.HasPrefix(w.parent, "cron."), w.parent == "profile.d":
		return true
	}
	return strings.HasPrefix(w.path, "config/") && configScriptSuffixes()[ext]
}

// isConfigName reports whether the name itself says that it configures something.
func isConfigName(name, ext string) bool {
	if name[0] == '.' && !sourceSuffixes()[ext] {
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
	return (stem == "config" || stem == "settings") && !sourceSuffixes()[ext] || name == "settings.py"
}
