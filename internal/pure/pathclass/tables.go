package pathclass

import "strings"

// fileNames are names of files that mean one thing in every directory.
var fileNames = indexNames(map[Class]string{
	Lock: `package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
		poetry.lock Pipfile.lock uv.lock pdm.lock pylock.toml conda-lock.yml pixi.lock requirements.lock
		go.sum go.work.sum Cargo.lock Gemfile.lock gems.locked composer.lock symfony.lock
		gradle.lockfile buildscript-gradle.lockfile packages.lock.json paket.lock project.assets.json mix.lock rebar.lock
		Podfile.lock Package.resolved Cartfile.resolved pubspec.lock stack.yaml.lock cabal.project.freeze
		flake.lock devbox.lock .terraform.lock.hcl Chart.lock shard.lock renv.lock MODULE.bazel.lock buf.lock conan.lock spago.lock`,
	Manifest: `package.json pnpm-workspace.yaml bower.json deno.json deno.jsonc jsr.json lerna.json
		pyproject.toml setup.py setup.cfg Pipfile environment.yml environment.yaml constraints.txt pixi.toml
		go.mod go.work Cargo.toml Gemfile gems.rb composer.json pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts libs.versions.toml build.sbt build.sc ivy.xml deps.edn project.clj
		packages.config Directory.Packages.props paket.dependencies mix.exs rebar.config gleam.toml
		Podfile Package.swift Cartfile pubspec.yaml stack.yaml cabal.project elm.json Chart.yaml shard.yml DESCRIPTION Project.toml conanfile.txt conanfile.py vcpkg.json flake.nix Brewfile`,
	Env: ".env .envrc .flaskenv .dev.vars .env-cmdrc",
	Settings: `Dockerfile Containerfile Procfile Caddyfile Vagrantfile Jenkinsfile crontab Corefile Tiltfile Earthfile
		.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc .zprofile .zshenv .zlogin .profile .inputrc .vimrc .gitconfig .npmrc .yarnrc .nvmrc .netrc
		firebase.json vercel.json netlify.toml fly.toml app.yaml serverless.yml wrangler.toml renovate.json nx.json turbo.json angular.json components.json tsconfig.json biome.json
		hosts fstab sudoers authorized_keys sshd_config ssh_config known_hosts environment`,
	Git:        ".git",
	Dependency: ".pnp.cjs .pnp.js .pnp.loader.mjs pyvenv.cfg .package-lock.json .yarn-integrity .modules.yaml",
	Build:      "coverage.out lcov.info coverage.xml .coverage next-env.d.ts a.out .buildinfo",
	Cache: `.DS_Store Thumbs.db desktop.ini .directory .eslintcache .stylelintcache .prettiercache .php-cs-fixer.cache .phpunit.result.cache 4913 core
		install-state.gz .flutter-plugins .flutter-plugins-dependencies postmaster.pid postmaster.opts .rspec_status .last-run.json`,
	Database: "dump.rdb appendonly.aof",
	Source:   "CMakeLists.txt robots.txt humans.txt security.txt ads.txt meson.build BUILD.bazel WORKSPACE BUILD Makefile GNUmakefile Rakefile Justfile justfile Taskfile.yml Taskfile.yaml SConstruct",
})

// fileSuffixes mean one thing in every directory.
var fileSuffixes = indexNames(map[Class]string{
	Database: ".db .sqlite .sqlite3 .db3 .s3db .sl3 .mdb .ldb .duckdb .realm .frm .ibd .myd .myi .accdb .lmdb .bolt",
	Cache:    ".pid .sock .tmp .temp .swp .swo .swx .pyc .pyo .part .crdownload .stackdump .bbcache",
	Build:    ".tsbuildinfo .o .obj .a .lo .la .so .dylib .dll .exe .pdb .ilk .class .beam .hi .elc .gcda .gcno .gcov .profraw .profdata .wasm .map .whl .egg .rlib .rmeta .nupkg .apk .aab .ipa .cmi .cmo .cmx .cmxa",
	Manifest: ".csproj .fsproj .vbproj .gemspec .cabal .podspec .nuspec .rockspec .opam",
	Lock:     ".lock",
	Settings: ".service .timer .socket .mount .automount .tfvars .crt .pem .key .cer .p12 .pfx .jks .keystore .mobileconfig .entitlements .plist .editorconfig .htaccess .htpasswd .iml .code-workspace .xcconfig .pbxproj .xcscheme .sln .desktop .cron",
})

