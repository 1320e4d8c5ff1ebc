package config

// Variable is an environment variable that Retake reads.
type Variable struct{ Name, Help string }

// Variables are all variables that users may set. A test compares them with what the code
// reads.
var Variables = []Variable{
	{"RETAKE_HOME", "Keep the store, the settings and the daemon's socket in this directory. Default: the XDG directories."},
	{"RETAKE_DEBUG", "Set to 1 to log requests to standard error, as with `--debug`. A daemon that is started so logs more, too."},
	{"RETAKE_SOLO", "Set to 1 to work without the daemon, as with `--solo`."},
	{"RETAKE_SERVER", "Use the server at this URL, as with `--server`."},
	{"RETAKE_KEY", "The API key for that server."},
	{"RETAKE_WORKSPACE", "The workspace on that server, as with `--workspace`."},
	{"CLAUDE_PROJECT_DIR", "Agents set it for hooks: the project that they were started in. They may work elsewhere in the middle of a turn."},
	{"GEMINI_PROJECT_DIR", "The same, set by Gemini CLI."},
	{"RETAKE_PAGER", "The program for output that is longer than the screen. Default: PAGER, or less. Empty or cat: none."},
	{"RETAKE_POSTGRES", "For `retake serve` and `retake admin`: the PostgreSQL connection string, as with `--postgres`."},
	{"RETAKE_S3", "For `retake serve` and `retake admin`: the bucket's URL, as with `--s3`."},
	{"RETAKE_S3_ACCESS_KEY", "The bucket's access key. Default: AWS_ACCESS_KEY_ID."},
	{"RETAKE_S3_SECRET_KEY", "The bucket's secret key. Default: AWS_SECRET_ACCESS_KEY."},
	{"RETAKE_KEK", "For `retake serve` and `retake admin`: the key-encryption key. Default: a file in the data directory."},
	{"RETAKE_KEK_OLD", "The previous key-encryption key, or the URL of its key server, until `retake admin rewrap` has replaced it."},
	{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "For `retake serve`: send traces to this URL. Default: OTEL_EXPORTER_OTLP_ENDPOINT with /v1/traces."},
	{"OTEL_EXPORTER_OTLP_ENDPOINT", "The base URL for traces."},
	{"AWS_ACCESS_KEY_ID", "Used if RETAKE_S3_ACCESS_KEY is not set."},
	{"AWS_SECRET_ACCESS_KEY", "Used if RETAKE_S3_SECRET_KEY is not set."},
	{"PAGER", "Used if RETAKE_PAGER is not set."},
	{"NO_COLOR", "If set, never use colors, as with `--no-color`."},
	{"COLUMNS", "The width of the output if it is not a terminal. Default: 80."},
	{"TERM", "If dumb, use ASCII characters only and no colors."},
	{"XDG_CONFIG_HOME", "The settings are in its file retake/config.json. Default: ~/.config."},
	{"XDG_DATA_HOME", "The store is in its directory retake. Default: ~/.local/share."},
	{"XDG_STATE_HOME", "With a system daemon: hooks write their log to its directory retake. Default: ~/.local/state."},
	{"SUDO_UID", "With a system daemon: root works on the history of this user. sudo sets it."},
	{"XDG_RUNTIME_DIR", "Where the daemon's socket is."},
	{"LC_ALL", "If it is C or POSIX, use ASCII characters only."},
	{"LC_CTYPE", "Used if LC_ALL is not set."},
	{"LANG", "Used if LC_ALL and LC_CTYPE are not set."},
}