// sourceSuffixes are the suffixes of files that people write.
var sourceSuffixes = indexSet(`.go .rs .c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .swift .kt .kts .java .scala .sc .groovy .clj .cljs .cljc .edn .cs .fs .fsx .vb .razor .cshtml
	.py .pyi .pyx .ipynb .rb .erb .rake .php .phtml .pl .pm .lua .tcl .r .jl .dart .ex .exs .eex .heex .leex .erl .hrl .hs .lhs .ml .mli .elm .nim .zig .v .vhd .sv .d .pas .f90 .f .cob .asm .s .cr .gleam .odin .purs .rkt .scm .lisp .el .vim .fish
	.js .mjs .cjs .jsx .ts .mts .cts .tsx .vue .svelte .astro .html .htm .css .scss .sass .less .styl .pug .hbs .ejs .liquid .mustache .twig .njk .jinja .jinja2 .j2 .haml .slim
	.sql .prisma .graphql .gql .proto .thrift .avsc .sh .bash .zsh .ps1 .bat .cmd .tf .hcl .nix .sol .move .cairo .wgsl .glsl .vert .frag .metal .cu .cuh .po .pot .strings .xliff .xlf .arb .ftl .svg .feature .cmake .mk .bzl .star .dhall .cue .rego .xaml .storyboard .xib .qml .gd .tscn .shader`)

// configScriptSuffixes are the suffixes of scripts that are also used as configuration.
var configScriptSuffixes = indexSet(".php .js .mjs .cjs .ts .rb .py .exs .sh")

// configSuffixes are the suffixes of files that are mostly configuration.
var configSuffixes = indexSet(".toml .ini .cfg .conf .config .properties .yaml .yml .props .targets .cnf .rules .reg .prefs")

var proseSuffixes = indexSet(".md .mdx .markdown .rst .adoc .asciidoc .txt .org .tex .bib .rtf .pod .mdc .textile .man .qmd .rmd")

var classTestSuffixes = indexSet(".java .kt .scala .groovy .cs .swift .fs .php")

var docsPageNames = indexSet("README Readme readme CHANGELOG Changelog CHANGES HISTORY LICENSE LICENCE License COPYING AUTHORS CONTRIBUTORS CONTRIBUTING MAINTAINERS NOTICE SECURITY CODE_OF_CONDUCT TODO INSTALL NEWS THANKS VERSIONING CODEOWNERS CITATION PATENTS")

// binarySuffixes are the suffixes of files that are not text.
var binarySuffixes = indexSet(`.png .jpg .jpeg .gif .webp .avif .ico .icns .bmp .tif .tiff .heic .psd .ai .sketch .fig .xcf .blend .fbx .glb .gltf .stl .3ds .dae .ktx .dds .exr .hdr
	.woff .woff2 .ttf .otf .eot .mp3 .wav .ogg .flac .m4a .aac .opus .mp4 .mov .avi .mkv .webm .m4v
	.pdf .doc .docx .xls .xlsx .ppt .pptx .odt .ods .odp .epub .zip .tar .gz .tgz .bz2 .xz .zst .7z .rar .jar .war .ear .iso .img .dmg .deb .rpm .bin .dat .pickle .pkl .npy .npz .parquet .arrow .feather .h5 .hdf5 .onnx .pt .pth .safetensors .gguf .ckpt .tflite .pb .mo .gpg .kdbx .age .sig`)

// IsBinary reports whether a path is, by its name, not text.
func IsBinary(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return binarySuffixes()[suffix(name)]
}

var sqliteSuffixes = indexSet(".db .sqlite .sqlite3 .db3 .s3db .sl3")

// IsSQLite reports whether a path is, by its name, a database whose tables can be read.
func IsSQLite(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return sqliteSuffixes()[suffix(name)]
}

func indexSet(list string) func() map[string]bool {
	return indexNames(map[bool]string{true: list})
}
